"""Dots, names and numbers of the inputs, painted in one line; gives way by dropping names, then itself."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer.gui.guard import guarded
from hookviewer.gui.line_styles import pen_of
from hookviewer.gui.theme import font, keeper, scaled, theme

GAP, DOT, LINE = 12, 14, 30
Entry = tuple[int, str, str, str]
"""An input's number, its name, the value to write beside it, and the style of its line."""


class Legend(QWidget):
    """Shows as many entries as fit, the first ones first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entries: list[Entry] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(0)
        keeper().changed.connect(self.update)

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show these inputs."""
        self.entries = list(entries)
        self.setAccessibleName(", ".join(f"{name} {value}" for _, name, value, _ in entries))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(sum(self._width(entry) for entry in self.entries)) + 2, scaled(20))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, scaled(20))

    def _width(self, entry: Entry) -> float:
        _, name, value, style = entry
        words = QFontMetricsF(font("ui", 11)).horizontalAdvance(name)
        return _room(style) + words + 6 + QFontMetricsF(font("mono", 11)).horizontalAdvance(value) + GAP

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, colours, left = QPainter(self), theme(), 0.0
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = self.height() / 2
        for entry in self.entries:
            number, name, value, style = entry
            if left + self._width(entry) > self.width() + GAP:
                return
            _paint_sample(painter, QPointF(left, middle), number, style)
            painter.setPen(colours["text_2"])
            painter.setFont(font("ui", 11))
            words = QFontMetricsF(painter.font()).horizontalAdvance(name)
            area = QRectF(left + _room(style), 0, self.width(), self.height())
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, name)
            painter.setPen(colours["text"])
            painter.setFont(font("mono", 11))
            painter.drawText(area.adjusted(words + 6, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, value)
            left += self._width(entry)


def _room(style: str) -> int:
    return DOT if style == "solid" else LINE


def _paint_sample(painter: QPainter, at: QPointF, number: int, style: str) -> None:
    """Draw a dot in the colour of an input, or a piece of its line where that is not a plain one."""
    colour = theme().input(number)
    if style == "solid":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(at + QPointF(4, 0), 3.5, 3.5)
        return
    painter.setPen(pen_of(colour, style))
    painter.drawLine(at, at + QPointF(LINE - 6, 0))
