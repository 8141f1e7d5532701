"""The module tree as Qt's item model: names, types, shapes, calls and ticks, read from the session."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from hookviewer.gui import numbers
from hookviewer.gui.call_order import Row, in_order
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
from hookviewer.gui.state import Run
from hookviewer.modules import ModuleNode
from hookviewer.recording import Recording

Index = QModelIndex | QPersistentModelIndex
PATH = Qt.ItemDataRole.UserRole
NODE = Qt.ItemDataRole.UserRole + 1
FACTS = Qt.ItemDataRole.UserRole + 2
CALL = Qt.ItemDataRole.UserRole + 3
FAMILY = Qt.ItemDataRole.UserRole + 4

NAME, TYPE, OUTPUT, PARAMETERS, CALLS, SIZE = range(6)
COLUMN_COUNT = 6
MOST_TOLD = 12
"""Modules above which the whole tree is painted anew."""
_NONE = QModelIndex()


class ModuleModel(QAbstractItemModel):
    """The modules of the session's model; ticking a row changes the session's plan.

    They are shown as they are built, or as one list of calls in order of execution.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._tree: ModuleNode | None = None
        self._by_order = False
        self._seen: tuple[ModuleNode | None, Recording | None] = (None, None)
        self._listed: tuple[Row, ...] = ()
        self._found: tuple[Row, ...] = ()
        self._calls: list[int | None] = []
        """Which call a row stands for; None for a module as such."""
        self._nodes: list[ModuleNode] = []
        self._parents: list[int] = []
        self._children: list[list[int]] = []
        self._places: list[int] = []
        self._rows: dict[str, int] = {}
        self._rows_of_calls: dict[tuple[str, int | None], int] = {}
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
        self._nodes, self._parents, self._children, self._places, self._calls = [], [], [], [], []
        self._rows, self._rows_of_calls, self._facts = {}, {}, {}
        self._tree, self._listed = self._session.calls.tree, self._in_order()
        if self._tree is not None and self._by_order:
            root = self._add(Row(self._tree), -1, 0)
            self._children[root] = [self._add(one, root, place) for place, one in enumerate(self._listed)]
        elif self._tree is not None:
            self._enter(self._tree, -1, 0)
        self._above = parents_of(self._session.plan.paths)
        self.endResetModel()

    def show_order(self, on: bool) -> None:
        """Show one list of all calls in order of execution, or the modules as they are built."""
        self._by_order = on
        self.read_tree()

    @property
    def by_order(self) -> bool:
        """Whether it is one list of all calls."""
        return self._by_order

    @property
    def outdated(self) -> bool:
        """Whether a run has found other rows than those that are shown."""
        if self._session.calls.tree is not self._tree:
            return True
        return self._by_order and self._in_order() != self._listed

    def _in_order(self) -> tuple[Row, ...]:
        """Return the calls that the run of the current input made; none where they are not listed."""
        tree, run = self._session.calls.tree, self._run
        if tree is None or not self._by_order:
            return ()
        seen = (tree, run.recording if run is not None else None)
        if any(one is not other for one, other in zip(seen, self._seen, strict=True)):
            self._seen, self._found = seen, in_order(*seen)
        return self._found

    @property
    def _run(self) -> Run | None:
        current = self._session.current_input
        return telling_run(self._session.runs, current.number if current is not None else None)

    def read_ticks(self) -> None:
        """Show the session's ticks."""
        self._above = parents_of(self._session.plan.paths)
        self._tell_all()

    def read_runs(self) -> None:
        """Show what the runs say about the modules."""
        current = self._session.current_input
        number = current.number if current else None
        facts = facts_of(self._run)
        facts |= failure_of(self._session.runs.get(number) if number is not None else None, facts)
        before, self._facts = self._facts, facts
        every = facts.keys() | before.keys()
        self._tell({path for path in every if facts.get(path) != before.get(path)})

    def _enter(self, node: ModuleNode, parent: int, place: int) -> int:
        number = self._add(Row(node), parent, place)
        self._children[number] = [self._enter(child, number, at) for at, child in enumerate(node.children)]
        return number

    def _add(self, row: Row, parent: int, place: int) -> int:
        number = len(self._nodes)
        self._nodes.append(row.node)
        self._calls.append(row.call)
        self._parents.append(parent)
        self._places.append(place)
        self._children.append([])
        self._rows.setdefault(row.node.path, number)
        self._rows_of_calls[row.node.path, row.call] = number
        return number

    def _tell(self, changed: set[str]) -> None:
        """Say which cells are others now: one by one, as a range has the whole tree painted anew."""
        if len(changed) > MOST_TOLD:
            self._tell_all()
            return
        for number, node in enumerate(self._nodes if changed else ()):
            if (node.alias_of or node.path) in changed:
                for column in range(COLUMN_COUNT):
                    cell = self._index(number, column)
                    self.dataChanged.emit(cell, cell)

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

    def index_of(self, path: str, call: int | None = None) -> QModelIndex:
        """Return the index of a path's row, of that of a call where there is one; else an invalid one."""
        number = self._rows_of_calls.get((path, call), self._rows.get(path))
        return QModelIndex() if number is None else self._index(number, 0)

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

    def _facts_in(self, number: int) -> Facts:
        return self.facts(self._nodes[number]).of_call(self._calls[number])

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
        number = index.internalId()
        node = self._nodes[number]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(number, index.column())
        if role == Qt.ItemDataRole.CheckStateRole:
            return self._check_state(node) if index.column() == 0 else None
        return self._extra(number, role)

    def _extra(self, number: int, role: int) -> Any:
        node = self._nodes[number]
        if role == PATH:
            return node.path
        if role == NODE:
            return node
        if role == FACTS:
            return self._facts_in(number)
        if role == FAMILY:
            return family_of(node)
        if role == CALL:
            return self._calls[number]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(node, self._facts_in(number))
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

    def _text(self, number: int, column: int) -> str:
        node, facts = self._nodes[number], self._facts_in(number)
        if column == NAME:
            return (node.path if self._by_order else node.name) or self.tr("model")
        if column == TYPE:
            return node.type
        if column == OUTPUT:
            return shape_words(facts.outputs)
        if column == PARAMETERS:
            return numbers.count(node.parameters) if node.parameters else ""
        if column == CALLS:
            call = self._calls[number]
            if call is not None and facts.calls > 1:
                return f"{call + 1}/{facts.calls}"
            return str(facts.calls) if facts.calls else ""
        return numbers.number(facts.mean_abs) if facts.mean_abs is not None else ""
