"""What is painted over the large map: the cross-hair, numbers, a region, and what a cell sees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from hookviewer.gui.cell_words import value_words
from hookviewer.gui.inspector.window import Sizes, Window
from hookviewer.gui.theme import font, theme
from hookviewer.gui.wall import marks

ROW_LINE, COLUMN_LINE = QColor(90, 200, 250), QColor(255, 209, 102)
CASING = QColor(0, 0, 0, 110)
REGION = QColor(255, 255, 255, 26)
NUMBER_ROOM = (6.0, 3.0)
"""Pixels left free in a cell beside and above its number."""

MOST_NUMBERS = 900
Region = tuple[int, int, int, int]


def cross_colours() -> tuple[QColor, QColor]:
    """Return the colours of the row and the column in plots: those of the cross-hair, readable on a panel."""
    return (ROW_LINE, COLUMN_LINE) if theme().dark else (QColor(10, 124, 186), QColor(168, 106, 0))


def place_of(area: QRectF, window: Window, region: Region) -> QRectF:
    """Return where cells `region` (top, left, bottom, right) are in a window that fills `area`."""
    across, down = area.width() / window.columns, area.height() / window.rows
    left, top = area.left() + (region[1] - window.left) * across, area.top() + (region[0] - window.top) * down
    return QRectF(left, top, (region[3] - region[1]) * across, (region[2] - region[0]) * down)


def paint_cross(painter: QPainter, area: QRectF, window: Window, cell: Sizes, *, lines: bool = True) -> None:
    """Draw the row and the column of a cell, and the cell itself; without `lines` the cell alone."""
    if not window.holds(cell):
        return
    place = place_of(area, window, (cell[0], cell[1], cell[0] + 1, cell[1] + 1))
    x, y = place.center().x(), place.center().y()
    row, column = QLineF(area.left(), y, area.right(), y), QLineF(x, area.top(), x, area.bottom())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for line, colour in ((row, ROW_LINE), (column, COLUMN_LINE)) if lines else ():
        for pen in (QPen(CASING, 3), QPen(colour, 1)):
            painter.setPen(pen)
            painter.drawLine(line)
    painter.setPen(QPen(marks.WHITE_LINE, 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(place.adjusted(-2, -2, 2, 2) if place.width() < 8 else place)


def paint_outline(
    painter: QPainter, place: QRectF, area: QRectF, *, dashed: bool = False, filled: bool = False
) -> None:
    """Draw a rectangle that is seen on every picture, cut off at the edge of the map.

    A filled one, which a person has drawn, has the accent; any other is white.
    """
    painter.save()
    painter.setClipRect(area)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(REGION if filled else Qt.BrushStyle.NoBrush)
    style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
    inside = place.adjusted(0.75, 0.75, -0.75, -0.75)
    ink = marks.accent() if filled else marks.WHITE_LINE
    for pen in (QPen(CASING, 3.5), QPen(ink, 1.5, style)):
        painter.setPen(pen)
        painter.drawRect(inside)
        painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.restore()


def fits_numbers(
    area: QRectF, window: Window, values: npt.NDArray[np.generic], *, whole: bool = False
) -> bool:
    """Return whether every cell has room for its number; `whole` ones are integers."""
    if window.rows * window.columns > MOST_NUMBERS:
        return False
    measure = QFontMetricsF(font("mono", 10))
    if area.height() / window.rows < measure.height() + NUMBER_ROOM[1]:
        return False
    room = area.width() / window.columns - NUMBER_ROOM[0]
    return all(measure.horizontalAdvance(value_words(value, whole=whole)) <= room for value in values.flat)


def paint_numbers(
    painter: QPainter,
    area: QRectF,
    window: Window,
    values: npt.NDArray[np.generic],
    colour_at: Callable[[float, float], QColor],
    *,
    whole: bool = False,
) -> None:
    """Write the value into every cell, dark on bright colours; `colour_at` tells the colour at a point."""
    painter.setFont(font("mono", 10))
    across, down = area.width() / window.columns, area.height() / window.rows
    for row in range(window.rows):
        for column in range(window.columns):
            place = QRectF(area.left() + column * across, area.top() + row * down, across, down)
            ground = colour_at(place.center().x(), place.center().y())
            painter.setPen(QColor(0, 0, 0, 220) if is_bright(ground) else QColor(255, 255, 255, 220))
            words = value_words(values[row, column], whole=whole)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, words)


def is_bright(colour: QColor) -> bool:
    """Return whether black is read better on a colour than white (WCAG's relative luminance above 0.18)."""
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179
