"""The scale of the wall: which values the first and the last colour stand for, and for which maps. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hookviewer import arrays
from hookviewer.gui.remembered import remembered
from hookviewer.gui.state import Shown

if TYPE_CHECKING:
    from hookviewer.gui.columns import Column, WallState

Levels = tuple[float, float]
Numbers = npt.NDArray[np.float64]

SHARES = ("inputs", "input", "channel")
"""What shares a scale: all inputs together, all channels of each input, or each channel has its own."""
LOG = "log"
"""The scale from zero to the greatest value (or ± the greatest size), spread by `render.bent`."""


@dataclasses.dataclass(frozen=True, eq=False)
class Scale:
    """The scale of one column: levels for all of it, `own` ones [C, 2] where each channel has its own."""

    levels: Levels
    own: Numbers | None = None
    curve: str = "linear"

    def of(self, channel: int) -> Levels:
        """Return the levels of one channel."""
        if self.own is None or channel >= len(self.own):
            return self.levels
        low, high = self.own[channel].tolist()
        return low, high


def scale_for(wall: WallState, column: Column) -> Scale:
    """Return the scale that a column of a wall is painted on."""
    curve = LOG if wall.curved else "linear"
    if column.number is None and wall.difference_levels is not None:
        return Scale(wall.difference_levels)
    if wall.share == "inputs" or wall.scale == "set by hand" or column.maps is None:
        return Scale(wall.levels, None, curve)
    levels = levels_of([column.maps], wall.scale)
    own = channel_levels(column.maps, wall.scale) if wall.share == "channel" else None
    return Scale(levels, own, curve)


def levels_of(maps: Sequence[arrays.Maps], scale: str) -> Levels:
    """Return the levels that maps share on a scale."""
    return _levels_of(maps[0], tuple(maps[1:]), scale) if maps else (0.0, 1.0)


@remembered()
def _levels_of(first: arrays.Maps, others: tuple[arrays.Maps, ...], scale: str) -> Levels:
    values = [one.values if one.colours is None else one.colours for one in (first, *others)]
    if scale == "peak":
        return 0.0, max(arrays.shared_levels(values, "full")[1], 0.0)
    if scale == LOG:
        return _around_zero(arrays.shared_levels(values, "full"))
    return arrays.shared_levels(values, scale)


@remembered()
def channel_levels(maps: arrays.Maps, scale: str) -> Numbers:
    """Return the levels of every channel, [C, 2]."""
    values = maps.values if maps.colours is None else maps.colours
    ends = [arrays.levels(one, "full" if scale in (LOG, "peak") else scale) for one in values]
    if scale == LOG:
        ends = [_around_zero(pair) for pair in ends]
    elif scale == "peak":
        ends = [(0.0, max(high, 0.0)) for _, high in ends]
    return np.array(ends, np.float64).reshape(-1, 2)


def difference_levels_of(maps: arrays.Maps, shown: Shown) -> Levels:
    """Return the levels of a difference: zero in the middle; for Grad-CAM all of it, as for its maps."""
    if shown is not Shown.GRAD_CAM:
        return levels_of([maps], "symmetric")
    size = max(map(abs, levels_of([maps], "full")))
    return -size, size


def _around_zero(levels: Levels) -> Levels:
    size = max(map(abs, levels))
    return (-size, size) if levels[0] < 0 else (0.0, size)
