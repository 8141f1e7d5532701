"""What is painted over the large map: the cross-hair, numbers, a region, and what a cell sees."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from hookviewer.gui.inspector.window import Sizes, Window
from hookviewer.gui.theme import theme
from hookviewer.gui.wall import marks

ROW_LINE, COLUMN_LINE = QColor(90, 200, 250), QColor(255, 209, 102)
CASING = QColor(0, 0, 0, 110)
REGION = QColor(255, 255, 255, 26)
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
