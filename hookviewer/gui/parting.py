"""What happens to a closed window: its parts go, so that nothing keeps the model it has shown.

A function that is connected to a signal lives as long as the sender, where Python's collector cannot see it.
A window whose parts are connected to functions that know the window would therefore never be freed. Nor may
it be left to the collector: that runs at any moment, inside Qt's own loops over its widgets or on the model
thread, and a widget that is deleted there ends the process.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QMetaMethod, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QLayout, QMainWindow, QRubberBand, QTabBar
from shiboken6 import isValid

if TYPE_CHECKING:
    from hookviewer.gui.main_window import MainWindow

_QT_OWN = (QLayout, QTabBar, QRubberBand)
"""What a `QMainWindow` makes for itself and keeps by address."""


class _Parting(QObject):
    """A child of the application that takes closed windows apart when their events are done."""

    def __init__(self, application: QObject) -> None:
        super().__init__(application)
        self.setObjectName("parting")
        self._windows: list[MainWindow] = []
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.finish)

    def add(self, window: MainWindow) -> None:
        self._windows.append(window)
        self._later.start()

    def finish(self) -> None:
        self._later.stop()
        windows, self._windows = self._windows, []
        while windows:
            if isValid(windows[-1]):
                take_apart(windows[-1], windows[-1].session)
            gc.collect()  # what is left of the parts still knows the window
            windows.pop()  # here it is freed, unless somebody holds it


def part_soon(window: MainWindow) -> None:
    """Take a closed window apart at the next turn of the event loop: a part may have asked it to close."""
    _parting().add(window)


def part_now() -> None:
    """Take every closed window apart, where no event loop runs that would do it."""
    _parting().finish()


def _parting() -> _Parting:
    application = QApplication.instance()
    assert application is not None
    found = application.findChild(_Parting, "parting", Qt.FindChildOption.FindDirectChildrenOnly)
    return found if found is not None else _Parting(application)


def take_apart(window: QMainWindow, kept: QObject) -> None:
    """Delete every part of a closed window but `kept`, and cut all that listens to `kept`.

    The window itself stays a valid, empty one for whoever still holds it; the last reference frees it.
    """
    silence(kept)
    for part in window.children():
        if part is not kept and not isinstance(part, _QT_OWN):
            part.deleteLater()
            QCoreApplication.sendPostedEvents(part, QEvent.Type.DeferredDelete.value)
    for name, value in list(vars(window).items()):
        if isinstance(value, QObject) and not isValid(value):
            delattr(window, name)


def silence(sender: QObject) -> None:
    """Cut everything that is connected to the signals that the class of `sender` has of its own."""
    about = sender.metaObject()
    for number in range(QObject().metaObject().methodCount(), about.methodCount()):
        method = about.method(number)
        if method.methodType() is QMetaMethod.MethodType.Signal and sender.isSignalConnected(method):
            getattr(sender, bytes(method.name().data()).decode()).disconnect()
