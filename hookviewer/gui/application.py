"""The one Qt application of the process."""

from __future__ import annotations

import sys

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from hookviewer import memory


def application() -> QApplication:
    """Return the application that there is, or make it."""
    found = QApplication.instance()
    if isinstance(found, QApplication):
        return found
    QGuiApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    made = QApplication([sys.argv[0] if sys.argv else "hookviewer"])
    made.setApplicationName("hookviewer")
    made.setDesktopFileName("hookviewer")
    return made


def own_process() -> QApplication:
    """Return the application of a process that is the window's alone: memory is handed out for its sake."""
    memory.keep_freed_memory()  # before any thread starts
    return application()
