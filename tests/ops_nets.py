"""Small nets whose work is done by functions rather than by modules."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

T = torch.Tensor


class Steps(nn.Module):
    """Twice the input, then in-place steps: the first row set to 5, + 1, ReLU."""

    def forward(self, x: T) -> Any:
        h = x * 2
        h[0] = 5.0
        h += 1
        return functional.relu(h, inplace=True)


class Inner(nn.Module):
    """A linear layer, a ReLU and a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: T) -> Any:
        return functional.relu(self.linear(x)) + x


class Twice(nn.Module):
    """One inner module under two names, called twice, and a function of its own between the calls."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()
        self.again = self.inner

    def forward(self, x: T) -> Any:
        return self.again(self.inner(x).tanh()).tanh()


class Parts(nn.Module):
    """Takes a tensor apart and puts it together the other way round."""

    def forward(self, x: T) -> Any:
        first, second = x.chunk(2, dim=1)
        rows = second.unbind(0)
        return torch.cat([torch.stack(rows) * 3, first], dim=1)


class Attention(nn.Module):
    """Embedding, attention, and the embedding's weight once more as the head."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(5, 4)
        self.spare = nn.Linear(4, 4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, tokens: T) -> Any:
        h = self.embed(tokens)
        h = functional.linear(h, self.spare.weight) + self.attention(h, h, h)[0]
        return functional.linear(h, self.embed.weight)


class Unheld(nn.Module):
    """Layers in plain lists, mappings and objects, and one that is built in `forward`."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = [nn.Sequential(nn.Linear(3, 3), nn.Tanh())]
        self.heads = {"a": nn.Linear(3, 2)}
        self.box = type("Box", (), {})()
        self.box.layer = nn.Linear(3, 3)

    def forward(self, x: T) -> Any:
        h = nn.Softplus()(nn.Softplus()(self.box.layer(self.blocks[0](x))))
        return self.heads["a"](h)


class Checkpointed(nn.Module):
    """A checkpointed block; `function` checkpoints a function of this module in its place."""

    def __init__(self, *, reentrant: bool, function: bool = False) -> None:
        super().__init__()
        self.inner, self.reentrant, self.function = Inner(), reentrant, function

    def step(self, x: T) -> T:
        return functional.relu(self.inner(x))

    def forward(self, x: T) -> Any:
        run: Any = self.step if self.function else self.inner
        return checkpoint(run, x * 1, use_reentrant=self.reentrant) * 2
