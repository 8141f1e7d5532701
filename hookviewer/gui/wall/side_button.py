"""Which side of a module is looked at, and gradients without their sign: a button with a menu."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QT_TRANSLATE_NOOP, Qt
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from hookviewer.gui.session import Session
from hookviewer.gui.state import SIDED, Selection, Shown
from hookviewer.gui.theme import font, scaled
from hookviewer.gui.wall import words

NOOP = QT_TRANSLATE_NOOP
LONG = {
    "output": str(NOOP("Wall", "At the output")),
    "input": str(NOOP("Wall", "At the input, through this module")),
    "total": str(NOOP("Wall", "At the input, through all its uses")),
}
SHORT = {
    "output": str(NOOP("Wall", "at output")),
    "input": str(NOOP("Wall", "at input")),
    "total": str(NOOP("Wall", "in total")),
}
SHORTEST = {
    "output": "",
    "input": str(NOOP("Wall", "in")),
    "total": str(NOOP("Wall", "total")),
}
VALUES = {
    "output": str(NOOP("Wall", "What the module returned")),
    "input": str(NOOP("Wall", "What went into the module")),
}


class SideButton(QToolButton):
    """Says at which side of the module a value or gradient is taken; its menu has the others."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._short = False
        self.setObjectName("side")
        self.setProperty("role", "flatdrop")
        self.setFont(font("ui", 12))
        self.setFixedHeight(scaled(28))
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        tip = words.tr("At the output or the input of the module; gradients in total, or without their sign")
        self.setToolTip(tip)
        self.setAccessibleName(tip)
        menu = QMenu(self)
        menu.aboutToShow.connect(lambda: self.fill(menu))
        self.setMenu(menu)

    @property
    def suits(self) -> bool:
        """Whether what is shown has sides."""
        return self._session.selection.shown in SIDED

    @property
    def telling(self) -> bool:
        """Whether it has to stay in sight: something else than a value or gradient at the output is shown."""
        selection = self._session.selection
        return self.suits and (_side(selection) != "output" or selection.shown is Shown.MAGNITUDE)

    def setVisible(self, visible: bool) -> None:
        super().setVisible(visible or self.telling)

    def show_state(self) -> None:
        """Show the side in force."""
        self._say()
        self.setVisible(self.suits)

    def _say(self) -> None:
        selection = self._session.selection
        sign = "|·|" if selection.shown is Shown.MAGNITUDE else ""
        side = (SHORTEST if self._short and self.telling else SHORT)[_side(selection)]
        self.setText(" ".join(filter(None, (sign, words.tr(side) if side else ""))))

    def shorten(self, on: bool) -> None:
        """Say the side in as few letters as tell it from the others, where there is little room."""
        if on != self._short:
            self._short = on
            self._say()

    def fill(self, menu: QMenu) -> None:
        """Put the sides into a menu, and the gradient without its sign."""
        selection = self._session.selection
        menu.clear()
        group = QActionGroup(menu)
        for side, text in (VALUES if selection.shown is Shown.OUTPUT else LONG).items():
            action = menu.addAction(words.tr(text), partial(self._session.select, side=side))
            action.setCheckable(True)
            action.setChecked(side == _side(selection))
            group.addAction(action)
        if selection.shown in (Shown.GRADIENT, Shown.MAGNITUDE):
            menu.addSeparator()
            action = menu.addAction(words.tr("Without its sign: |gradient|"), self._turn_sign)
            action.setCheckable(True)
            action.setChecked(selection.shown is Shown.MAGNITUDE)

    def _turn_sign(self) -> None:
        signed = self._session.selection.shown is Shown.MAGNITUDE
        self._session.select(shown=Shown.GRADIENT if signed else Shown.MAGNITUDE)


def _side(selection: Selection) -> str:
    """Return the side in force: a value at the input is one value, however often it is used."""
    return "input" if selection.shown is Shown.OUTPUT and selection.side == "total" else selection.side
