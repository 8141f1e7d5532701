"""What happens to a closed window: its parts go, so that nothing keeps the model it has shown.

A function that is connected to a signal lives as long as the sender, where Python's collector cannot see it.
A window whose parts are connected to functions that know the window would therefore never be freed.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QMetaMethod, QObject
from PySide6.QtWidgets import QLayout, QMainWindow, QRubberBand, QTabBar

_QT_OWN = (QLayout, QTabBar, QRubberBand)
"""What a `QMainWindow` makes for itself and keeps by address."""


def take_apart(window: QMainWindow, kept: QObject) -> None:
    """Delete every part of a closed window but `kept`, and cut all that listens to `kept`.

    The window itself stays a valid, empty one for whoever still holds it; the last reference frees it.
    """
    silence(kept)
    for part in window.children():
        if part is not kept and not isinstance(part, _QT_OWN):
            part.deleteLater()
            QCoreApplication.sendPostedEvents(part, QEvent.Type.DeferredDelete.value)


def silence(sender: QObject) -> None:
    """Cut everything that is connected to the signals that the class of `sender` has of its own."""
    about = sender.metaObject()
    for number in range(QObject().metaObject().methodCount(), about.methodCount()):
        method = about.method(number)
        if method.methodType() is QMetaMethod.MethodType.Signal and sender.isSignalConnected(method):
            getattr(sender, bytes(method.name().data()).decode()).disconnect()
