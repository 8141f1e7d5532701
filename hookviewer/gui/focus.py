"""Where the keys go: a click on a button takes no focus off the wall, and letters are the wall's."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QAbstractSlider, QComboBox, QWidget
from shiboken6 import isValid

_WITHOUT = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
_ROWS_OWN = frozenset("+-* ")
"""Characters that a tree opens, closes and ticks rows by."""


def leave_focus(within: QWidget) -> None:
    """Let buttons and choices below a widget be reached by Tab, but take no focus when they are clicked.

    A button that keeps the focus after a click would take the next Space, which is the wall's.
    """
    for one in within.findChildren(QWidget):
        quiet = isinstance(one, QAbstractButton | QAbstractSlider)
        quiet |= isinstance(one, QComboBox) and not one.isEditable()
        if quiet and one.focusPolicy() & Qt.FocusPolicy.ClickFocus:
            one.setFocusPolicy(Qt.FocusPolicy.TabFocus)


def hand_back(leaving: QWidget, before: QWidget | None = None) -> None:
    """Give the focus to `before`, or to what the window says, if something that goes away has it."""
    focus = leaving.window().focusWidget()
    if focus is None or not (focus is leaving or leaving.isAncestorOf(focus)):
        return
    there = before is not None and isValid(before) and before.isVisible() and before.isEnabled()
    (before if there and before is not None else leaving.window()).setFocus()


class Letters(QObject):
    """Sends the letters that rows would search by to another widget."""

    def __init__(self, rows: list[QAbstractItemView], to: QWidget, parent: QObject) -> None:
        super().__init__(parent)
        self._to = to
        for one in rows:
            one.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        text = event.text()
        if event.modifiers() & ~_WITHOUT or not text.isprintable() or not text or text in _ROWS_OWN:
            return False
        self._to.keyPressEvent(event)
        return True
