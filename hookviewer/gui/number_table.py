"""What tables of numbers have in common: flat rows of one height that sort by a click on a head."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget

from hookviewer.gui.theme import font, keeper, scaled


class NumberTable(QTableView):
    """A table without grid and selection; rows and heads are so many pixels high."""

    def __init__(self, model: QAbstractItemModel, row: int, head: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        model.setParent(self)
        self.setModel(model)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(scaled(row))
        heads = self.horizontalHeader()
        heads.setHighlightSections(False)
        heads.setFixedHeight(scaled(head))
        heads.setFont(font("ui", 11))
        heads.setSectionsClickable(True)
        keeper().changed.connect(self.viewport().update)


def side_of(left: bool) -> Qt.AlignmentFlag:
    """Return how a cell and its head are aligned: words to the left, numbers to the right."""
    side = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
