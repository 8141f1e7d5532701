"""The first picture of the program: it is on the screen while torch, which takes seconds, is loaded.

Nothing here may load torch.
"""

from __future__ import annotations

import importlib
import threading
import time

from PySide6.QtCore import QCoreApplication, QEventLoop, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from hookviewer.gui import icons, settings
from hookviewer.gui.application import own_process
from hookviewer.gui.guard import guarded
from hookviewer.gui.parts import column, frame, label, row
from hookviewer.gui.theme import SEMIBOLD, scaled, set_theme

PATIENCE_S = 0.5
"""A picture that a screen does not show by then is waited for no longer."""


class Starting(QWidget):
    """Says that the program starts. `painted` tells whether it has been on the screen."""

    def __init__(self) -> None:
        flags = Qt.WindowType.SplashScreen | Qt.WindowType.FramelessWindowHint
        super().__init__(None, flags)
        self.setWindowTitle("hookviewer")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.painted = False
        mark = QLabel()
        mark.setPixmap(icons.mark(44))
        words = column(
            label("hookviewer", "", 18, weight=SEMIBOLD), label(self.tr("Loading PyTorch …"), "second", 12)
        )
        inside = row(mark, 10, words, None, margins=(22, 18, 22, 18))
        self.setLayout(column(frame(inside, "panel"), margins=(0, 0, 0, 0)))
        self.setFixedSize(scaled(280), scaled(92))
        screen = self.screen().availableGeometry()
        self.move(screen.center() - self.rect().center())

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.painted = True


def started() -> Starting:
    """Make the application and return its first picture, when it is on the screen."""
    own_process()
    set_theme(settings.theme_name())
    made = Starting()
    made.show()
    until = time.monotonic() + PATIENCE_S
    while not made.painted and time.monotonic() < until:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
    return made


def load(name: str) -> None:
    """Import a module in a thread while the picture stays alive; raise what the import raises."""
    errors: list[BaseException] = []

    def work() -> None:
        try:
            importlib.import_module(name)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name="import")
    thread.start()
    while thread.is_alive():
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents, 20)
        thread.join(0.02)
    if errors:
        raise errors[0]
