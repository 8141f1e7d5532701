"""Signals and vectors as plots for a page: a line for each channel over time, a bar for each value."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hookviewer import render
from hookviewer.formats.arrangement import PAGE_WIDTH
from hookviewer.formats.entry import Figure
from hookviewer.formats.painting import Tiles

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

Array = npt.NDArray[Any]
Colour = tuple[int, int, int, int]

# In points, as everything on a page
LINE_HEIGHT, BARS_HEIGHT, GUTTER = 44, 160, 6
_MOST_BESIDE, _FINER = 8, 3


@dataclasses.dataclass(frozen=True)
class Inks:
    """The colours of a plot: its line or bars, the line at zero, and the ground of a tile."""

    ink: Colour
    zero: Colour
    ground: Colour


@dataclasses.dataclass(frozen=True, eq=False)
class Plot:
    """The plots of an entry: `values` [n, T], one row for each plot, and `levels` [n, 2]."""

    values: Array
    levels: Array
    bars: bool
    figure: Figure
    curve: str = "linear"

    @property
    def columns(self) -> int:
        """How many plots stand beside each other."""
        return max(1, min(_MOST_BESIDE, math.ceil(math.sqrt(len(self.values) / 4))))

    @property
    def tile(self) -> tuple[int, int]:
        """Width and height of one plot in pixels."""
        size = self.figure.size
        width = (PAGE_WIDTH * size - (self.columns - 1) * self.gutter) // self.columns
        return width, (BARS_HEIGHT if self.bars else LINE_HEIGHT) * size

    @property
    def gutter(self) -> int:
        """Pixels between plots."""
        return GUTTER * self.figure.size

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of all plots in pixels."""
        (width, height), rows = self.tile, math.ceil(len(self.values) / self.columns)
        across = self.columns * (width + self.gutter) - self.gutter
        return across, rows * (height + self.gutter) - self.gutter

    def corner(self, place: int) -> tuple[int, int]:
        """Return the left upper corner of a plot."""
        row, column = divmod(place, self.columns)
        return column * (self.tile[0] + self.gutter), row * (self.tile[1] + self.gutter)

    def picture(self, inks: Inks) -> Image:
        """Return all plots as RGBA."""
        from PIL import Image

        page = Image.new("RGBA", self.size, (0, 0, 0, 0))
        for place, (values, ends) in enumerate(zip(self.values, self.levels, strict=True)):
            page.paste(self._drawn(values, ends, inks), self.corner(place))
        return page

    def _drawn(self, values: Array, ends: Array, inks: Inks) -> Image:
        """Return one plot; it is drawn finer than it is, so that its lines are smooth."""
        from PIL import Image, ImageDraw

        fine = (self.tile[0] * _FINER, self.tile[1] * _FINER)
        image = Image.new("RGBA", fine, inks.ground)
        draw, heights = ImageDraw.Draw(image), self._heights(values, ends, fine[1])
        zero = float(self._heights(np.zeros(1), ends, fine[1])[0])
        if ends[0] <= 0 <= ends[1]:
            draw.line((0, zero, fine[0], zero), fill=inks.zero, width=_FINER)
        if self.bars:
            _bars(draw, heights, zero, fine, inks.ink)
        else:
            _line(draw, heights, fine, inks.ink)
        _draw_odd(draw, values, fine)
        return image.resize(self.tile, Image.Resampling.BOX)

    def _heights(self, values: Array, ends: Array, height: int) -> Array:
        """Return how far down values stand; what lies outside the levels stands at their ends."""
        share = 1 - np.clip(render.share(values, ends, curve=self.curve), 0.0, 1.0)
        found: Array = share * (height - 2 * _FINER) + _FINER
        found[~np.isfinite(values)] = np.nan
        return found


def plot_of(tiles: Tiles, figure: Figure) -> Plot | None:
    """Return the plots of a signal or a vector; None for maps, which are pictures."""
    layout = tiles.maps.layout
    if layout not in ("lines", "bars"):
        return None
    values = tiles.maps.values[:, 0] if layout == "lines" else tiles.maps.values[0, :1]
    levels = np.broadcast_to(np.atleast_2d(tiles.levels), (len(values), 2)).astype(np.float64)
    if layout == "bars":
        levels = np.stack([np.minimum(levels[:, 0], 0), np.maximum(levels[:, 1], 0)], axis=1)
    return Plot(values, levels, layout == "bars", figure, tiles.entry.curve)


def _line(draw: ImageDraw, heights: Array, fine: tuple[int, int], ink: Colour) -> None:
    across = (np.arange(len(heights)) + 0.5) * fine[0] / len(heights)
    for first, last in _runs(np.isfinite(heights)):
        points = np.stack([across[first:last], heights[first:last]], axis=1).ravel().tolist()
        if last - first == 1:
            points = [points[0] - _FINER, points[1], points[0] + _FINER, points[1]]
        draw.line(points, fill=ink, width=2 * _FINER, joint="curve")


def _bars(draw: ImageDraw, heights: Array, zero: float, fine: tuple[int, int], ink: Colour) -> None:
    pitch = fine[0] / len(heights)
    air = _FINER if pitch >= 4 * _FINER else 0
    for place, height in enumerate(heights.tolist()):
        if math.isfinite(height):
            top, bottom = sorted((height, zero))
            right = max((place + 1) * pitch - 1 - air, place * pitch)
            draw.rectangle((place * pitch, top, right, bottom), ink)


def _draw_odd(draw: ImageDraw, values: Array, fine: tuple[int, int]) -> None:
    """Draw what is no number over the whole height, in its own colour."""
    pitch = fine[0] / len(values)
    for place in np.flatnonzero(~np.isfinite(values)).tolist():
        value = float(values[place])
        colour = render.NAN if math.isnan(value) else render.POS_INF if value > 0 else render.NEG_INF
        right = max((place + 1) * pitch - 1, place * pitch + _FINER - 1)
        draw.rectangle((place * pitch, 0, right, fine[1]), (*colour, 255))


def _runs(good: Array) -> list[tuple[int, int]]:
    """Return where values follow each other without a gap, as (first, after the last)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(np.int8)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]
