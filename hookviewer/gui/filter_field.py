"""The field that filters the modules: Esc clears it and gives the focus back to the window."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from hookviewer.gui.guard import guarded
from hookviewer.gui.icons import set_icon
from hookviewer.gui.theme import font


class FilterField(QLineEdit):
    """A line with a magnifier and a cross."""

    def __init__(self, hint: str, tip: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFont(font("ui", 12))
        self.setPlaceholderText(hint)
        self.setToolTip(tip)
        self.setAccessibleName(name)
        self.setClearButtonEnabled(True)
        set_icon(self.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition), "search", "text_3")

    def event(self, event: QEvent) -> bool:
        overrides = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if overrides and cast(QKeyEvent, event).key() == Qt.Key.Key_Escape:
            event.accept()  # else the window's Esc would stop a run
            return True
        return bool(super().event(event))

    @guarded
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
            return
        self.clear()
        self.window().setFocus()
        event.accept()
