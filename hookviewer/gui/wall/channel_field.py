"""A small field that asks for a channel."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from hookviewer.gui import parts
from hookviewer.gui.theme import font


class ChannelField(QFrame):
    """Lies over the wall until a number is entered, Escape is pressed or another place is clicked."""

    def __init__(self, last: int, choose: Callable[[int], None], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("card")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._last, self._choose = last, choose
        self.number = QLineEdit()
        self.number.setFont(font("mono", 12))
        self.number.setFixedWidth(90)
        self.number.setPlaceholderText(self.tr("0 to {}").format(last))
        self.number.setAccessibleName(self.tr("Channel"))
        self.number.returnPressed.connect(self._on_entered)
        self.setLayout(
            parts.row(parts.label(self.tr("Channel")), self.number, spacing=8, margins=(12, 8, 12, 8))
        )

    def ask(self) -> None:
        """Show the field in the middle of the wall."""
        parent = self.parentWidget()
        self.adjustSize()
        if parent is not None:
            middle = QPoint((parent.width() - self.width()) // 2, 48)
            self.move(parent.mapToGlobal(middle))
        self.show()
        self.number.setFocus()

    def _on_entered(self) -> None:
        text = self.number.text().strip()
        if text.isdigit() and int(text) <= self._last:
            self._choose(int(text))
            self.close()
            return
        self.number.selectAll()
