"""The control `methods`: which maps of importance are shown, and the list to choose them from."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from hookviewer.gui.cam_choice import method_of
from hookviewer.gui.icons import set_icon
from hookviewer.gui.method_popover import MethodPopover
from hookviewer.gui.method_words import tr
from hookviewer.gui.session import Session
from hookviewer.gui.theme import font, scaled


class MethodButton(QToolButton):
    """Says what is shown and opens the list."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._short = False
        self.setObjectName("methods")
        self.setProperty("role", "button")
        self.setFont(font("ui", 12))
        self.setFixedHeight(scaled(28))
        set_icon(self, "chevron-down")
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow stands behind the words
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(tr("Methods and targets of the maps"))
        self.clicked.connect(self.open)
        self.refresh()

    def refresh(self) -> None:
        """Say which methods are shown, for how many targets."""
        choice = self._session.look.cam
        titles = [tr(method_of(name).title) for name in choice.methods]
        one = titles[0] if len(titles) == 1 else tr("{} methods").format(len(titles))
        targets = tr(" × {} targets").format(len(choice.targets) + 1) if choice.targets else ""
        self.setText(f"{one if self._short else one + targets} ")
        self.setToolTip("\n".join((self.accessibleName(), ", ".join(titles))))

    def shorten(self, on: bool) -> None:
        """Take as little room as the words need."""
        self._short = on
        self.refresh()
        self.updateGeometry()

    def open(self) -> MethodPopover:
        """Show the list below the button; it goes away when something else is clicked."""
        made = MethodPopover(self._session, self)
        made.show_at(self.mapToGlobal(QPoint(0, self.height() + 2)))
        return made
