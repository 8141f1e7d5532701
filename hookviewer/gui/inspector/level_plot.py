"""The histogram of the layer in the colours of the map, the channel as a line, and the levels to drag."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer import render
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.inspector.focus import Focus, Values, counts, one_channel, span_of
from hookviewer.gui.theme import font, keeper, scaled, theme

HEIGHT, AXIS = 118, 18
STEPS = 200
"""Key presses from one end of the plot to the other."""
REACH = 7
"""Pixels around a handle at which it is taken."""


class LevelPlot(QWidget):
    """Two handles are the levels; dragging one sets them, a double click gives them back to the scale.

    With the focus, ↑ ↓ choose a handle, ← → move it (with Shift ten times as far), Delete gives them back.
    """

    levels_wanted = Signal(object)
    """The pair of levels, or None for the scale's own."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("levels")
        self.setAccessibleName(self.tr("Levels and histogram"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(scaled(HEIGHT))
        self._focus: Focus | None = None
        self._taken: int | None = None
        self._active = 1
        """The handle that the keys move: 0 the low one, 1 the high one."""
        self._span = (0.0, 1.0)
        keeper().changed.connect(self.update)

    def show_focus(self, focus: Focus) -> None:
        """Show the values of a layer and of one channel of it."""
        self._focus = focus
        if self._taken is None:
            self._span = self._wanted_span(focus)
        step = span_of(focus.maps)[2]
        counted = self.tr("Logarithmic counts.")
        if step > 1:
            counted = self.tr("Logarithmic counts of one value in {}.").format(step)
        keys = self.tr("Drag a handle, or press L: ↑ ↓ choose one, ← → move it, Delete resets.")
        self.setToolTip(f"{counted}\n{keys}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, self.height())

    def x_of(self, value: float) -> float:
        """Return where a value stands, in pixels."""
        low, high = self._span
        return (value - low) / (high - low) * self.width()

    def value_at(self, x: float) -> float:
        """Return the value at a place in pixels."""
        low, high = self._span
        return low + x / max(self.width(), 1) * (high - low)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._focus is None:
            return
        focus = self._focus
        step = span_of(focus.maps)[2]
        layer, edges = counts(focus.maps, *self._span, step)
        own, _ = counts(one_channel(focus.maps, focus.channel), *self._span, 1)
        with painting(self) as painter:
            self._paint_bars(painter, np.log10(layer * float(step) + 1), edges)
            self._paint_line(painter, np.log10(own + 1.0), np.log10(layer.max() * float(step) + 1), edges)
            self._paint_handles(painter)
            self._paint_axis(painter)

    def _paint_bars(self, painter: QPainter, heights: Values, edges: Values) -> None:
        if self._focus is None:
            return
        table, hatch = render.colour_table(self._focus.colormap), theme()["hatch"]
        middles = (edges[1:] + edges[:-1]) / 2
        index = render.to_index(middles, self._focus.levels, curve=self._focus.curve)
        low, high = self._focus.levels
        top, base = float(heights.max()) or 1.0, self.height() - AXIS
        inside = ((low <= edges[1:]) & (edges[:-1] <= high)).tolist()
        colours, places = table[index, :3].tolist(), self._places(edges)
        tall = heights / top * (base - 8)
        for place, size in enumerate(tall.tolist()):
            colour = QColor(*colours[place]) if inside[place] else hatch
            left = places[place]
            painter.fillRect(QRectF(left, base - size, places[place + 1] - left + 0.6, size), colour)
        painter.setPen(QPen(theme()["border_strong"], 1))
        painter.drawPolyline(_steps(tall, places, base))

    def _paint_line(self, painter: QPainter, own: Values, top: float, edges: Values) -> None:
        base = self.height() - AXIS
        painter.setPen(QPen(theme()["text"], 1.25))
        painter.drawPolyline(_steps(own / (top or 1.0) * (base - 8), self._places(edges), base))

    def _places(self, values: Values) -> list[float]:
        """Return where many values stand, in pixels."""
        low, high = self._span
        return [float(place) for place in (values - low) / (high - low) * self.width()]

    def _paint_handles(self, painter: QPainter) -> None:
        if self._focus is None:
            return
        base = self.height() - AXIS
        painter.setPen(QPen(theme()["border_strong"], 1))
        painter.drawLine(QLineF(0, base + 0.5, self.width(), base + 0.5))
        for place, level in enumerate(self._focus.levels):
            x = min(max(self.x_of(level), 1.0), self.width() - 1.0)
            held = place == self._taken or (self.hasFocus() and place == self._active)
            painter.fillRect(QRectF(x - (2 if held else 1), 0, 4 if held else 2, base), theme()["accent"])
        if self.hasFocus():
            painter.setPen(QPen(theme()["focus"], 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_axis(self, painter: QPainter) -> None:
        painter.setFont(font("mono", 10))
        painter.setPen(theme()["text_3"])
        measure = painter.fontMetrics()
        for value in ticks(*self._span):
            text, x = tick_words(value), self.x_of(value)
            half = measure.horizontalAdvance(text) / 2
            if half <= x <= self.width() - half:
                side = QRectF(x - half - 2, self.height() - AXIS + 2, 2 * half + 4, AXIS - 2)
                painter.drawText(side, Qt.AlignmentFlag.AlignCenter, text)

    # -- handles

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._taken = self._handle_at(event.position().x())
            self._active = self._active if self._taken is None else self._taken

    @guarded
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if self._taken is None or self._focus is None:
            near = self._handle_at(x) is not None
            self.setCursor(Qt.CursorShape.SplitHCursor if near else Qt.CursorShape.ArrowCursor)
            return
        self._move(self._taken, self.value_at(min(max(x, 0.0), float(self.width()))))

    @guarded
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._taken = None
        self.update()

    @guarded
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.levels_wanted.emit(None)

    @guarded
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, keys = event.key(), Qt.Key
        if self._focus is not None and key in (keys.Key_Left, keys.Key_Right):
            far = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            step = (self._span[1] - self._span[0]) / STEPS * far * (1 if key == keys.Key_Right else -1)
            self._move(self._active, self._focus.levels[self._active] + step)
        elif key in (keys.Key_Up, keys.Key_Down):
            self._active = int(key == keys.Key_Up)
            self.update()
        elif key in (keys.Key_Delete, keys.Key_Backspace):
            self.levels_wanted.emit(None)
        else:
            event.ignore()
            return
        event.accept()

    def _move(self, place: int, value: float) -> None:
        """Ask for one level at another value; it stays on its side of the other one."""
        if self._focus is None:
            return
        ends = list(self._focus.levels)
        ends[place] = value
        if ends[0] < ends[1]:
            self.levels_wanted.emit((ends[0], ends[1]))

    def _handle_at(self, x: float) -> int | None:
        if self._focus is None:
            return None
        ways = [abs(min(max(self.x_of(level), 0.0), self.width()) - x) for level in self._focus.levels]
        nearest = int(np.argmin(ways))
        return nearest if ways[nearest] <= REACH else None

    def _wanted_span(self, focus: Focus) -> tuple[float, float]:
        low, high, _ = span_of(focus.maps)
        low, high = min(low, focus.levels[0]), max(high, focus.levels[1])
        air = 0.03 * (high - low)
        return low - air, high + air


def ticks(low: float, high: float) -> list[float]:
    """Return four to seven round values between low and high, zero among them where it lies inside."""
    rough = (high - low) / 6
    decade = 10.0 ** np.floor(np.log10(rough))
    step = next(factor * decade for factor in (1, 2, 5, 10) if factor * decade >= rough)
    first, last = int(np.ceil(low / step)), int(np.floor(high / step))
    return [float(place * step) for place in range(first, last + 1)]


def tick_words(value: float) -> str:
    """Return a round value as short as it can be written."""
    mantissa, _, exponent = f"{value:.3g}".partition("e")
    words = f"{mantissa}e{int(exponent)}" if exponent else mantissa
    return words.replace("-", "−")


def _steps(heights: Values, places: list[float], base: float) -> QPolygonF:
    points: list[QPointF] = []
    for left, right, height in zip(places, places[1:], heights.tolist(), strict=False):
        points += [QPointF(left, base - height), QPointF(right, base - height)]
    return QPolygonF(points)
