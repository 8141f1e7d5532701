"""Examples of hooks on tensors, as models: every named tensor passes an `nn.Identity` of its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn


class Leaf(nn.Module):
    """A module that returns its own tensor `value`, so that a hook can be put on it."""

    def __init__(self, value: list[float]) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.tensor(value))

    def forward(self) -> torch.Tensor:
        return self.value.view_as(self.value)


class PlusOne(nn.Module):
    """y = x + 1, out = mean(y · y)."""

    example = "values:[[1., 2.], [3., 4.]]"
    shape = (2, 2)

    def __init__(self) -> None:
        super().__init__()
        self.x, self.y, self.out = nn.Identity(), nn.Identity(), nn.Identity()

    def forward(self, x: torch.Tensor) -> Any:
        y = self.y(self.x(x) + 1)
        return self.out(torch.mean(y * y))


class Wxaby(nn.Module):
    """a = w + x, b = w + 1, y = a · b, with w = 1 a parameter and x the input."""

    example = "values:[2.]"
    shape = (1,)

    def __init__(self) -> None:
        super().__init__()
        self.w = Leaf([1.0])
        self.x, self.a, self.b, self.y = nn.Identity(), nn.Identity(), nn.Identity(), nn.Identity()

    def forward(self, x: torch.Tensor) -> Any:
        w = self.w()
        a, b = self.a(torch.add(w, self.x(x))), self.b(torch.add(w, 1))
        return self.y(torch.mul(a, b))


class SharedGradient(nn.Module):
    """a = 3 w, b = 5 x, y = a + b: the sum hands one gradient tensor to both a and b."""

    example = "values:[2.]"
    shape = (1,)

    def __init__(self) -> None:
        super().__init__()
        self.w = Leaf([1.0])
        self.x, self.a, self.b, self.y = nn.Identity(), nn.Identity(), nn.Identity(), nn.Identity()

    def forward(self, x: torch.Tensor) -> Any:
        a, b = self.a(self.w() * 3), self.b(self.x(x) * 5)
        return self.y(a + b)


class MeanOfSquares(nn.Module):
    """y = x², z = mean(y)."""

    example = "values:[2., 2., 2., 2.]"
    shape = (4,)

    def __init__(self) -> None:
        super().__init__()
        self.x, self.y, self.z = nn.Identity(), nn.Identity(), nn.Identity()

    def forward(self, x: torch.Tensor) -> Any:
        return self.z(torch.mean(self.y(torch.pow(self.x(x), 2))))


EXAMPLES: Mapping[str, type[PlusOne | Wxaby | SharedGradient | MeanOfSquares]] = {
    "plus_one": PlusOne,
    "wxaby": Wxaby,
    "shared_gradient": SharedGradient,
    "mean_of_squares": MeanOfSquares,
}
