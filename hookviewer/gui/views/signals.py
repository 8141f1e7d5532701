"""Signals: a small line plot for each channel."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter

from hookviewer import render
from hookviewer.gui.numbers import number
from hookviewer.gui.theme import font, theme
from hookviewer.gui.views.feature_maps import FeatureMaps
from hookviewer.gui.views.view import Sheet
from hookviewer.gui.wall import geometry, marks
from hookviewer.gui.wall.geometry import Grid
from hookviewer.gui.wall.tiles import equal

Array = npt.NDArray[Any]

SHAPE = 0.4
"""The height of a plot for a width of 1."""
LEAST_LABELLED = 70


class Signals(FeatureMaps):
    """Every channel as a line over time; no peak is lost where a pixel has many values."""

    gutter = 4

    def __init__(self, host: Any) -> None:
        super().__init__(host)
        self._key: tuple[object, ...] = ()
        self._made: Array = np.zeros((0, 0, 0), np.uint32)

    @classmethod
    def suits(cls, sheet: Sheet) -> int:
        return 10 if sheet.drawn.layout == "lines" else -1

    def _grid_for(self, sheet: Sheet, room: tuple[int, int]) -> Grid:
        gap = self._pixels(self.gutter)
        return geometry.grid_of(max(len(sheet.order), 1), SHAPE, room, sheet.sight, gap)

    @property
    def _inset(self) -> tuple[int, int, int, int]:
        return 0, 0, self.grid.width, self.grid.height

    def paint(self, painter: QPainter) -> None:
        sheet = self._sheet
        if sheet.column.maps is None:
            super().paint(painter)
            return
        painter.fillRect(self.area, theme()["canvas"])
        tiles = [tile for tile in self._tiles_in_view() if sheet.order[tile] < len(self._maps.values)]
        plots, width, height = self._plots(tiles), self.grid.width, self.grid.height
        ratio = self.ratio
        painter.save()
        painter.scale(1 / ratio, 1 / ratio)
        for tile, plot in zip(tiles, plots, strict=True):
            (x, y), sight = self.grid.corner(tile), self.sight
            image = QImage(plot.data, width, height, width * 4, QImage.Format.Format_RGB32)
            painter.drawImage(QPointF(x - sight.x, y - sight.y), image)
        painter.restore()

    def _plots(self, tiles: list[int]) -> Array:
        """Return the pixels of the plots, uint32 [n, h, w]; the same ones until something has changed."""
        sheet, look = self._sheet, theme()
        ink = look.input(sheet.column.number) if sheet.column.number else look["text_2"]
        ground = look["control" if look.dark else "panel"]
        zero, nan = look["border_strong"], look["nan"]
        colours = (int(ground.rgb()), int(zero.rgb()), int(ink.rgb()), int(nan.rgb()))
        size = (self.grid.height, self.grid.width)
        channels = tuple(int(sheet.order[tile]) for tile in tiles)
        key = (self._maps, channels, size, sheet.levels, sheet.own, sheet.curve, colours)
        if not equal(key, self._key):
            values = self._maps.values[list(channels), 0]
            levels = sheet.levels if sheet.own is None else sheet.own[list(channels)]
            self._made, self._key = plotted(values, levels, size, colours, curve=sheet.curve), key
        return self._made

    def _levels(self, channel: int) -> tuple[float, float]:
        """Return the scale of one channel."""
        own = self._sheet.own
        if own is None or channel >= len(own):
            return self._sheet.levels
        return float(own[channel, 0]), float(own[channel, 1])

    def _paint_numbers(self, painter: QPainter) -> bool:
        """A line has no cells."""
        return False

    def _paint_labels(self, painter: QPainter) -> None:
        """Write the ends of the scale into the first plot, into all of them where each has its own."""
        rect = self._rect(0)
        if rect.width() < LEAST_LABELLED or rect.height() < 40:
            return
        painter.setFont(font("mono", 10))
        painter.setPen(theme()["text_3"])
        for tile in (0,) if self._sheet.own is None else self._tiles_in_view():
            self._paint_ends(painter, self._rect(tile), self._levels(int(self._sheet.order[tile])))

    def _paint_ends(self, painter: QPainter, rect: QRectF, levels: tuple[float, float]) -> None:
        (low, high), inner, right = levels, rect.adjusted(4, 2, -4, -2), Qt.AlignmentFlag.AlignRight
        painter.drawText(inner, right | Qt.AlignmentFlag.AlignTop, number(high))
        painter.drawText(inner, right | Qt.AlignmentFlag.AlignBottom, number(low))

    def _paint_cross(self, painter: QPainter, tile: int, cell: tuple[int, int]) -> None:
        """Draw an upright line at the place, and a ring on the value."""
        values, rect = self._maps.values, self._rect(tile)
        channel, count = int(self._sheet.order[tile]), self._maps.values.shape[2]
        if not (0 <= cell[1] < count and channel < len(values)):
            return
        painter.setPen(theme()["text_3"])
        x = rect.left() + (cell[1] + 0.5) / count * rect.width()
        painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()))
        value = float(values[channel, 0, cell[1]])
        if np.isfinite(value):
            share = float(render.share(value, self._levels(channel), curve=self._sheet.curve))
            y = rect.top() + (1 - min(max(share, 0.0), 1.0)) * (rect.height() - 1)
            painter.setBrush(marks.accent())
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawEllipse(QRectF(x - 2.5, y - 2.5, 5, 5))


def plotted(
    values: Array,
    levels: npt.ArrayLike,
    size: tuple[int, int],
    colours: tuple[int, int, int, int],
    *,
    curve: str = "linear",
) -> Array:
    """Return lines [n, T] as pixels uint32 [n, h, w]; `colours` are ground, zero line, line and NaN.

    `levels` are one pair, or one for each line [n, 2].
    """
    height, width = size
    ground, zero, ink, odd = (np.uint32(one) for one in colours)
    low, high, bad = reach(values, width)
    ends = np.broadcast_to(np.asarray(levels, np.float64), (len(values), 2))
    top, bottom = (_rows(one, ends, height, curve) for one in (high, low))
    rows = np.arange(height, dtype=np.int16)[None, :, None]
    at_zero = _rows(np.zeros((len(values), 1)), ends, height, curve)[:, None, :]
    inside = ((ends[:, 0] < 0) & (ends[:, 1] > 0))[:, None, None]
    behind = np.where(inside & (rows == at_zero), zero, ground)
    pixels = np.where((rows >= top[:, None, :]) & (rows <= bottom[:, None, :]), ink, behind)
    return np.ascontiguousarray(np.where(bad[:, None, :], odd, pixels) if bad.any() else pixels)


def reach(values: Array, width: int) -> tuple[Array, Array, Array]:
    """Return the least and greatest value of each line [n, T] in each of `width` pixels, and where NaN is.

    Neighbouring pixels touch: a line is drawn through. Infinite values reach to the rim.
    """
    if values.shape[1] <= width:
        return _drawn_through(values, width)
    count = values.shape[1]
    edges = np.linspace(0, count, width + 1)
    first = edges[:-1].astype(np.intp)
    last = np.clip(np.ceil(edges[1:]).astype(np.intp), first + 1, count)
    low, high = values[:, first].astype(np.float64), values[:, first].astype(np.float64)
    for step in range(1, int((last - first).max())):
        place = np.minimum(first + step, last - 1)
        low, high = np.minimum(low, values[:, place]), np.maximum(high, values[:, place])
    bad = np.isnan(low)
    before = values[:, np.maximum(first - 1, 0)]
    return np.fmin(low, before), np.fmax(high, before), bad


def _drawn_through(values: Array, width: int) -> tuple[Array, Array, Array]:
    """Return what a straight line from value to value covers in each pixel, and the pixels of NaN."""
    count = values.shape[1]
    edges = np.linspace(0, count, width + 1)
    at = np.clip(edges - 0.5, 0, count - 1)
    left = np.minimum(at.astype(np.intp), max(count - 2, 0))
    right = np.minimum(left + 1, count - 1)
    share = at - left
    ends = (values[:, left].astype(np.float64), values[:, right].astype(np.float64))
    with np.errstate(invalid="ignore"):
        line = np.where(share == 0, ends[0], ends[0] * (1 - share) + ends[1] * share)
    line = np.where(np.isnan(line), np.where(np.isnan(ends[0]), ends[1], ends[0]), line)
    own = np.minimum((edges[:-1] + edges[1:]) / 2, count - 1).astype(np.intp)
    return np.fmin(line[:, :-1], line[:, 1:]), np.fmax(line[:, :-1], line[:, 1:]), np.isnan(values[:, own])


def _rows(values: Array, levels: Array, height: int, curve: str) -> Array:
    """Return the row of pixels of values [n, …] on levels [n, 2], 0 at the top."""
    with np.errstate(invalid="ignore", over="ignore"):
        rows = np.round((1 - render.share(values, levels, curve=curve)) * (height - 1))
    found: Array = np.clip(np.nan_to_num(rows, nan=0), 0, height - 1).astype(np.int16)
    return found
