"""A small field that asks for a channel."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from hookviewer.gui import parts
from hookviewer.gui.sorting import listed
from hookviewer.gui.theme import font, scaled


class ChannelField(QFrame):
    """Lies over the wall until a number is entered, Escape is pressed or another place is clicked.

    A number is chosen; a list of numbers and ranges is shown alone, nothing shows all channels again.
    """

    def __init__(
        self, choose: Callable[[int], None], show_only: Callable[[str], None], parent: QWidget
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("card")
        self._last, self._choose, self._show_only = 0, choose, show_only
        self.number = QLineEdit()
        self.number.setFont(font("mono", 12))
        self.number.setFixedWidth(scaled(150))
        self.number.setToolTip(
            self.tr("A number selects a channel. A list like 3, 7-12 shows only these; nothing shows all.")
        )
        self.number.setAccessibleName(self.tr("Channel"))
        self.number.returnPressed.connect(self._on_entered)
        self.setLayout(
            parts.row(parts.label(self.tr("Channel")), self.number, spacing=8, margins=(12, 8, 12, 8))
        )

    def ask(self, last: int) -> None:
        """Show the field in the middle of the wall, for channels up to `last`."""
        self._last = last
        self.number.clear()
        self.number.setPlaceholderText(self.tr("0 to {}, or 3, 7-12").format(last))
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
        elif not text or self._are_channels(text):
            self._show_only(text)
        else:
            self.number.selectAll()
            return
        self.close()

    def _are_channels(self, text: str) -> bool:
        try:
            return bool(listed(text, self._last + 1)) and not text.isdigit()
        except ValueError:
            return False
