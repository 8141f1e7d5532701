"""The line over a column: whose record it is, and its numbers as far as they fit."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QLayout, QSizePolicy, QWidget

from hookviewer.gui import thumbnails
from hookviewer.gui.columns import Column
from hookviewer.gui.giving_way import Elided
from hookviewer.gui.guard import guarded
from hookviewer.gui.parts import icon_label, label, restyle, row
from hookviewer.gui.state import InputItem
from hookviewer.gui.theme import SEMIBOLD, keeper, scaled, theme

HEIGHT = 34
PICTURE = (36, 24)
GAP, MARGIN = 7, 2
LEAST_TOP = 28
"""With less room than that nothing can be read of the likeliest class."""


def titles_of(column: Column) -> tuple[str, ...]:
    """Return the title of a column from its longest version to its shortest one.

    Of an input under a variant the variant's name stays, of the difference of a pair its letters.
    """
    whole, variant = column.title, column.item.variant.name if column.item is not None else ""
    if variant and whole.endswith(variant):
        return whole, variant
    words, bracket, letters = whole.partition(" (")
    if column.number is None and bracket and letters.endswith(")"):
        return whole, words, letters[:-1]
    return (whole,)


class ColumnHead(QFrame):
    """Letter, thumbnail, dot, name and top class at the left; the numbers at the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(scaled(HEIGHT))
        self.letter = label("", "", 11, weight=SEMIBOLD)
        self.letter.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.letter.setFixedSize(scaled(18), scaled(18))
        self.picture = QLabel()
        self.dot = QLabel()
        self.dot.setFixedSize(8, 8)
        self.sign = icon_label("diff", "text_2")
        self.title = label("", "strong")
        self.top = Elided(role="second", size=12)
        self.numbers = Elided(role="second", size=11, mono=True)
        self.numbers.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        parts = (self.letter, self.picture, self.sign, self.dot, self.title, self.top, self.numbers)
        self.numbers.setMinimumWidth(0)  # the title has all the room where there is little
        layout = row(*parts, spacing=GAP, margins=(MARGIN, 0, MARGIN, 0))
        self.top.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        layout.setStretch(6, 1)
        layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.setLayout(layout)
        self.setMinimumWidth(1)
        self._shown: tuple[Column, InputItem | None] | None = None
        keeper().changed.connect(self._recolour)

    def show_column(self, column: Column, item: InputItem | None, numbers: Sequence[str]) -> None:
        """Show whose record the column holds; `numbers` from the longest version to the shortest."""
        before = self._shown
        self._shown = (column, item)
        self.letter.setVisible(bool(column.letter) and column.number is not None)
        self.letter.setText(column.letter)
        self.sign.setVisible(column.number is None)
        self.dot.setVisible(bool(column.number) and not column.letter)  # a weight belongs to no input
        self.title.setToolTip(column.title)
        self._say_top(column)
        self.numbers.say(*(numbers or ("",)))
        if before is None or before[1] is not item:
            self._show_picture(item)
        self._say_title()
        self._recolour()

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._say_title()

    def _say_title(self) -> None:
        """Say the longest title that has room; what tells a column from its neighbours goes last."""
        if self._shown is None:
            return
        beside = (self.letter, self.picture, self.sign, self.dot)
        taken = sum(one.sizeHint().width() + GAP for one in beside if not one.isHidden())
        room, measure = self.width() - taken - GAP - 2 * MARGIN, self.title.fontMetrics()
        titles = titles_of(self._shown[0])
        fitting = (one for one in titles if measure.horizontalAdvance(one) <= room)
        text = next(fitting, "") or measure.elidedText(titles[-1], Qt.TextElideMode.ElideRight, max(room, 0))
        if text != self.title.text():
            self.title.setText(text)
        spare = room - measure.horizontalAdvance(text) - GAP
        self.top.setVisible(bool(self.top.versions[0]) and spare > scaled(LEAST_TOP))

    def _say_top(self, column: Column) -> None:
        """Say the likeliest class; before it, for another model, which layer stands here."""
        renaming = column.run.renaming if column.run is not None else None
        path = column.record.key.path if column.record is not None else None
        there = renaming.there(path) if renaming is not None and path is not None else None
        said = " · ".join(filter(None, (there, column.top)))
        self.top.say(*((said, there) if there else (said,)))

    def _show_picture(self, item: InputItem | None) -> None:
        picture = thumbnails.picture_of(item.input) if item is not None else None
        self.picture.setVisible(picture is not None)
        if picture is not None:
            self.picture.setPixmap(thumbnails.thumbnail(picture, *PICTURE, radius=3))

    def _recolour(self) -> None:
        if self._shown is None or self._shown[0].number is None:
            return
        colour: QColor = theme().input(self._shown[0].number)
        ground = theme().tint(colour, 0.22)
        restyle(self.letter, f"background: {ground.name()}; color: {colour.name()}; border-radius: 4px;")
        restyle(self.dot, f"background: {colour.name()}; border-radius: 4px;")
