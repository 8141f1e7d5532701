"""Values in the cells of tiles that are zoomed into so far that they have room."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy.typing as npt
from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QPainter

from hookviewer import render
from hookviewer.arrays import Maps
from hookviewer.gui.views.view import Sheet
from hookviewer.gui.wall import cell_numbers

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True, eq=False)
class _Part:
    """The cells of one tile that are in view: their values [h, w], and where they are."""

    channel: int
    values: Array
    place: QRectF


def paint(
    painter: QPainter,
    sheet: Sheet,
    maps: Maps,
    there: Sequence[tuple[int, QRectF]],
    cell: QSizeF,
    area: QRectF,
) -> bool:
    """Write the values of channels into their cells, those in an area; return whether all have room.

    `there` are channels and where their maps are, `cell` is the size of a cell.
    """
    found = [_part(maps, channel, inner, cell, area) for channel, inner in there]
    if sum(part.values.size for part in found) > cell_numbers.MOST:
        return False
    if not all(cell_numbers.fits(cell, part.values, whole=maps.whole) for part in found):
        return False
    for part in found:
        bright = cell_numbers.are_bright(_colours(sheet, part))
        cell_numbers.paint(painter, part.place, part.values, bright, whole=maps.whole)
    return bool(found)


def _part(maps: Maps, channel: int, inner: QRectF, cell: QSizeF, area: QRectF) -> _Part:
    height, width = maps.values.shape[1:]
    rows = _within(area.top() - inner.top(), area.bottom() - inner.top(), cell.height(), height)
    columns = _within(area.left() - inner.left(), area.right() - inner.left(), cell.width(), width)
    values = maps.values[channel, rows.start : rows.stop, columns.start : columns.stop]
    left, top = inner.left() + columns.start * cell.width(), inner.top() + rows.start * cell.height()
    place = QRectF(left, top, len(columns) * cell.width(), len(rows) * cell.height())
    return _Part(channel, values, place)


def _within(start: float, stop: float, size: float, count: int) -> range:
    """Return which of `count` cells of a size are touched from `start` to `stop`."""
    first = min(max(math.floor(start / size), 0), count)
    return range(first, min(max(math.ceil(stop / size), first), count))


def _colours(sheet: Sheet, part: _Part) -> Array:
    """Return the colours of the cells, uint8 [h, w, 4]."""
    low, high = sheet.levels if sheet.own is None else sheet.own[part.channel]
    return render.to_rgba(part.values, (float(low), float(high)), sheet.colormap, curve=sheet.curve)
