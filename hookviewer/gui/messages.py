"""Where everything unforeseen ends: uncaught exceptions of every thread, and what Qt has to say."""

from __future__ import annotations

import platform
import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch
from PySide6 import __version__ as pyside_version
from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, Slot, qInstallMessageHandler

from hookviewer import __version__
from hookviewer.errors import HookViewerError
from hookviewer.gui.state import Message

QUIET = ("This plugin does not support", "QStandardPaths: XDG_RUNTIME_DIR")


def message_of(error: BaseException) -> Message:
    """Return what the window says of an exception: a user's mistake as it is, a bug with its report."""
    if isinstance(error, HookViewerError):
        return Message("error", str(error))
    what = f"Something went wrong inside hookviewer: {type(error).__name__}: {error}".rstrip(": ")
    return Message("error", f"{what}.", "Your model is untouched. Please report it.", report_of(error))


def report_of(error: BaseException) -> str:
    """Return the text to put into a bug report."""
    return f"{versions()}\n\n{''.join(traceback.format_exception(error))}"


def versions() -> str:
    """Return the versions that a bug report needs."""
    return (
        f"hookviewer {__version__}, torch {torch.__version__}, PySide6 {pyside_version}, "
        f"Python {platform.python_version()}, {platform.platform()}"
    )


class Catcher(QObject):
    """Brings the uncaught exceptions of all threads to `tell`; the hooks before it are called too."""

    _crossing = Signal(object)

    def __init__(self, tell: Callable[[Message], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tell = tell
        self._crossing.connect(self._on_crossing)
        self._before: tuple[Any, Any] = (sys.excepthook, threading.excepthook)
        self._installed = False

    def install(self) -> None:
        """Take the three hooks; call `remove` when the window closes."""
        self._before = (sys.excepthook, threading.excepthook)
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception
        qInstallMessageHandler(_on_qt_message)
        self._installed = True

    def remove(self) -> None:
        """Give the hooks back, unless somebody else has taken them since."""
        if not self._installed:
            return
        self._installed = False
        if sys.excepthook == self._on_exception:
            sys.excepthook = self._before[0]
        if threading.excepthook == self._on_thread_exception:
            threading.excepthook = self._before[1]
        qInstallMessageHandler(None)

    def _on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        self._before[0](kind, error, trace)
        if self._installed and isinstance(error, Exception):
            self._crossing.emit(error)

    def _on_thread_exception(self, what: threading.ExceptHookArgs) -> None:
        self._before[1](what)
        if self._installed and isinstance(what.exc_value, Exception):
            self._crossing.emit(what.exc_value)

    @Slot(object)
    def _on_crossing(self, error: BaseException) -> None:
        self._tell(message_of(error))


def _on_qt_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    if sys.stderr is not None and not text.startswith(QUIET):
        sys.stderr.write(f"Qt: {text}\n")
