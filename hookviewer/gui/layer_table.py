"""The statistics of all layers as a table: a click on a head sorts it, a click on a row goes to the layer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from hookviewer.gui import layer_rows
from hookviewer.gui.guard import guarded
from hookviewer.gui.layer_rows import COUNTS, NAMES, LayerRow
from hookviewer.gui.number_table import NumberTable, side_of
from hookviewer.gui.numbers import number
from hookviewer.gui.theme import font, scaled, theme

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
ROW, HEAD, AIR, NUMBER, LAYER, INPUT = 21, 24, 6, 76, 190, 96
FIRST = 2
"""How many columns stand before the numbers: the layer and the input."""


class LayerModel(QAbstractTableModel):
    """Rows in the order in which they are shown; nothing is written out before it is looked at."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[LayerRow] = []
        self._column, self._order = -1, Qt.SortOrder.AscendingOrder
        self._heads = (
            *(self.tr("Layer"), self.tr("Input"), self.tr("mean"), self.tr("std"), self.tr("min")),
            *(self.tr("max"), self.tr("zeros %"), "NaN", self.tr("inf"), "L2", self.tr("|grad|")),
            self.tr("|grad| of param."),
        )

    def show_rows(self, rows: Sequence[LayerRow]) -> None:
        """Show other rows, sorted as before."""
        if len(rows) == len(self.rows) and self._column < 0:
            self.rows = list(rows)
            if rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(self._heads) - 1))
            return
        self.beginResetModel()
        self.rows = self._sorted(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._heads)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        row, column = self.rows[index.row()], index.column()
        if column < FIRST:
            return row.name if column else row.path
        if role == Qt.ItemDataRole.ToolTipRole:
            return repr(row.values[column - FIRST])
        return written(NAMES[column - FIRST], row.values[column - FIRST])

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(side_of(left=section < FIRST))
        return self._heads[section] if role == Qt.ItemDataRole.DisplayRole else None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.layoutAboutToBeChanged.emit()
        self._column, self._order = column, order
        self.rows = self._sorted(self.rows)
        self.layoutChanged.emit()

    def _sorted(self, rows: Sequence[LayerRow]) -> list[LayerRow]:
        """Return rows by the values of a column; rows without a number come last either way."""
        falling = self._order == Qt.SortOrder.DescendingOrder
        if self._column < 0:
            return list(rows)
        if self._column == 0:  # layers stand in the order of the run, not of the alphabet
            return sorted(rows, key=lambda row: row.place, reverse=falling)
        if self._column == 1:
            return sorted(rows, key=lambda row: row.number, reverse=falling)
        at = self._column - FIRST
        numbers = [row for row in rows if not math.isnan(row.values[at])]
        rest = [row for row in rows if math.isnan(row.values[at])]
        return [*sorted(numbers, key=lambda row: row.values[at], reverse=falling), *rest]


def written(name: str, value: float) -> str:
    """Return a number as a cell shows it; a dash where there is none."""
    if math.isnan(value):
        return "–"
    return str(int(value)) if name in COUNTS else f"{value:.1f}" if name == "zeros" else number(value)


class LayerTable(NumberTable):
    """All layers × inputs; the row of the layer that is looked at is marked."""

    row_clicked = Signal(str, int)
    """A layer, and the number of an input."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.rows = LayerModel()
        super().__init__(self.rows, ROW, HEAD, parent)
        self.setObjectName("layer_table")
        self.setAccessibleName(self.tr("Statistics of all layers"))
        self.path, self.number = "", 0
        self.setItemDelegate(_Cells(self))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._set_heads()
        self.clicked.connect(self._on_clicked)

    def show_rows(self, rows: Sequence[LayerRow], path: str, number: int) -> None:
        """Show other rows."""
        self.rows.show_rows(rows)
        at = NAMES.index("param_grad")
        self.setColumnHidden(at + FIRST, all(math.isnan(row.values[at]) for row in rows))
        self.mark(path, number)

    def mark(self, path: str, number: int) -> None:
        """Mark the rows of another layer, and bring the one of an input into view."""
        self.path, self.number = path, number
        self._bring_into_view()
        self.viewport().update()

    def _bring_into_view(self) -> None:
        path, number = self.path, self.number
        here = [place for place, row in enumerate(self.rows.rows) if row.path == path]
        own = [place for place in here if self.rows.rows[place].number == number]
        if here:
            self.scrollTo(self.rows.index((own or here)[0], 0))

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._bring_into_view()  # before it is first shown there is no room to scroll in

    def csv(self) -> str:
        """Return the rows as they are sorted, as comma-separated values."""
        return layer_rows.to_csv(self.rows.rows)

    def _set_heads(self) -> None:
        heads = self.horizontalHeader()
        heads.setDefaultSectionSize(scaled(NUMBER))
        heads.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        heads.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)
        self.rows.sort(-1)
        for column, wide in ((0, LAYER), (1, INPUT), (7, 52), (8, 52), (len(NAMES) + 1, 118)):
            self.setColumnWidth(column, scaled(wide))
        for place, name in enumerate(("nan", "inf"), FIRST):  # what is looked for first needs no scrolling
            heads.moveSection(heads.visualIndex(NAMES.index(name) + FIRST), place)

    def _on_clicked(self, index: QModelIndex) -> None:
        row = self.rows.rows[index.row()]
        self.row_clicked.emit(row.path, row.number)


class _Cells(QStyledItemDelegate):
    """Paints names and numbers; a dot in the colour of the input stands before its name."""

    def __init__(self, table: LayerTable) -> None:
        super().__init__(table)
        self._table = table

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row, column, box = self._table.rows.rows[index.row()], index.column(), QRect(option.rect)
        painter.save()
        painter.fillRect(box, self._ground(row, index.row()))
        if row.path == self._table.path and column == 0:
            painter.fillRect(box.left(), box.top() + 3, 3, box.height() - 6, theme()["accent"])
        painter.setFont(font("ui" if column == 1 else "mono", 11))
        painter.setPen(self._ink(row, column))
        inside = box.adjusted(AIR + (12 if column == 1 else 2), 0, -AIR, 0)
        text = QFontMetrics(painter.font()).elidedText(str(index.data()), _elision(column), inside.width())
        painter.drawText(inside, side_of(left=column < FIRST), text)
        if column == 1:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().input(row.number))
            painter.drawEllipse(box.left() + AIR, box.center().y() - 3, 7, 7)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(scaled(NUMBER), scaled(ROW))

    def _ground(self, row: LayerRow, place: int) -> QColor:
        if row.path == self._table.path:
            return theme()["select"]
        return theme()["sunken" if place % 2 else "panel"]

    def _ink(self, row: LayerRow, column: int) -> QColor:
        if row.bad and column - FIRST in (NAMES.index("nan"), NAMES.index("inf")):
            return theme()["error"]
        here = row.path == self._table.path and row.number == self._table.number
        return theme()["text" if column == 0 or here else "text_2"]


def _elision(column: int) -> Qt.TextElideMode:
    """A layer's name gives way at its start: its end says more."""
    return Qt.TextElideMode.ElideLeft if column == 0 else Qt.TextElideMode.ElideRight
