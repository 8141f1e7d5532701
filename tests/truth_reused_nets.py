"""Nets that call one module several times, each with a twin written by hand (see `truth_awkward_nets`)."""

from __future__ import annotations

from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from truth_nets import Nodes, T, lin


class Reused(nn.Module):
    """One cell called three times, one ReLU under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.relu = lin(), nn.ReLU(inplace=True)
        self.again = self.relu

    def forward(self, x: T) -> T:
        for _ in range(3):
            x = self.again(self.cell(x)) + self.relu(x.clone())
        return x

    def twin(self, x: T) -> tuple[T, Nodes]:
        nodes: Nodes = {}
        for i in range(3):
            c = nodes["cell", i, ""] = self.cell(x)
            r = nodes["relu", 2 * i, ""] = functional.relu(c)
            s = nodes["relu", 2 * i + 1, ""] = functional.relu(x)
            x = r + s
        return x, nodes


class Recursive(nn.Module):
    """Calls itself: calls are numbered by their start."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = lin()

    def forward(self, x: T, depth: int = 2) -> T:
        h = self.inner(x)
        return self(h, depth - 1) * 2 if depth else h.tanh()

    def twin(self, x: T) -> tuple[T, Nodes]:
        h0 = self.inner(x)
        h1 = self.inner(h0)
        h2 = self.inner(h1)
        o2 = h2.tanh()
        o1 = o2 * 2
        o0 = o1 * 2
        inner = {("inner", i, ""): h for i, h in enumerate((h0, h1, h2))}
        return o0, inner | {("", i, ""): o for i, o in enumerate((o0, o1, o2))}


class Checkpointed(nn.Module):
    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.reentrant = reentrant
        self.a, self.block, self.b = lin(), nn.Sequential(lin(), nn.ReLU(inplace=True), lin()), lin()

    def forward(self, x: T) -> T:
        h = self.a(x)
        return self.b(checkpoint(self.block, h, use_reentrant=self.reentrant)) + h

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        p = self.block[0](a)
        r = functional.relu(p)
        q = self.block[2](r)
        b = self.b(q)
        inner = {("block.0", 0, ""): p, ("block.1", 0, ""): r, ("block.2", 0, ""): q, ("block", 0, ""): q}
        return b + a, {("a", 0, ""): a, ("b", 0, ""): b} | inner


class CheckpointedTwice(nn.Module):
    """One block runs in two checkpoints: each second run belongs to its own first one."""

    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.reentrant, self.a, self.block = reentrant, lin(), nn.Sequential(lin(), nn.ReLU(inplace=True))

    def forward(self, x: T) -> T:
        h = checkpoint(self.block, self.a(x), use_reentrant=self.reentrant)
        return checkpoint(self.block, h * 2, use_reentrant=self.reentrant)

    def twin(self, x: T) -> tuple[T, Nodes]:
        nodes: Nodes = {}
        h = nodes["a", 0, ""] = self.a(x)
        for call in range(2):
            p = nodes["block.0", call, ""] = self.block[0](h * (call + 1))
            h = nodes["block.1", call, ""] = nodes["block", call, ""] = functional.relu(p)
        return h, nodes
