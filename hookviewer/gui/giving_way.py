"""Rows and labels that give way when there is little room: in a given order, and never under a neighbour."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLayout, QSizePolicy, QWidget

from hookviewer.gui.guard import guarded
from hookviewer.gui.theme import font

Step = tuple[Callable[[], None], Callable[[], None]]
"""How something looks in full, and how it looks when it gives way."""


def hidden(*widgets: QWidget) -> Step:
    """Return the step that hides widgets."""

    def show(on: bool) -> None:
        for widget in widgets:
            widget.setVisible(on)

    return (lambda: show(True), lambda: show(False))


MOST_ROUNDS = 3
"""A row that is asked again while it fits begins again so many times at most."""


class Yielding(QFrame):
    """A row whose steps are taken in order until the rest fits, and taken back when there is room.

    It begins with the steps that it has taken already: as a rule they still fit, and nothing moves. A step
    never depends on whether another one is taken.
    """

    def __init__(
        self, layout: QHBoxLayout, steps: Sequence[Step] = (), parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.steps = tuple(steps)
        self._taken = 0
        self._fitting = self._asked = False
        layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.setLayout(layout)
        self.setMinimumWidth(1)

    def fit(self) -> None:
        """Take as many steps as the width asks for; call it after the content has changed."""
        self._asked = True
        if self._fitting:  # what a step shows may be laid out at once, and ask again
            return
        self._fitting = True
        try:
            for _ in range(MOST_ROUNDS):
                self._asked = False
                self._fit_steps()
                if not self._asked:
                    break
        finally:
            self._fitting = False
        if (layout := self.layout()) is not None:
            layout.activate()  # the widgets get their new sizes now, not those of a step in between

    def _fit_steps(self) -> None:
        self._taken = min(self._taken, len(self.steps))
        for place, step in enumerate(self.steps):
            step[place < self._taken]()
        if self._fits():
            self._take_back()
            return
        while self._taken < len(self.steps):
            self.steps[self._taken][1]()
            self._taken += 1
            if self._fits():
                return

    def _take_back(self) -> None:
        """Take steps back, the last one first, as long as the rest fits."""
        while self._taken:
            full, short = self.steps[self._taken - 1]
            full()
            if not self._fits():
                short()
                return
            self._taken -= 1

    def _fits(self) -> bool:
        layout = self.layout()
        if layout is None:
            return True
        layout.invalidate()
        return layout.sizeHint().width() <= self.width()

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()


class Elided(QLabel):
    """A label that shows the first of its versions that fits, else the last one cut; the tooltip has all."""

    def __init__(self, *versions: str, role: str = "", size: float = 12, mono: bool = False) -> None:
        super().__init__()
        self.versions = versions or ("",)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(font("mono" if mono else "ui", size))
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(8)
        self.say(*self.versions)

    def say(self, *versions: str) -> None:
        """Show another text, given in versions from the longest to the shortest."""
        self.versions = versions or ("",)
        self.setToolTip(self.versions[0])
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.versions[0]) + 2, super().sizeHint().height())

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        measure = self.fontMetrics()
        fitting = (text for text in self.versions if measure.horizontalAdvance(text) <= self.width())
        self.setText(
            next(fitting, measure.elidedText(self.versions[-1], Qt.TextElideMode.ElideRight, self.width()))
        )
