"""Where the page *How hooks work* stands: a panel of its own at the right, made when it is asked for."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QMainWindow

from hookviewer.gui.opening import Opening
from hookviewer.gui.panel_sizes import usual
from hookviewer.gui.panels import Panel
from hookviewer.gui.parts import tool
from hookviewer.gui.session import Session
from hookviewer.gui.theme import scaled
from hookviewer.gui.tutorial_course import Course
from hookviewer.gui.tutorial_page import TutorialPage

NAME = "dock_tutorial"
NARROW, WIDE = 320, 400
"""Its width in small windows and in large ones."""


def show_tutorial(session: Session, opening: Opening, window: QMainWindow) -> TutorialPage:
    """Show the page beside everything else in the window, and return it."""
    panel = window.findChild(Panel, NAME)
    if panel is None:
        panel = _made(session, opening, window)
    panel.show()
    panel.raise_()
    page = panel.findChild(TutorialPage)
    assert page is not None
    return page


def _made(session: Session, opening: Opening, window: QMainWindow) -> Panel:
    away = tool("x", _tr("Close"), size=24)
    page = TutorialPage(Course(session, opening, window))
    panel = Panel(NAME, _tr("How hooks work"), "anchor", page, [away])
    away.clicked.connect(panel.hide)
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, panel, Qt.Orientation.Horizontal)
    panel.setMinimumWidth(scaled(260))
    widths = Widths(panel, window)
    session.model_changed.connect(widths.settle_soon)
    return panel


class Widths(QObject):
    """Shares out the width when the panel comes or goes and when the window gets another size."""

    def __init__(self, panel: Panel, window: QMainWindow) -> None:
        super().__init__(panel)
        self._panel, self._window = panel, window
        self._soon = QTimer(self, singleShot=True, interval=20)
        self._soon.timeout.connect(self.settle)
        panel.visibilityChanged.connect(lambda _: self._soon.start())
        window.installEventFilter(self)

    def settle_soon(self) -> None:
        """Do it when the panels have come or gone."""
        self._soon.start()

    def settle(self) -> None:
        """Give the page its width, and the panels beside it theirs."""
        panel, window = self._panel, self._window
        if panel.isFloating() or not panel.isVisible():
            return
        sizes = usual(window.width(), window.height())
        beside = {one.objectName(): one for one in window.findChildren(Panel) if one.isVisible()}
        docks, widths = [panel], [scaled(NARROW if window.width() < 1500 else WIDE)]
        for name in ("modules", "inspector"):
            if f"dock_{name}" in beside:
                docks.append(beside[f"dock_{name}"])
                widths.append(sizes[name])
        window.resizeDocks(docks, widths, Qt.Orientation.Horizontal)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._soon.start()
        return False


def _tr(text: str) -> str:
    return QCoreApplication.translate("Lesson", text)
