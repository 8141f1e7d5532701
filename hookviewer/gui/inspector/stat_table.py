"""Names and numbers, one row a statistic, one column a tensor that it is of."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel

from hookviewer.gui import parts
from hookviewer.gui.giving_way import Elided
from hookviewer.gui.theme import scaled

ROW = 21
Row = tuple[str, ...]


class StatTable(QFrame):
    """A few rows of numbers, right aligned, each of which can be selected and copied.

    A column is at least `least` pixels wide, by itself as wide as most numbers are.
    """

    def __init__(self, name: str, heads: Sequence[str] = (), *, least: int = 0) -> None:
        super().__init__()
        self._least = least
        self.setAccessibleName(name)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(0, 1)
        self._rule = parts.rule()
        self._head_labels: list[QLabel] = []
        self._labels: list[list[QLabel]] = []
        self.heads: Sequence[str] = ()
        self.rows: Sequence[Row] = ()
        self.show_heads(heads)

    def show_heads(self, heads: Sequence[str]) -> None:
        """Show other columns."""
        self.heads = tuple(heads)
        while len(self._head_labels) < len(heads):
            made = _aligned(parts.label("", "caption", 11))
            self._head_labels.append(made)
            self._grid.addWidget(made, 0, len(self._head_labels))
        for place, one in enumerate(self._head_labels):
            one.setText(heads[place] if place < len(heads) else "")
            one.setVisible(place < len(heads))
            wide = scaled(self._least or (66 if len(heads) < 3 else 62)) if place < len(heads) else 0
            self._grid.setColumnMinimumWidth(place + 1, wide)
        self._grid.addWidget(self._rule, 1, 0, 1, max(len(heads), 1) + 1)

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show other numbers: the name of a statistic, then one number for every head."""
        self.rows = tuple(rows)
        while len(self._labels) < len(rows):
            self._labels.append([self._label(len(self._labels), 0)])
        for place, labels in enumerate(self._labels):
            texts = rows[place] if place < len(rows) else ()
            while len(labels) < len(texts):
                labels.append(self._label(place, len(labels)))
            for column, one in enumerate(labels):
                text = texts[column] if column < len(texts) else ""
                if isinstance(one, Elided):
                    one.say(text)
                else:
                    one.setText(text)
                one.setVisible(column < len(texts))

    def wait(self) -> None:
        """Show no numbers until there are others."""
        self.show_rows([(row[0], *("" for _ in row[1:])) for row in self.rows])

    def csv(self) -> str:
        """Return the table as comma-separated values."""
        lines = [("statistic", *self.heads), *self.rows]
        return "".join(",".join(_quoted(cell) for cell in line) + "\n" for line in lines)

    def _label(self, row: int, column: int) -> QLabel:
        if column == 0:
            made: QLabel = Elided(role="second")  # a long name gives way, a number never
        else:
            made = _aligned(parts.label("", "" if column == 1 else "second", 12, mono=True))
        made.setFixedHeight(scaled(ROW))
        self._grid.addWidget(made, row + 2, column)
        return made


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if "," in cell or '"' in cell else cell


def _aligned(label: QLabel) -> QLabel:
    label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
