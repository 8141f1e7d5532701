"""A number of a lesson: its name, where it stands, what it is here and in torch."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from hookviewer.gui.icons import set_icon
from hookviewer.gui.parts import button, column, label, row
from hookviewer.gui.theme import font
from hookviewer.gui.tutorial_numbers import Line, place_of
from hookviewer.tutorials import Number


class LineView(QFrame):
    """Both values below each other, and a mark that says whether they are the same."""

    asked = Signal(object)
    """The `Number` that somebody wants to look at."""

    def __init__(self, number: Number, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = Line(number, place_of(number))
        self.place = button(self.line.place, "link")
        self.place.setFont(font("ui", 11))
        self.place.setToolTip(self.tr("Look at it in the window"))
        self.place.clicked.connect(lambda: self.asked.emit(self.line.number))
        self.here, self.torch = _value(), _value()
        self.mark = QLabel()
        self.mark.setFixedWidth(18)
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(1)
        grid.setHorizontalSpacing(10)
        for place, (words, value) in enumerate(((self.tr("here"), self.here), ("torch", self.torch))):
            grid.addWidget(label(words, "caption", 11), place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, place, 1)
        grid.setColumnStretch(1, 1)
        name = label(number.torch, "strong", 11, mono=True)
        self.setLayout(column(row(name, None, self.place, self.mark, spacing=4), grid))

    def show_line(self, line: Line) -> None:
        """Show what both are by now."""
        self.line = line
        self.here.setText(line.here or line.reason)
        self.torch.setText(line.torch or "…")
        names = {True: ("circle-check", "ok"), False: ("triangle-alert", "warn")}
        tips = {True: self.tr("Both are the same."), False: self.tr("They differ.")}
        if line.same is None:
            self.mark.clear()
            self.mark.setToolTip("")
            return
        set_icon(self.mark, *names[line.same])
        self.mark.setToolTip(tips[line.same])
        self.mark.setAccessibleName(tips[line.same])


def _value() -> QLabel:
    made = label("", "", 11, mono=True)
    made.setWordWrap(True)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made
