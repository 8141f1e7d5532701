"""The window's actions: what can be done, with names, keys and icons."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow

from hookviewer.gui.icons import set_icon

Does = Callable[[], object]


class Actions(dict[str, QAction]):
    """Actions by name; the name is their object name too."""

    def __init__(self, window: QMainWindow) -> None:
        super().__init__()
        self._window = window

    def add(self, name: str, text: str, does: Does, key: str = "", icon: str = "") -> QAction:
        """Make an action; `key` works in the whole window."""
        action = QAction(text, self._window)
        action.setObjectName(name)
        tip = text.rstrip("…").replace("&", "")
        action.setToolTip(f"{tip}  {key}" if key else tip)
        if key:
            action.setShortcut(QKeySequence(key))
        if icon:
            set_icon(action, icon)
            action.setIconVisibleInMenu(False)
        action.triggered.connect(lambda checked=False: does())
        self._window.addAction(action)
        self[name] = action
        return action

    def switch(
        self, name: str, text: str, does: Callable[[bool], object], key: str = "", icon: str = ""
    ) -> QAction:
        """Make an action that is on or off."""
        action = self.add(name, text, lambda: None, key, icon)
        action.setCheckable(True)
        action.toggled.connect(does)
        return action
