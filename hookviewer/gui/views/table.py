"""Any array as a table of its last two axes, with a slider for every other axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont, QImage, QPainter
from PySide6.QtWidgets import QFrame, QLabel, QSlider, QTableView, QWidget

from hookviewer.gui import parts
from hookviewer.gui.numbers import shape
from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import font, scaled, theme
from hookviewer.gui.views.view import Sheet, View
from hookviewer.gui.wall import marks
from hookviewer.gui.wall.words import tr, written

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()


class ArrayModel(QAbstractTableModel):
    """A two-dimensional array as Qt wants to see it; nothing is copied or written out beforehand."""

    def __init__(self, values: npt.NDArray[Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = values
        self._face: QFont = font("mono", 11)

    def show_values(self, values: npt.NDArray[Any]) -> None:
        """Show another array [rows, columns]."""
        self.beginResetModel()
        self._values = values
        self.endResetModel()

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else self._values.shape[0]

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else self._values.shape[1]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        value = self._values[index.row(), index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return written(value)
        if role == Qt.ItemDataRole.ToolTipRole:
            return repr(value.item())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.FontRole:
            return self._face
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        return str(section) if role == Qt.ItemDataRole.DisplayRole else None


class Table(View):
    """Every value as a number."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self._values: npt.NDArray[Any] = np.zeros((0, 0))
        self._model = ArrayModel(self._values)
        self._table = QTableView()
        self._table.setModel(self._model)
        self._table.setAccessibleName(tr("Values"))
        self._table.setAlternatingRowColors(False)
        self._table.horizontalHeader().setDefaultSectionSize(scaled(78))
        self._table.verticalHeader().setDefaultSectionSize(scaled(21))
        self._caption = QLabel()
        self._caption.setFont(font("ui", 11))
        self._caption.setProperty("role", "caption")
        self._sliders: list[tuple[QSlider, QLabel]] = []
        self._axes = parts.row(spacing=8)
        self._frame = QFrame(host)
        layout = parts.column(self._caption, self._axes, self._table, spacing=6, margins=(10, 8, 10, 4))
        self._frame.setLayout(layout)
        self._table.clicked.connect(self._on_clicked)

    @classmethod
    def suits(cls, sheet: Sheet) -> int:
        return 10 if sheet.drawn.layout == "table" else 0

    def show(self, sheet: Sheet) -> None:
        maps, record = sheet.column.maps, sheet.column.record
        there = maps is not None and maps.values.size > 0
        if there and maps is not None:
            values = record.array() if record is not None and record.kept is not None else maps.values
            self._show_values(np.atleast_1d(values))
        self._frame.setVisible(there)
        self.resized()
        super().show(sheet)

    def paint(self, painter: QPainter) -> None:
        painter.fillRect(self.area, theme()["canvas"])
        if self.sheet is None:
            return
        column = self.sheet.column
        if column.maps is None:
            say = marks.notice if column.waiting else marks.sentence
            say(painter, self.area, column.reason)
        elif not column.maps.values.size:
            sizes = shape(column.record.shape) if column.record is not None else "0"
            marks.sentence(painter, self.area, tr("The tensor is empty: its shape is {}.").format(sizes))

    def image(self) -> QImage:
        return self.host.grab().toImage()

    def stepped(self, at: Pointed, across: int, down: int) -> Pointed:
        return at

    def resized(self) -> None:
        self._frame.setGeometry(self.host.rect())

    def close(self) -> None:
        self._frame.setParent(None)
        self._frame.deleteLater()

    def _show_values(self, values: npt.NDArray[Any]) -> None:
        if values is self._values:
            return
        if values.shape != self._values.shape:
            self._make_sliders(values.shape[:-2])
        self._values = values
        self._caption.setText(f"{shape(values.shape)}, {values.dtype}")
        self._show_plane()

    def _make_sliders(self, sizes: tuple[int, ...]) -> None:
        while self._axes.count():
            item = self._axes.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.deleteLater()
        self._sliders = [self._slider(axis, size) for axis, size in enumerate(sizes)]

    def _slider(self, axis: int, size: int) -> tuple[QSlider, QLabel]:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(0, size - 1)
        slider.setAccessibleName(tr("Place on axis {}").format(axis))
        slider.setEnabled(size > 1)
        words = parts.label("", "second", 11, mono=True)
        slider.valueChanged.connect(self._show_plane)
        self._axes.addWidget(words)
        self._axes.addWidget(slider)
        return slider, words

    def _show_plane(self) -> None:
        values = self._values
        for axis, (slider, words) in enumerate(self._sliders):
            words.setText(tr("axis {}: {} of {}").format(axis, slider.value(), slider.maximum() + 1))
        place = tuple(slider.value() for slider, _ in self._sliders)
        plane = values[place] if place else values
        self._model.show_values(plane.reshape(1, -1) if plane.ndim == 1 else plane)

    def _on_clicked(self, index: QModelIndex) -> None:
        if self.sheet is None or self.sheet.column.maps is None:
            return
        row = 0
        for slider, _ in self._sliders:
            row = row * (slider.maximum() + 1) + slider.value()
        rows = self._model.rowCount()
        chosen = Pointed(0, (row * rows + index.row(), index.column()))
        self.tell_chosen(chosen)
