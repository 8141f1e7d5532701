"""The module tree as Qt's item model: names, types, shapes, calls and ticks, read from the session."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from hookviewer.gui import numbers
from hookviewer.gui.module_facts import (
    UNKNOWN,
    Facts,
    facts_of,
    failure_of,
    family_of,
    parents_of,
    telling_run,
)
from hookviewer.gui.module_words import shape_words, tooltip
from hookviewer.gui.session import Session
from hookviewer.modules import ModuleNode

Index = QModelIndex | QPersistentModelIndex
PATH = Qt.ItemDataRole.UserRole
NODE = Qt.ItemDataRole.UserRole + 1
FACTS = Qt.ItemDataRole.UserRole + 2
ORDER = Qt.ItemDataRole.UserRole + 3
FAMILY = Qt.ItemDataRole.UserRole + 4

NAME, TYPE, OUTPUT, PARAMETERS, CALLS, SIZE = range(6)
COLUMN_COUNT = 6
_NONE = QModelIndex()


class ModuleModel(QAbstractItemModel):
    """The modules of the session's model; ticking a row changes the session's plan."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._tree: ModuleNode | None = None
        self._nodes: list[ModuleNode] = []
        self._parents: list[int] = []
        self._children: list[list[int]] = []
        self._places: list[int] = []
        self._rows: dict[str, int] = {}
        self._facts: dict[str, Facts] = {}
        self._above: frozenset[str] = frozenset()
        self._headers = (
            self.tr("Module"),
            self.tr("Type"),
            self.tr("Output"),
            self.tr("Params"),
            self.tr("Calls"),
            "|a|",
        )
        session.model_changed.connect(self.read_tree)
        session.plan_changed.connect(self.read_ticks)
        session.editing.changed.connect(self._tell_all)
        self.read_tree()

    # -- reading the session -------------------------------------------------------------------------------

    def read_tree(self) -> None:
        """Show the session's model."""
        self.beginResetModel()
        self._nodes, self._parents, self._children, self._places, self._rows = [], [], [], [], {}
        self._facts = {}
        self._tree = self._session.calls.tree
        if self._tree is not None:
            self._enter(self._tree, -1, 0)
        self._above = parents_of(self._session.plan.paths)
        self.endResetModel()

    @property
    def outdated(self) -> bool:
        """Whether a run has found other rows than those that are shown."""
        return self._session.calls.tree is not self._tree

    def read_ticks(self) -> None:
        """Show the session's ticks."""
        self._above = parents_of(self._session.plan.paths)
        self._tell_all()

    def read_runs(self) -> None:
        """Show what the runs say about the modules."""
        current = self._session.current_input
        number = current.number if current else None
        facts = facts_of(telling_run(self._session.runs, number))
        facts |= failure_of(self._session.runs.get(number) if number is not None else None, facts)
        if facts != self._facts:
            self._facts = facts
            self._tell_all()

    def _enter(self, node: ModuleNode, parent: int, place: int) -> int:
        number = len(self._nodes)
        self._nodes.append(node)
        self._parents.append(parent)
        self._places.append(place)
        self._children.append([])
        self._rows.setdefault(node.path, number)
        self._children[number] = [self._enter(child, number, at) for at, child in enumerate(node.children)]
        return number

    def _tell_all(self) -> None:
        for number, children in enumerate(self._children):
            if children:
                parent = self._index(number, 0)
                self.dataChanged.emit(
                    self.index(0, 0, parent), self.index(len(children) - 1, COLUMN_COUNT - 1, parent)
                )
        if self._nodes:
            self.dataChanged.emit(self.index(0, 0), self.index(0, COLUMN_COUNT - 1))

    def _index(self, number: int, column: int) -> QModelIndex:
        return self.createIndex(self._places[number], column, number)

    def index_of(self, path: str) -> QModelIndex:
        """Return the index of a path's row; an invalid one where there is none."""
        return self._index(self._rows[path], 0) if path in self._rows else QModelIndex()

    @property
    def parents(self) -> tuple[str, ...]:
        """The paths of the rows that have rows below them."""
        return tuple(
            node.path for node, children in zip(self._nodes, self._children, strict=True) if children
        )

    @property
    def known(self) -> Mapping[str, Facts]:
        """What the runs say, by canonical path."""
        return self._facts

    def facts(self, node: ModuleNode) -> Facts:
        """Return what the runs say about a module."""
        path = node.alias_of or node.path
        facts = self._facts.get(path, UNKNOWN)
        return dataclasses.replace(facts, edited=True) if path in self._session.editing.paths else facts

    # -- Qt's questions ------------------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = _NONE) -> QModelIndex:
        if row < 0 or not 0 <= column < COLUMN_COUNT or row >= self.rowCount(parent):
            return QModelIndex()
        number = self._children[parent.internalId()][row] if parent.isValid() else 0
        return self.createIndex(row, column, number)

    def parent(self, child: Index = _NONE) -> QModelIndex:  # type: ignore[override]
        if not child.isValid() or child.internalId() >= len(self._nodes):
            return QModelIndex()
        number = self._parents[child.internalId()]
        return self._index(number, 0) if number >= 0 else QModelIndex()

    def rowCount(self, parent: Index = _NONE) -> int:
        if not parent.isValid():
            return 1 if self._nodes else 0
        if parent.column() != 0 or parent.internalId() >= len(self._nodes):
            return 0
        return len(self._children[parent.internalId()])

    def columnCount(self, parent: Index = _NONE) -> int:
        return COLUMN_COUNT

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.column() == 0 else flags

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < COLUMN_COUNT:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headers[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = section in (OUTPUT, PARAMETERS, CALLS)
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.internalId() >= len(self._nodes):
            return None
        node = self._nodes[index.internalId()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(node, index.column())
        if role == Qt.ItemDataRole.CheckStateRole:
            return self._check_state(node) if index.column() == 0 else None
        return self._extra(node, role)

    def _extra(self, node: ModuleNode, role: int) -> Any:
        if role == PATH:
            return node.path
        if role == NODE:
            return node
        if role == FACTS:
            return self.facts(node)
        if role == FAMILY:
            return family_of(node)
        if role == ORDER:
            order = self.facts(node).order
            return 1 << 30 if order is None else order
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(node, self.facts(node))
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid() or index.column() != 0:
            return False
        node = self._nodes[index.internalId()]
        self._session.tick([node.alias_of or node.path], Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def _check_state(self, node: ModuleNode) -> Qt.CheckState:
        if (node.alias_of or node.path) in self._session.plan.paths:
            return Qt.CheckState.Checked
        partly = node.path in self._above
        return Qt.CheckState.PartiallyChecked if partly else Qt.CheckState.Unchecked

    def _text(self, node: ModuleNode, column: int) -> str:
        facts = self.facts(node)
        if column == NAME:
            return node.name or self.tr("model")
        if column == TYPE:
            return node.type
        if column == OUTPUT:
            return shape_words(facts.outputs)
        if column == PARAMETERS:
            return numbers.count(node.parameters) if node.parameters else ""
        if column == CALLS:
            return str(facts.calls) if facts.calls else ""
        return numbers.number(facts.mean_abs) if facts.mean_abs is not None else ""
