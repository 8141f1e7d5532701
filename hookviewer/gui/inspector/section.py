"""A part of the inspector with a title; a click on the title folds it away."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from hookviewer.gui import parts
from hookviewer.gui.guard import guarded
from hookviewer.gui.icons import set_icon
from hookviewer.gui.theme import scaled


class Section(QFrame):
    """A hairline, a title with an arrow and words or tools at the right, and a body."""

    def __init__(
        self, title: str, body: QWidget, *right: QWidget, margins: tuple[int, int, int, int] = (10, 0, 10, 8)
    ) -> None:
        super().__init__()
        self.body = parts.frame(parts.column(body, margins=margins))
        self.arrow = QToolButton()
        self.arrow.setFixedSize(18, 18)
        self.arrow.setCheckable(True)
        self.arrow.setAccessibleName(self.tr("Fold {}").format(title))
        self.arrow.toggled.connect(self._on_toggled)
        set_icon(self.arrow, "chevron-down", "text_3")
        name = parts.label(title, "strong")
        self._head = _Head(parts.row(self.arrow, name, None, *right, spacing=4, margins=(8, 0, 10, 0)))
        self._head.pressed = self.arrow.toggle
        self.setLayout(parts.column(parts.rule(), self._head, self.body))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    @property
    def is_open(self) -> bool:
        """Whether the body is to be seen."""
        return not self.arrow.isChecked()

    def _on_toggled(self, folded: bool) -> None:
        self.body.setVisible(not folded)
        set_icon(self.arrow, "chevron-right" if folded else "chevron-down", "text_3")


class _Head(QFrame):
    """The title row; `pressed` is called on a click."""

    def __init__(self, layout: QHBoxLayout) -> None:
        super().__init__()
        self.setLayout(layout)
        self.setFixedHeight(scaled(32))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.pressed: Callable[[], None] = _nothing

    @guarded
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.pressed()


def _nothing() -> None:
    """Do nothing."""
