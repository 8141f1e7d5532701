"""Nets with awkward habits, each with a twin without in-place operations, written by hand.

A twin returns the output and, for every key, the node of its own graph that stands for that tensor; values
and gradients of these nodes are what a recording must show.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional
from truth_nets import Nodes, T, lin
from truth_reused_nets import Checkpointed, CheckpointedTwice, Recursive, Reused


class Triple(nn.Module):
    def forward(self, x: T) -> T:
        return x.mul_(3.0)


class InPlaceChain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.triple, self.relu, self.b = lin(), Triple(), nn.ReLU(inplace=True), lin()

    def forward(self, x: T) -> T:
        out = self.b(self.relu(self.triple(self.a(x))))
        out += x
        return out

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        t = a * 3
        r = functional.relu(t)
        b = self.b(r)
        return b + x, {("a", 0, ""): a, ("triple", 0, ""): t, ("relu", 0, ""): r, ("b", 0, ""): b}


class ViewOverwritten(nn.Module):
    """A flattened view is changed in place, while the base is used before and after."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.flat, self.relu, self.b = lin(), nn.Flatten(0), nn.ReLU(inplace=True), lin()

    def forward(self, x: T) -> T:
        h = self.a(x)
        skip = h * 3
        self.relu(self.flat(h))
        return self.b(h) + skip

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        f = a.clone().flatten()
        r = functional.relu(f)
        b = self.b(r.reshape(a.shape))
        return b + a * 3, {("a", 0, ""): a, ("flat", 0, ""): f, ("relu", 0, ""): r, ("b", 0, ""): b}


class Transposed(nn.Module):
    def forward(self, x: T) -> T:
        return x.transpose(0, 1)


class TransposedViewOverwritten(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.turn, self.relu, self.b = (
            lin(),
            Transposed(),
            nn.LeakyReLU(0.3, inplace=True),
            nn.Linear(2, 4),
        )

    def forward(self, x: T) -> T:
        h = self.a(x)
        return self.b(self.relu(self.turn(h))).sum(0) + h

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        t = a.clone().t()
        r = functional.leaky_relu(t, 0.3)
        b = self.b(r)
        return b.sum(0) + r.t(), {("a", 0, ""): a, ("turn", 0, ""): t, ("relu", 0, ""): r, ("b", 0, ""): b}


class SlicedByTheCaller(nn.Module):
    """A module changes the view that it was given; the model goes on with the base."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.relu, self.b = lin(), nn.ReLU(inplace=True), lin()

    def forward(self, x: T) -> T:
        h = self.a(x)
        self.relu(h[:, :2])
        return self.b(h) * h

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        half = functional.relu(a[:, :2])
        h = torch.cat([half, a[:, 2:]], 1)
        b = self.b(h)
        return b * h, {("a", 0, ""): a, ("relu", 0, ""): half, ("b", 0, ""): b}


class UsedThenOverwritten(nn.Module):
    """A view is used, and only then changed in place: both uses count."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.turn, self.b = lin(), Transposed(), nn.Linear(2, 4)

    def forward(self, x: T) -> T:
        h = self.a(x)
        v = self.turn(h)
        early = v * 5
        v.mul_(-2.0)
        return self.b(v).sum(0) + h + early.t()

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        v = a.clone().t()
        new = v * -2
        b = self.b(new)
        return b.sum(0) + new.t() + (v * 5).t(), {("a", 0, ""): a, ("turn", 0, ""): v, ("b", 0, ""): b}


class FirstHalf(nn.Module):
    """Changes a view of its input in place and returns that view."""

    def forward(self, x: T) -> T:
        return x[:, :2].mul_(3.0)


class ModuleChangesAView(nn.Module):
    """The model goes on with the base, whose memory the returned view object shares."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.front, self.b = lin(), FirstHalf(), lin()

    def forward(self, x: T) -> T:
        h = self.a(x)
        self.front(h)
        return self.b(h) * h

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        half = a[:, :2] * 3
        h = torch.cat([half, a[:, 2:]], 1)
        b = self.b(h)
        return b * h, {("a", 0, ""): a, ("front", 0, ""): half, ("b", 0, ""): b}


class Eater(nn.Module):
    """Doubles its input in place before it uses it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = lin()

    def forward(self, x: T) -> T:
        x.mul_(2.0)
        return self.inner(x)


class EatsItsInput(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.eat = lin(), Eater()

    def forward(self, x: T) -> T:
        h = self.a(x)
        return self.eat(h) + h

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        h = a * 2
        e = self.eat.inner(h)
        return e + h, {("a", 0, ""): a, ("eat", 0, ""): e, ("eat.inner", 0, ""): e}


class IgnoredReturn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.relu, self.b = lin(), nn.ReLU(inplace=True), lin()

    def forward(self, x: T) -> T:
        h = self.a(x)
        self.relu(h)
        return self.b(h)

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        r = functional.relu(a)
        b = self.b(r)
        return b, {("a", 0, ""): a, ("relu", 0, ""): r, ("b", 0, ""): b}


class EatsTheUsersInput(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.relu, self.a = nn.ReLU(inplace=True), lin()

    def forward(self, x: T) -> T:
        return self.a(self.relu(x))

    def twin(self, x: T) -> tuple[T, Nodes]:
        r = functional.relu(x)
        a = self.a(r)
        return a, {("relu", 0, ""): r, ("a", 0, ""): a}


class Residual(nn.Module):
    """A block's output is changed by `+=`; a pass-through module stands in between."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.drop, self.b = lin(), nn.Sequential(nn.Dropout(0.5)), lin()

    def forward(self, x: T) -> T:
        out = self.drop(self.a(x))
        out += x
        return self.b(out)

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        b = self.b(a + x)
        return b, {("a", 0, ""): a, ("drop", 0, ""): a, ("drop.0", 0, ""): a, ("b", 0, ""): b}


class SliceAssigned(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = lin(), nn.Linear(4, 2), lin()

    def forward(self, x: T) -> T:
        h = self.a(x)
        h[:, 1:3] = self.b(x)
        h[:, 0] += 1
        return self.c(h)

    def twin(self, x: T) -> tuple[T, Nodes]:
        a, b = self.a(x), self.b(x)
        c = self.c(torch.cat([a[:, :1] + 1, b, a[:, 3:]], 1))
        return c, {("a", 0, ""): a, ("b", 0, ""): b, ("c", 0, ""): c}


class Pieces(nn.Module):
    """Returns a tuple of views, one of which the model never uses, and one that it uses twice."""

    def forward(self, x: T) -> tuple[T, ...]:
        return x.unbind(1)


class UnusedPiece(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.pieces = lin(), Pieces()

    def forward(self, x: T) -> T:
        first, second, third, _ = self.pieces(self.a(x))
        return (first * second.exp() + third + first)[:, None]

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        p = [a[:, i].clone() for i in range(4)]
        nodes = {("pieces", 0, f"[{i}]"): part for i, part in enumerate(p)}
        return (p[0] * p[1].exp() + p[2] + p[0])[:, None], nodes | {("a", 0, ""): a}


class Twice(nn.Module):
    def forward(self, x: T) -> tuple[T, T]:
        y = x.sin()
        return y, y


class SameTensorTwice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.twice = lin(), Twice()

    def forward(self, x: T) -> T:
        p, q = self.twice(self.a(x))
        return p * 2 + q * q

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        y = a.sin()
        return y * 2 + y * y, {("a", 0, ""): a, ("twice", 0, "[0]"): y, ("twice", 0, "[1]"): y}


class WrittenThroughData(nn.Module):
    """Overwrites a tensor behind autograd's back: no version counter moves."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = lin(), lin()

    def forward(self, x: T) -> T:
        h = self.a(x)
        h.data.mul_(100.0)
        return self.b(h)

    def twin(self, x: T) -> tuple[T, Nodes]:
        a = self.a(x)
        b = self.b(a + a.detach() * 99.0)
        return b, {("a", 0, ""): a, ("b", 0, ""): b}


NETS: dict[str, Callable[[], nn.Module]] = {
    cls.__name__: cls
    for cls in (
        *(InPlaceChain, ViewOverwritten, TransposedViewOverwritten, ModuleChangesAView, EatsItsInput),
        *(SlicedByTheCaller, UsedThenOverwritten),
        *(IgnoredReturn, EatsTheUsersInput, Reused, Recursive, Residual, SliceAssigned, UnusedPiece),
        *(SameTensorTwice, WrittenThroughData),
    )
} | {
    "CheckpointedReentrant": lambda: Checkpointed(True),
    "CheckpointedOtherwise": lambda: Checkpointed(False),
    "CheckpointedTwiceReentrant": lambda: CheckpointedTwice(True),
    "CheckpointedTwiceOtherwise": lambda: CheckpointedTwice(False),
}
