"""One axis of a map: from where to where each cell sees the picture. Pure arithmetic on whole numbers.

Every operation keeps two answers: the exact span of each cell, cut off at the borders of every tensor on the
way, and (where all cells have the same one) size, stride and start of the field on an endless picture. The
second follows Araujo, Norris and Sim, "Computing receptive fields of convolutional neural networks",
Distill 2019.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]

NOTHING = 1 << 40
"""The first place of a cell that sees nothing; its last place is the negative of it."""


class Scale(NamedTuple):
    """The field of cell `i` on an endless picture: `size` places from `start + i × stride` on."""

    size: int
    stride: int
    start: int


@dataclasses.dataclass(frozen=True, eq=False)
class Axis:
    """`first` and `last` place (inclusive) of the picture that each cell sees, and the scale, if any."""

    first: Places
    last: Places
    scale: Scale | None = None

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.first)

    @property
    def middles(self) -> npt.NDArray[np.float64]:
        """`middle` of every cell."""
        if self.scale is None:
            return (self.first.astype(np.float64) + self.last) / 2
        steps = np.arange(self.cells, dtype=np.float64) * self.scale.stride
        return steps + (self.scale.start + (self.scale.size - 1) / 2)

    def middle(self, cell: int) -> float:
        """Return the place in the middle of what a cell sees; on an endless picture where that is known."""
        if self.scale is not None:
            return self.scale.start + cell * self.scale.stride + (self.scale.size - 1) / 2
        return (float(self.first[cell]) + float(self.last[cell])) / 2


def picture_axis(length: int) -> Axis:
    """Return the axis of the picture itself: every cell sees its own place."""
    places = np.arange(length, dtype=np.int64)
    return Axis(places, places, Scale(1, 1, 0))


def windows(axis: Axis, count: int, kernel: int, stride: int, padding: int, dilation: int) -> Axis:
    """Return the axis of `count` cells that each see `kernel` cells of `axis`, as a convolution does."""
    taps = np.arange(count)[:, None] * stride - padding + np.arange(kernel) * dilation
    scale = axis.scale and Scale(
        axis.scale.size + (kernel - 1) * dilation * axis.scale.stride,
        axis.scale.stride * stride,
        axis.scale.start - padding * axis.scale.stride,
    )
    return dataclasses.replace(_seen(axis, taps), scale=scale)


def transposed(axis: Axis, count: int, kernel: int, stride: int, padding: int, dilation: int) -> Axis:
    """Return the axis behind a transposed convolution: cell `i` is written to from `(i + p − t·d) / s`."""
    reach = np.arange(count)[:, None] + padding - np.arange(kernel) * dilation
    taps = np.where(reach % stride == 0, reach // stride, -1)
    return _seen(axis, taps)


def adaptive(axis: Axis, count: int) -> Axis:
    """Return the axis behind an adaptive pooling to `count` cells."""
    starts = np.arange(count) * axis.cells // count
    ends = -(-(np.arange(1, count + 1) * axis.cells) // count)
    taps = starts[:, None] + np.arange(int((ends - starts).max()))
    return _seen(axis, np.where(taps < ends[:, None], taps, -1))


def nearest(axis: Axis, count: int, ratio: float) -> Axis:
    """Return the axis enlarged to `count` cells; a cell takes the one at `floor(i × ratio)`."""
    return picked(axis, np.minimum(np.floor(np.arange(count) * np.float32(ratio)), axis.cells - 1))


def linear(axis: Axis, count: int, ratio: float, *, align_corners: bool) -> Axis:
    """Return the axis enlarged to `count` cells between its own ones."""
    place = np.arange(count) * ratio if align_corners else (np.arange(count) + 0.5) * ratio - 0.5
    place = np.clip(place, 0, axis.cells - 1)
    low = np.floor(place + 1e-9)
    high = np.where(place - low > 1e-6, np.minimum(low + 1, axis.cells - 1), low)
    return _seen(axis, np.stack([low, high], axis=1))


def picked(axis: Axis, cells: npt.ArrayLike) -> Axis:
    """Return the axis of these cells, −1 for one that sees nothing."""
    taps = np.asarray(cells, np.int64)[:, None]
    return _seen(axis, taps)


def padded(axis: Axis, before: int, after: int) -> Axis:
    """Return the axis with cells that see nothing at its ends; negative numbers cut."""
    cells = np.arange(-before, axis.cells + after)
    made = picked(axis, np.where((cells >= 0) & (cells < axis.cells), cells, -1))
    scale = axis.scale and axis.scale._replace(start=axis.scale.start - before * axis.scale.stride)
    return dataclasses.replace(made, scale=scale)


def whole(axis: Axis) -> Axis:
    """Return one cell that sees what all of them see together."""
    return Axis(axis.first.min(keepdims=True), axis.last.max(keepdims=True))


def joined(axes: Sequence[Axis]) -> Axis:
    """Return cells that see what the same cell of each axis sees; all have the same length."""
    if len(axes) == 1:
        return axes[0]
    first = np.minimum.reduce([axis.first for axis in axes])
    last = np.maximum.reduce([axis.last for axis in axes])
    return Axis(first, last, _hull([axis.scale for axis in axes]))


def behind(axes: Sequence[Axis]) -> Axis:
    """Return the cells of all axes one after another."""
    return Axis(np.concatenate([axis.first for axis in axes]), np.concatenate([axis.last for axis in axes]))


def _hull(scales: Sequence[Scale | None]) -> Scale | None:
    known = [scale for scale in scales if scale is not None]
    if len(known) < len(scales) or len({scale.stride for scale in known}) != 1:
        return None
    start = min(scale.start for scale in known)
    return Scale(max(scale.start + scale.size for scale in known) - start, known[0].stride, start)


def _seen(axis: Axis, taps: Places) -> Axis:
    """Return cells that see the cells `taps` [cells, taps] of an axis; those outside of it see nothing."""
    taps = np.asarray(taps, np.int64)
    inside = (taps >= 0) & (taps < axis.cells)
    safe = np.where(inside, taps, 0)
    first = np.where(inside, axis.first[safe], NOTHING).min(axis=1)
    last = np.where(inside, axis.last[safe], -NOTHING).max(axis=1)
    return Axis(first, last)
