"""Name, the channel's number and the layer's number, one row a statistic."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel

from hookviewer.gui import parts
from hookviewer.gui.theme import scaled

ROW = 21


class StatTable(QFrame):
    """A few rows of numbers, right aligned, each of which can be selected and copied."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Statistics"))
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(0, 1)
        for place, head in enumerate((self.tr("channel"), self.tr("layer")), 1):
            self._grid.setColumnMinimumWidth(place, scaled(78))
            self._grid.addWidget(_aligned(parts.label(head, "caption", 11)), 0, place)
        self._grid.addWidget(parts.rule(), 1, 0, 1, 3)
        self._labels: list[tuple[QLabel, QLabel, QLabel]] = []
        self.rows: Sequence[tuple[str, str, str]] = ()

    def show_rows(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Show other numbers."""
        self.rows = tuple(rows)
        while len(self._labels) < len(rows):
            self._add_row()
        for place, labels in enumerate(self._labels):
            texts = rows[place] if place < len(rows) else ("", "", "")
            for one, text in zip(labels, texts, strict=True):
                one.setText(text)
                one.setVisible(place < len(rows))

    def wait(self) -> None:
        """Show no numbers until there are others."""
        self.show_rows([(name, "", "") for name, _, _ in self.rows])

    def csv(self) -> str:
        """Return the table as comma-separated values."""
        lines = [("statistic", "channel", "layer"), *self.rows]
        return "".join(
            ",".join(f'"{cell}"' if "," in cell else cell for cell in line) + "\n" for line in lines
        )

    def _add_row(self) -> None:
        labels = (
            parts.label("", "second"),
            _aligned(parts.label("", "", 12, mono=True)),
            _aligned(parts.label("", "second", 12, mono=True)),
        )
        for column, one in enumerate(labels):
            one.setFixedHeight(scaled(ROW))
            self._grid.addWidget(one, len(self._labels) + 2, column)
        self._labels.append(labels)


def _aligned(label: QLabel) -> QLabel:
    label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
