"""One signal, large: its values over time, and where the cursor is."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.inspector.focus import Values
from hookviewer.gui.inspector.profile import Profile, limits
from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import scaled, theme
from hookviewer.gui.views.signals import reach
from hookviewer.gui.wall import marks

HEIGHT = 190


class SignalPlot(Profile):
    """The channel in focus as a line in the colour of its input; a click or a drag chooses the time."""

    chosen = Signal(object)
    hovered = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("signal_plot")
        self.setAccessibleName(self.tr("The selected signal"))
        self.setFixedHeight(scaled(HEIGHT))
        self.setMouseTracking(True)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        focus = self._focus
        if focus is None:
            return
        values = focus.map[0]
        low, high = limits(values, values)
        with painting(self) as painter:
            self._paint_axis(painter, low, high, len(values))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            number = focus.column.number
            ink = theme().input(number) if number else theme()["text_2"]
            if len(values) <= self._plot().width():
                self._paint_line(painter, values, ink, low, high, len(values))
            else:
                least, greatest, _ = reach(values[None], int(self._plot().width()))
                drawn = np.stack([least[0], greatest[0]], axis=1).reshape(-1)
                self._paint_line(painter, drawn, ink, low, high, len(drawn))
            self._paint_cursor(painter, values, focus.cell[1], (low, high))

    def _paint_cursor(self, painter: QPainter, values: Values, place: int, ends: tuple[float, float]) -> None:
        plot, value = self._plot(), float(values[place])
        x = plot.left() + (place + 0.5) / len(values) * plot.width()
        painter.setPen(QPen(theme()["text_3"], 1))
        painter.drawLine(QLineF(x, plot.top(), x, plot.bottom()))
        if np.isfinite(value):
            y = plot.bottom() - (value - ends[0]) / (ends[1] - ends[0]) * plot.height()
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(marks.accent())
            painter.drawEllipse(QRectF(x - 3, y - 3, 6, 6))

    def _spot(self, point: QPointF) -> Pointed | None:
        plot = self._plot()
        if self._focus is None or not plot.contains(point):
            return None
        count = self._focus.map.shape[1]
        place = int((point.x() - plot.left()) / plot.width() * count)
        return Pointed(self._focus.channel, (0, min(place, count - 1)))

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._tell(event)

    @guarded
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._tell(event)

    @guarded
    def leaveEvent(self, event: object) -> None:
        self.hovered.emit(None)

    def _tell(self, event: QMouseEvent) -> None:
        spot = self._spot(event.position())
        if spot is not None and event.buttons() & Qt.MouseButton.LeftButton:
            self.chosen.emit(spot)
        self.hovered.emit(spot)
