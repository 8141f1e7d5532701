"""Where everything unforeseen ends: uncaught exceptions of every thread, failed paints, words of Qt.

All of it goes to the loggers below `hookviewer`, from there to the log file, and errors to the window.
"""

from __future__ import annotations

import logging
import platform
import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np
import torch
from PySide6 import __version__ as pyside_version
from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    QtMsgType,
    Signal,
    Slot,
    qInstallMessageHandler,
    qVersion,
)

from hookviewer import __version__
from hookviewer.errors import HookViewerError
from hookviewer.gui import log
from hookviewer.gui.state import Message

QUIET = ("This plugin does not support", "QStandardPaths: XDG_RUNTIME_DIR")
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
_log, _qt_log = logging.getLogger("hookviewer"), logging.getLogger("hookviewer.qt")


def message_of(error: BaseException) -> Message:
    """Return what the window says of an exception: a user's mistake as it is, a bug with its report."""
    if isinstance(error, HookViewerError):
        return Message("error", str(error))
    what = f"Something went wrong inside hookviewer: {type(error).__name__}: {error}".rstrip(": ")
    return Message("error", f"{what}.", "Your model is untouched. Please report it.", report_of(error))


def report_of(error: BaseException) -> str:
    """Return the text to put into a bug report."""
    return f"{versions()}\n\n{''.join(traceback.format_exception(error))}"


def version_table() -> tuple[tuple[str, str], ...]:
    """Return the versions of all that matters, by name."""
    cuda = torch.version.cuda or "none"
    found = torch.cuda.get_device_name() if torch.cuda.is_available() else "no CUDA device"
    return (
        ("hookviewer", __version__),
        ("torch", f"{torch.__version__} (CUDA {cuda}, {found})"),
        ("PySide6", f"{pyside_version} (Qt {qVersion()})"),
        ("numpy", np.__version__),
        ("Python", platform.python_version()),
        ("System", platform.platform()),
        ("Environment", sys.prefix),
        ("Log", str(log.folder())),
    )


def versions() -> str:
    """Return the versions that a bug report needs."""
    return (
        f"hookviewer {__version__}, torch {torch.__version__}, PySide6 {pyside_version}, "
        f"Python {platform.python_version()}, {platform.platform()}"
    )


def full_report() -> str:
    """Return the versions and the end of the log."""
    lines = "\n".join(f"{name}: {value}" for name, value in version_table())
    return f"{lines}\n\n{log.tail()}".rstrip()


class _Teller(logging.Handler):
    """Brings errors that were logged, in whichever thread, to a function."""

    def __init__(self, say: Callable[[Message], object]) -> None:
        super().__init__(logging.ERROR)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self._say(message_of(error) if error is not None else Message("error", record.getMessage()))


class Catcher(QObject):
    """Brings everything unforeseen to the log and to `tell`; the hooks before it are called too."""

    _crossing = Signal(object)

    def __init__(self, tell: Callable[[Message], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tell = tell
        self._crossing.connect(self._on_crossing)
        self._before: tuple[Any, Any] = (sys.excepthook, threading.excepthook)
        self._installed = False
        self._file = log.LogFile()
        self._teller = _Teller(self._crossing.emit)

    def install(self) -> None:
        """Take the three hooks and open the log; call `remove` when the window closes."""
        self._before = (sys.excepthook, threading.excepthook)
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception
        qInstallMessageHandler(_on_qt_message)
        self._file.start()
        _log.addHandler(self._teller)
        self._installed = True
        _log.info("Started: %s", versions())

    def remove(self) -> None:
        """Give the hooks back, unless somebody else has taken them since, and close the log."""
        if not self._installed:
            return
        self._installed = False
        if sys.excepthook == self._on_exception:
            sys.excepthook = _still_there(self._before[0], 0)
        if threading.excepthook == self._on_thread_exception:
            threading.excepthook = _still_there(self._before[1], 1)
        qInstallMessageHandler(None)
        _log.removeHandler(self._teller)
        self._file.stop()
        self._tell = _say_nothing  # a window that came later may know this catcher for longer

    @property
    def installed(self) -> bool:
        """Whether it has taken the hooks and not given them back."""
        return self._installed

    def hook_before(self, which: int) -> Any:
        """Return the exception hook (0) or that of threads (1) from before it was installed."""
        return self._before[which]

    def _on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        self._before[0](kind, error, trace)
        if self._speaks(self._before[0]) and isinstance(error, Exception):
            _log.error("An exception that nobody caught", exc_info=error)

    def _on_thread_exception(self, what: threading.ExceptHookArgs) -> None:
        self._before[1](what)
        if self._speaks(self._before[1]) and isinstance(what.exc_value, Exception):
            _log.error("An exception that nobody caught in a thread", exc_info=what.exc_value)

    def _speaks(self, before: Any) -> bool:
        """Whether this catcher is to log: of several windows, the first does."""
        return self._installed and not isinstance(getattr(before, "__self__", None), Catcher)

    @Slot(object)
    def _on_crossing(self, message: Message) -> None:
        if self._installed:
            self._tell(message)


def _say_nothing(message: Message) -> None:
    """Take a message that there is no window for any more."""


def _still_there(hook: Any, which: int) -> Any:
    """Return the hook to put back: windows that are closed in another order leave theirs in between."""
    owner = getattr(hook, "__self__", None)
    while isinstance(owner, Catcher) and not owner.installed:
        hook = owner.hook_before(which)
        owner = getattr(hook, "__self__", None)
    return hook


def _on_qt_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    if text.startswith(QUIET):
        return
    log.to_stderr(f"Qt: {text}")
    _qt_log.log(_LEVELS.get(kind, logging.WARNING), text)
