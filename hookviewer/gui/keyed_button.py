"""A button with an icon, a word and its key in small."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QWidget

from hookviewer.gui import icons
from hookviewer.gui.guard import guarded
from hookviewer.gui.theme import MEDIUM, SEMIBOLD, font, keeper, scaled, theme

ICON = 14


class KeyedButton(QPushButton):
    """`role` is `run` (the one filled button of the window) or `stop`."""

    def __init__(self, role: str, icon: str, word: str, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        self._filled = role == "run"
        self._icon, self._word, self._key = icon, word, key
        self._face = font("ui", 12, SEMIBOLD if self._filled else MEDIUM)
        self._small = font("ui", 10, MEDIUM)
        self.setFixedHeight(scaled(28))
        self.setFixedWidth(self.sizeHint().width())
        self.setToolTip(f"{word}  {key}")
        self.setAccessibleName(word)
        keeper().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        words = QFontMetrics(self._face).horizontalAdvance(self._word)
        keys = QFontMetrics(self._small).horizontalAdvance(self._key)
        return QSize(11 + ICON + 6 + words + 7 + keys + 11, scaled(28))

    def _inks(self) -> tuple[QColor, QColor, QColor]:
        colours = theme()
        if not self.isEnabled():
            return (colours["text_off"],) * 3
        if self._filled:
            pale = colours["on_accent"]
            pale.setAlpha(205)
            return colours["on_accent"], colours["on_accent"], pale
        return colours["error"], colours["text"], colours["text_3"]

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter, middle = QPainter(self), Qt.AlignmentFlag.AlignVCenter
        mark, word, key = self._inks()
        painter.drawPixmap(11, (self.height() - ICON) // 2, icons.pixmap(self._icon, mark, ICON))
        left = 11 + ICON + 6
        painter.setFont(self._face)
        painter.setPen(word)
        painter.drawText(QRect(left, 0, self.width(), self.height()), middle, self._word)
        left += QFontMetrics(self._face).horizontalAdvance(self._word) + 7
        painter.setFont(self._small)
        painter.setPen(key)
        painter.drawText(QRect(left, 0, self.width(), self.height()), middle, self._key)
