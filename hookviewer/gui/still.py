"""A place that keeps its size: what goes on in its content does not lay out the whole window anew."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from hookviewer.gui.guard import guarded


class Still(QWidget):
    """Shows `content` as large as itself.

    In a layout, any text that changes asks every layout above it whether there is still room, up to the
    window and all its panels. Here that ends: sizes come from the window, and content gives way by itself.
    """

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._content = content
        content.setParent(self)

    def sizeHint(self) -> QSize:
        return self._content.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._content.minimumSizeHint()

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._content.setGeometry(self.rect())
