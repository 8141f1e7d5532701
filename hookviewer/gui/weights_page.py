"""The page that lists how a file of weights differs from the model, and lets a person decide."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget

from hookviewer.gui import numbers
from hookviewer.gui.parts import Segmented, button, column, label, row, tool
from hookviewer.gui.theme import SEMIBOLD, font, scaled, theme
from hookviewer.sources import Match, WeightsMismatch
from hookviewer.sources.wording import shown

Index = QModelIndex | QPersistentModelIndex
WIDTH, HEIGHT, ROW = 760, 330, 24
KINDS = ("missing", "unexpected", "mismatched", "renamed")
NONE = "–"
"""Stands where a file or a model has no such tensor."""
_NONE = QModelIndex()
_TONES = {"missing": "warn", "unexpected": "text_2", "mismatched": "error", "renamed": "text_3"}


@dataclasses.dataclass(frozen=True)
class Difference:
    """One line: a kind of `KINDS`, the name, and what the file and the model say."""

    kind: str
    name: str
    in_file: str = ""
    in_model: str = ""


def differences(match: Match) -> tuple[Difference, ...]:
    """Return every difference, the gravest first."""
    return tuple(_differences(match))


def _differences(match: Match) -> Iterator[Difference]:
    for name, there, here in match.mismatched:
        yield Difference("mismatched", name, numbers.shape(there), numbers.shape(here))
    for name in match.missing:
        yield Difference("missing", name, NONE, _shape_in(match.in_model, name))
    for name in match.unexpected:
        yield Difference("unexpected", name, _shape_in(match.in_file, name), NONE)
    for old, new in match.renamed.items():
        yield Difference("renamed", new, old, new)


def _shape_in(shapes: Mapping[str, tuple[int, ...]], name: str) -> str:
    return numbers.shape(shapes[name]) if name in shapes else ""


class DifferenceModel(QAbstractTableModel):
    """The differences as a table; `show_kind` leaves only one kind of them."""

    def __init__(self, found: tuple[Difference, ...], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all = self.rows = found
        self._titles = (
            self.tr("Difference"),
            self.tr("Name"),
            self.tr("In the file"),
            self.tr("In the model"),
        )
        self._words = {
            "missing": self.tr("not in the file"),
            "unexpected": self.tr("not in the model"),
            "mismatched": self.tr("another shape"),
            "renamed": self.tr("found under another name"),
        }

    def show_kind(self, kind: str) -> None:
        """Show one kind of difference only; `""` shows all."""
        self.beginResetModel()
        self.rows = tuple(one for one in self._all if kind in ("", one.kind))
        self.endResetModel()

    def rowCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self._titles)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        one = self.rows[index.row()]
        cells = (self._words[one.kind], one.name, one.in_file, one.in_model)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return shown(cells[index.column()], 300)
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 0:
            return theme()[_TONES[one.kind]]
        if role == Qt.ItemDataRole.FontRole and index.column() > 0:
            return font("mono", 11)
        return None


class WeightsPage(QFrame):
    """Says how many tensors fit, lists the rest, and offers to load what fits."""

    allowed = Signal(object)
    """The words of `sources.match.ALLOWED` that a person has let pass."""
    closed = Signal()

    def __init__(self, question: WeightsMismatch, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("overlayPage")
        self.match = question.match
        self.head = label(
            self.tr("{} does not fit this model").format(shown(question.path.name, 80)),
            "",
            16,
            weight=SEMIBOLD,
        )
        fitting = len(self.match.fitting)
        of = fitting + len(self.match.missing) + len(self.match.mismatched)
        self.text = label(self._summary(fitting, of), "second")
        self.text.setWordWrap(True)
        self.rows = DifferenceModel(differences(self.match), self)
        self.kinds = Segmented(self._kind_names())
        self.table = self._made_table()
        self.go = button(self.tr("Load the {} that fit").format(fitting), "primary")
        self.go.setObjectName("weights_go")
        self.go.setEnabled(fitting > 0)
        self.cancel = button(self.tr("Cancel"))
        self._lay_out()
        self.kinds.changed.connect(lambda place: self.rows.show_kind(("", *self._there())[place]))
        self.go.clicked.connect(self._on_go)
        self.cancel.clicked.connect(self.closed)

    def _summary(self, fitting: int, of: int) -> str:
        if not fitting:
            return self.tr(
                "None of the model's {} tensors is in it: it was saved from another network."
            ).format(of)
        return self.tr(
            "{} of the model's {} tensors are in it. The others would keep their initial values."
        ).format(fitting, of)

    def _there(self) -> list[str]:
        return [kind for kind in KINDS if any(one.kind == kind for one in differences(self.match))]

    def _kind_names(self) -> list[str]:
        names = {
            "missing": self.tr("Missing {}"),
            "unexpected": self.tr("Unexpected {}"),
            "mismatched": self.tr("Other shape {}"),
            "renamed": self.tr("Renamed {}"),
        }
        found = differences(self.match)
        counts = {kind: sum(one.kind == kind for one in found) for kind in self._there()}
        return [
            self.tr("All {}").format(len(found)),
            *(names[kind].format(count) for kind, count in counts.items()),
        ]

    def _made_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("weights_table")
        table.setAccessibleName(self.tr("Differences"))
        table.setModel(self.rows)
        table.setFont(font("ui", 11))
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(scaled(ROW))
        head = table.horizontalHeader()
        head.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.Interactive)
        head.resizeSection(1, scaled(280))
        head.setHighlightSections(False)
        table.setMinimumSize(scaled(WIDTH), scaled(HEIGHT))
        return table

    def _lay_out(self) -> None:
        cross = tool("x", self.tr("Close") + "  Esc")
        cross.clicked.connect(self.closed)
        self.setLayout(
            column(
                *(row(self.head, None, cross), 4, self.text, 14, row(self.kinds, None), 8, self.table, 16),
                row(None, self.cancel, self.go, spacing=8),
                margins=(24, 18, 24, 20),
            )
        )

    def _on_go(self) -> None:
        self.allowed.emit(self.match.trouble())
        self.closed.emit()
