"""The quantities of the curve over depth behind one button, where there is no room for all of them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from hookviewer.gui.parts import Segmented
from hookviewer.gui.theme import font, scaled


class QuantityButton(QToolButton):
    """Shows what is chosen of segments; its menu has those that are offered."""

    def __init__(self, segments: Segmented, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._segments = segments
        self.setObjectName("quantity")
        self.setProperty("role", "flatdrop")
        self.setFont(font("ui", 12))
        self.setFixedHeight(scaled(24))
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setToolTip(self.tr("What the curve shows"))
        self.setAccessibleName(self.toolTip())
        self.setMenu(QMenu(self))
        self.menu().setToolTipsVisible(True)
        self.menu().aboutToShow.connect(self.fill)
        segments.changed.connect(self.show_chosen)
        self.show_chosen()

    def show_chosen(self) -> None:
        """Show the word of the chosen segment."""
        self.setText(self._segments.buttons[self._segments.index].text())

    def fill(self) -> None:
        """List the segments that are offered."""
        self.menu().clear()
        for button in self._segments.buttons:
            if not button.isHidden():
                action: QAction = self.menu().addAction(button.text())
                action.setToolTip(button.toolTip())
                action.setCheckable(True)
                action.setChecked(button.isChecked())
                action.triggered.connect(button.click)
