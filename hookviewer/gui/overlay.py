"""A page that lies over the window, which steps back under a scrim; Esc or a click beside it closes it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from hookviewer.gui.focus import hand_back
from hookviewer.gui.guard import guarded
from hookviewer.gui.parts import column, row
from hookviewer.gui.theme import theme


class Overlay(QWidget):
    """Covers its window and follows its size."""

    def __init__(self, page: QWidget, window: QWidget) -> None:
        super().__init__(window)
        self.page, self._window = page, window
        self.setLayout(column(None, row(None, page, None), None))
        self.setGeometry(window.rect())
        window.installEventFilter(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._before: QWidget | None = None

    def show_over(self) -> None:
        """Show the page over everything else in the window."""
        self.setGeometry(self._window.rect())
        self._before = self._window.focusWidget()
        self.show()
        self.raise_()
        self.setFocus()

    def close_page(self) -> None:
        """Take the page away; the focus goes back to where it was."""
        hand_back(self, self._before)
        self.hide()
        self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self._window:
            self.setGeometry(self._window.rect())
        return False

    @guarded
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Question):
            self.close_page()
        event.accept()

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self.page.geometry().contains(event.position().toPoint()):
            self.close_page()
        event.accept()

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        shade = theme()["window" if theme().dark else "text"]
        shade.setAlpha(170 if theme().dark else 90)
        QPainter(self).fillRect(self.rect(), shade)
