"""Attention inside shifted windows: where in the picture each token of a window lies."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch import nn


@dataclasses.dataclass(frozen=True, eq=False)
class Windows:
    """The tokens of every window: `places` [windows, tokens] is where in rows × columns, −1 for padding.

    Several windows of one sample stand one after another.
    """

    rows: int
    columns: int
    places: torch.Tensor

    def put_back(self, weights: torch.Tensor) -> torch.Tensor:
        """Return [N, heads, H·W, H·W] of weights in windows [N, windows, heads, tokens, tokens].

        A query does not look at all outside of its window. What it gives to padding is left out, so that a
        row beside padding adds up to less than 1.
        """
        samples, windows, heads = weights.shape[:3]
        count = self.rows * self.columns
        whole = weights.new_zeros(samples, heads, count, count)
        for window in range(windows):
            inside = (self.places[window] >= 0).nonzero().flatten()
            at = self.places[window][inside]
            block = weights[:, window][:, :, inside][..., inside]
            whole[:, :, at[:, None], at[None, :]] = block
        return whole

    def row(self, weights: torch.Tensor, place: int) -> torch.Tensor:
        """Return what the token at `place` attends to, [heads, H·W]; `weights` are [windows, heads, t, t]."""
        window, token = (int(index) for index in (self.places == place).nonzero()[0])
        inside = (self.places[window] >= 0).nonzero().flatten()
        row = weights.new_zeros(weights.shape[1], self.rows * self.columns)
        row[:, self.places[window][inside]] = weights[window, :, token][:, inside]
        return row


def windows_of(
    module: nn.Module, block: nn.Module, given: tuple[int, ...], shape: tuple[int, ...]
) -> Windows | None:
    """Return the windows of a module that attends in windows [N·windows, heads, t, t]; None for any other.

    It, or the block around it, has a `window_size`, and the block a `shift_size`; `given` is what the block
    is given, [N, H, W, C]. The Swins of torchvision, timm and Hugging Face are like that.
    """
    size, shift = _pair(module, "window_size") or _pair(block, "window_size"), _pair(block, "shift_size")
    if size is None or shift is None or len(given) != 4 or len(shape) != 4 or min(size) < 1:
        return None
    rows, columns = given[1:3]
    places = _places(rows, columns, size, shift)
    fits = shape[0] == given[0] * len(places) and shape[2] == shape[3] == places.shape[1]
    return Windows(rows, columns, places) if fits else None


def given_to(args: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the sizes of what a module is given, [N, H, W, C] where it is [N, H·W, C] and (H, W)."""
    shape = tuple(args[0].shape) if args and isinstance(args[0], torch.Tensor) else ()
    places = _two(args[1]) if len(args) > 1 else None
    if len(shape) == 3 and places is not None and places[0] * places[1] == shape[1]:
        return (shape[0], *places, shape[2])
    return shape


def _places(rows: int, columns: int, size: tuple[int, int], shift: tuple[int, int]) -> torch.Tensor:
    high, wide = (-(-count // step) * step for count, step in zip((rows, columns), size, strict=True))
    grid = torch.full((high, wide), -1)
    grid[:rows, :columns] = torch.arange(rows * columns).reshape(rows, columns)
    # a window as large as the picture is not shifted
    moved = [0 if step >= count else by for count, step, by in zip((high, wide), size, shift, strict=True)]
    grid = grid.roll((-moved[0], -moved[1]), (0, 1))
    cut = grid.reshape(high // size[0], size[0], wide // size[1], size[1])
    return cut.transpose(1, 2).reshape(-1, size[0] * size[1])


def _pair(module: nn.Module, name: str) -> tuple[int, int] | None:
    value = getattr(module, name, None)
    one = _whole(value)
    return _two(value) if one is None else (one, one)


def _two(value: object) -> tuple[int, int] | None:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return None
    first, second = _whole(value[0]), _whole(value[1])
    return None if first is None or second is None else (first, second)


def _whole(value: object) -> int | None:
    """Return a whole number; Hugging Face's Swin keeps some of them in tensors."""
    if isinstance(value, torch.Tensor):
        return int(value) if value.dim() == 0 and not value.is_floating_point() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
