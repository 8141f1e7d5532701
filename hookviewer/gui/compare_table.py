"""All channels of two columns as a table of numbers: a click on a head sorts, a row goes to its channel."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QCoreApplication,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from hookviewer.differences import MapDifferences
from hookviewer.gui import compare_rows
from hookviewer.gui.compare_rows import NUMBERS, written
from hookviewer.gui.guard import guarded
from hookviewer.gui.number_table import NumberTable, side_of
from hookviewer.gui.theme import font, scaled, theme

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
ROW, HEAD, AIR, NUMBER, CHANNEL = 22, 26, 8, 76, 96


class ChannelModel(QAbstractTableModel):
    """One row a channel, in the order in which they are shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.found: MapDifferences | None = None
        self.titles: tuple[str, ...] = ()
        self.order = np.arange(0)
        self._values: dict[str, np.ndarray[Any, Any]] = {}
        self._column, self._falling = 0, False

    def show_numbers(self, found: MapDifferences | None, titles: tuple[str, ...]) -> None:
        """Show other channels, sorted as before."""
        self.beginResetModel()
        self.found, self.titles = found, titles
        self._values = {} if found is None else compare_rows.columns_of(found)
        self.order = self._sorted()
        self.endResetModel()

    def name_of(self, channel: int) -> str:
        """Return what a channel is called."""
        return self.titles[channel] if channel < len(self.titles) else str(channel)

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(NUMBERS) + 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        channel = int(self.order[index.row()])
        if index.column() == 0:
            return self.name_of(channel)
        one = NUMBERS[index.column() - 1]
        value = float(self._values[one.name][channel])
        return repr(value) if role == Qt.ItemDataRole.ToolTipRole else written(one.name, value)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(side_of(left=not section))
        if role == Qt.ItemDataRole.ToolTipRole and section:
            return _tr(NUMBERS[section - 1].tip)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return _tr(NUMBERS[section - 1].head) if section else _tr("channel")

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.layoutAboutToBeChanged.emit()
        self._column, self._falling = max(column, 0), order == Qt.SortOrder.DescendingOrder
        self.order = self._sorted()
        self.layoutChanged.emit()

    def _sorted(self) -> np.ndarray[Any, Any]:
        if self.found is None:
            return np.arange(0)
        count = len(self.found.ssim)
        if self._column == 0:
            return np.arange(count)[::-1] if self._falling else np.arange(count)
        return compare_rows.order_of(self._values[NUMBERS[self._column - 1].name], falling=self._falling)


class ChannelTable(NumberTable):
    """The table; the row of the selected channel is marked."""

    channel_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.rows = ChannelModel()
        super().__init__(self.rows, ROW, HEAD, parent)
        self.setObjectName("channel_table")
        self.setAccessibleName(_tr("Differences of all channels"))
        self.channel = -1
        self.setItemDelegate(_Cells(self))
        heads = self.horizontalHeader()
        heads.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        heads.setMinimumSectionSize(scaled(NUMBER))
        heads.setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        self.clicked.connect(lambda index: self.channel_chosen.emit(int(self.rows.order[index.row()])))

    def mark(self, channel: int) -> None:
        """Mark the row of another channel and bring it into view."""
        self.channel = channel
        found = np.flatnonzero(self.rows.order == channel)
        if found.size:
            self.scrollTo(self.rows.index(int(found[0]), 0))
        self.viewport().update()

    def csv(self) -> str:
        """Return the rows as they are sorted, as comma-separated values with all digits."""
        rows = self.rows
        if rows.found is None:
            return ""
        return compare_rows.to_csv(rows.found, [int(one) for one in rows.order], rows.titles)

    @guarded
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and down go from channel to channel in the order of the table."""
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        found = np.flatnonzero(self.rows.order == self.channel)
        if step is None or not found.size:
            super().keyPressEvent(event)
            return
        place = min(max(int(found[0]) + step, 0), len(self.rows.order) - 1)
        self.channel_chosen.emit(int(self.rows.order[place]))


class _Cells(QStyledItemDelegate):
    def __init__(self, table: ChannelTable) -> None:
        super().__init__(table)
        self._table = table

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colours, box = theme(), QRect(option.rect)
        here = int(self._table.rows.order[index.row()]) == self._table.channel
        ground = "select" if here else "sunken" if index.row() % 2 else "panel"
        painter.save()
        painter.fillRect(box, colours[ground])
        if here and index.column() == 0:
            painter.fillRect(box.left(), box.top() + 3, 3, box.height() - 6, colours["accent"])
        painter.setFont(font("mono", 11))
        painter.setPen(colours["text" if here or index.column() == 0 else "text_2"])
        painter.drawText(box.adjusted(AIR, 0, -AIR, 0), side_of(left=not index.column()), index.data())
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(scaled(NUMBER if index.column() else CHANNEL), scaled(ROW))


def _tr(text: str) -> str:
    return QCoreApplication.translate("Compared", text)
