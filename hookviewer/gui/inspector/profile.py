"""The values along the row and the column of the cross-hair."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.inspector.big_map import cross_colours
from hookviewer.gui.inspector.focus import Focus, Values
from hookviewer.gui.inspector.level_plot import ticks
from hookviewer.gui.numbers import number
from hookviewer.gui.theme import font, keeper, scaled, theme

HEIGHT, LEFT, BOTTOM, TOP = 112, 46, 18, 8


class Profile(QWidget):
    """Two lines over one axis of cells, in the colours of the cross-hair."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Values along the row and the column"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(scaled(HEIGHT))
        self._focus: Focus | None = None
        keeper().changed.connect(self.update)

    def show_focus(self, focus: Focus) -> None:
        """Show the lines through the cell in focus."""
        self._focus = focus
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, self.height())

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._focus is None:
            return
        row, column = self._focus.map[self._focus.cell[0]], self._focus.map[:, self._focus.cell[1]]
        low, high = limits(row, column)
        length = max(len(row), len(column))
        with painting(self) as painter:
            self._paint_axis(painter, low, high, length)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for values, colour in ((column, cross_colours()[1]), (row, cross_colours()[0])):
                self._paint_line(painter, values, colour, low, high, length)

    def _plot(self) -> QRectF:
        return QRectF(LEFT, TOP, max(self.width() - LEFT - 6, 1), max(self.height() - TOP - BOTTOM, 1))

    def _paint_axis(self, painter: QPainter, low: float, high: float, length: int) -> None:
        plot, look = self._plot(), theme()
        painter.setFont(font("mono", 10))
        for value in sorted({low, 0.0, high}):
            y = round(plot.bottom() - (value - low) / (high - low) * plot.height()) + 0.5
            if value == 0:
                painter.setPen(QPen(look["border_strong"], 1))
                painter.drawLine(QLineF(plot.left(), y, plot.right(), y))
            if value == 0 or abs(value) > 0.15 * max(abs(low), abs(high)):
                painter.setPen(look["text_3"])
                flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                painter.drawText(QRectF(0, y - 8, LEFT - 5, 16), flags, number(value))
        for cell in ticks(0, max(length, 2)):
            x = plot.left() + (cell + 0.5) / length * plot.width()
            if cell == int(cell) and x < plot.right() - 10:
                side = QRectF(x - 24, plot.bottom() + 2, 48, BOTTOM - 2)
                painter.drawText(side, Qt.AlignmentFlag.AlignCenter, str(int(cell)))

    def _paint_line(
        self, painter: QPainter, values: Values, colour: QColor, low: float, high: float, length: int
    ) -> None:
        plot = self._plot()
        painter.setPen(QPen(colour, 1.4))
        xs = plot.left() + (np.arange(len(values)) + 0.5) / length * plot.width()
        with np.errstate(invalid="ignore", over="ignore"):
            ys = plot.bottom() - (values.astype(np.float64) - low) / (high - low) * plot.height()
        for part in np.split(np.arange(len(values)), np.flatnonzero(~np.isfinite(ys))):
            good = [place for place in part if np.isfinite(ys[place])]
            painter.drawPolyline(QPolygonF([QPointF(float(xs[place]), float(ys[place])) for place in good]))


def limits(row: Values, column: Values) -> tuple[float, float]:
    """Return the range of both lines with zero in it; 0 to 1 where there is nothing finite."""
    values = np.concatenate([row, column]).astype(np.float64)
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    return (low, high) if high > low else (low, low + 1.0)
