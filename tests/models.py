"""Tiny nets with awkward habits."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch import nn

T = torch.Tensor


class Chain(nn.Module):
    """Linear → in-place ReLU → Linear with round numbers: 1 → [1, −1] → [1, 0] → 3."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.relu, self.last = nn.Linear(1, 2, bias=False), nn.ReLU(inplace=True), nn.Linear(2, 1)
        with torch.no_grad():
            self.first.weight.copy_(torch.tensor([[1.0], [-1.0]]))
            self.last.weight.copy_(torch.tensor([[2.0, 5.0]]))
            self.last.bias.fill_(1.0)

    def forward(self, x: T) -> T:
        return self.last(self.relu(self.first(x)))


class Shared(nn.Module):
    """One ReLU under two names, called three times; a list of which one is never called."""

    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.again = self.relu
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])

    def forward(self, x: T) -> T:
        return self.again(self.layers[0](self.relu(x))) + self.relu(x)


class Cycle(nn.Module):
    """Contains itself."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.me = self

    def forward(self, x: T) -> T:
        return self.layer(x)


class Tied(nn.Module):
    """The embedding's weight is also that of the head."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: T) -> T:
        return self.head(self.embedding(ids))


class Fails(nn.Module):
    """Raises in a layer of its own, after another one has run."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.block = nn.Linear(2, 2), nn.Sequential(nn.Linear(3, 3))

    def forward(self, x: T) -> T:
        return self.block(self.first(x))


class Norm(nn.Module):
    """Batch norm and dropout: state that a run in train mode changes."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.drop = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dropout(0.5)

    def forward(self, x: T) -> T:
        return self.drop(self.norm(self.conv(x)))


@dataclasses.dataclass
class Answer:
    """An output as a dataclass."""

    scores: T
    extra: dict[str, Any]


class Nested(nn.Module):
    """Keyword input, nested output, and integers among them."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x: T, *, mask: T) -> Answer:
        y = self.inner(x) * mask
        return Answer(y, {"pair": (y.sum(), y.argmax()), "none": None})


class Appends(nn.Module):
    """Is given a list and appends to it, as DenseNet's blocks nearly do."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = Appender()

    def forward(self, x: T) -> T:
        parts = [x * 1, x * 2]
        self.layer(parts)
        return torch.cat(parts, 1)


class Appender(nn.Module):
    """Appends the sum of a list to the list."""

    def forward(self, parts: list[T]) -> None:
        parts.append(parts[0] + parts[1])
