"""A dialog to choose one of many classes by name or number."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, QStringListModel, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QDialog, QLineEdit, QListView, QWidget

from hookviewer.gui.parts import button, column, label, row
from hookviewer.gui.theme import font


class ClassChooser(QDialog):
    """Type a part of a name or a number, choose with Enter or a double click."""

    chosen = Signal(int)

    def __init__(self, names: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Choose a class"))
        self.search = QLineEdit()
        self.search.setFont(font("ui", 12))
        self.search.setPlaceholderText(self.tr("Name or number"))
        self.search.setAccessibleName(self.tr("Search classes"))
        self._rows = QSortFilterProxyModel(self)
        self._rows.setSourceModel(QStringListModel([f"{k}   {name}" for k, name in enumerate(names)], self))
        self._rows.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.list = QListView()
        self.list.setObjectName("class_list")
        self.list.setModel(self._rows)
        self.list.setFont(font("ui", 12))
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._lay_out()
        self.search.textChanged.connect(self._on_search)
        self.search.returnPressed.connect(self.accept)
        self.list.doubleClicked.connect(self.accept)
        self._on_search("")
        self.resize(360, 440)

    def _lay_out(self) -> None:
        choose, cancel = button(self.tr("Use this class"), "primary"), button(self.tr("Cancel"))
        choose.clicked.connect(self.accept)
        cancel.clicked.connect(self.reject)
        head = label(self.tr("The gradient starts from the score of this class."), "second")
        buttons = row(None, cancel, choose, spacing=8)
        self.setLayout(column(head, 10, self.search, 8, self.list, 12, buttons, margins=(20, 18, 20, 18)))

    def _on_search(self, words: str) -> None:
        self._rows.setFilterFixedString(words.strip())
        self.list.setCurrentIndex(self._rows.index(0, 0))

    def accept(self) -> None:
        current: QModelIndex = self._rows.mapToSource(self.list.currentIndex())
        if current.isValid():
            self.chosen.emit(current.row())
        super().accept()
