"""The panel of modules: filter, tree, and what a run of the ticked ones costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from hookviewer.gui import numbers
from hookviewer.gui.call_links import call_named
from hookviewer.gui.call_nodes import CallNode
from hookviewer.gui.call_paths import above
from hookviewer.gui.edit_start import whole_layer
from hookviewer.gui.filter_field import FilterField
from hookviewer.gui.giving_way import Elided
from hookviewer.gui.module_facts import bytes_per_run, telling_run
from hookviewer.gui.module_filter import OVERWRITTEN, ModuleFilter
from hookviewer.gui.module_model import CALL, NAME, NODE, PATH, ModuleModel
from hookviewer.gui.module_tree import ModuleTree
from hookviewer.gui.panels import EmptyOr
from hookviewer.gui.parts import column, frame, row, rule, tool
from hookviewer.gui.session import Session
from hookviewer.gui.state import Progress
from hookviewer.gui.theme import scaled
from hookviewer.modules import ModuleNode

REFRESH_MS = 60
SMALL = 41
"""A model of so many modules, itself among them, is shown whole."""


class ModulePanel(QWidget):
    """Filter, tree and foot; the current row is the session's selection."""

    counted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.model = ModuleModel(session, self)
        self.rows = ModuleFilter(session, self)
        self.rows.setSourceModel(self.model)
        self.tree = ModuleTree(self.rows)
        self.filter = FilterField(
            self.tr("Filter: name, features.*, type:Conv2d"),
            self.tr("A part of the path, a glob on the whole path, type:Class, op:add or overwritten")
            + "  Ctrl+F",
            self.tr("Filter modules"),
        )
        self._found = EmptyOr(self.tree, "search", "")
        self._opened: frozenset[str] | None = None
        """What was open before rows were hidden; None while none are."""
        self.ticked_only = tool("list-checks", self.tr("Show ticked modules only"), checkable=True)
        self.by_order = tool(
            "list-ordered", self.tr("Order of execution: every call in one list"), checkable=True
        )
        self.calls = tool(
            "square-function", self.tr("Functional calls: +, F.relu, torch.cat …"), checkable=True
        )
        self.foot = Elided(role="caption", size=11)
        self._opened_in_tree: frozenset[str] | None = None
        """What is open of this model when its modules are shown as they are built."""
        self._hiding = False
        self._input: int | None = None
        self._empty = self._lay_out()
        self._later = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._connect()
        self._on_model_changed()

    def _lay_out(self) -> EmptyOr:
        foot = frame(row(self.foot, margins=(12, 0, 8, 0)))
        foot.setFixedHeight(scaled(26))
        switches = (self.ticked_only, self.by_order, self.calls)
        head = frame(row(self.filter, *switches, spacing=4, margins=(8, 0, 6, 8)))
        content = frame(column(head, self._found, rule(), foot))
        empty = EmptyOr(content, "layers", self.tr("The modules of a model appear here when one is open."))
        self.setLayout(column(empty))
        return empty

    def _connect(self) -> None:
        session = self._session
        self.filter.textChanged.connect(self._on_filter_changed)
        self.ticked_only.toggled.connect(self._on_ticked_only)
        self.by_order.toggled.connect(self._on_by_order)
        self.calls.toggled.connect(session.calls.set_on)
        session.calls_changed.connect(self._on_calls_changed)
        session.plan_changed.connect(self._read_tree)
        self.tree.ticked_below.connect(self.tick_below)
        self.tree.customContextMenuRequested.connect(self._on_menu_requested)
        self.tree.selectionModel().currentChanged.connect(self._on_current_changed)
        session.model_changed.connect(self._on_model_changed)
        session.plan_changed.connect(self._say_cost)
        session.settings_changed.connect(self._say_cost)
        session.selection_changed.connect(self._on_selection_changed)
        session.inputs_changed.connect(self._on_input_changed)
        session.runs_changed.connect(self._on_runs_changed)
        session.run_grew.connect(self._on_run_grew)
        session.run_progressed.connect(self._on_run_progressed)
        session.run_finished.connect(self._on_run_finished)
        self._later.timeout.connect(self._read_runs)

    # -- what the session says ------------------------------------------------------------------------------

    def _on_model_changed(self) -> None:
        self._opened = self._opened_in_tree = None
        self._empty.show_content(self._session.tree is not None)
        tree = self._session.tree
        count = sum(1 for node in tree.walk() if node.path) if tree is not None else 0
        self.counted.emit(str(count) if tree is not None else "")
        self._open_first()
        self._say_found()
        self._on_selection_changed()
        self._read_runs()

    def _open_first(self) -> None:
        """Open what is open of a model that has just come: all of a small one."""
        self.tree.expand(self.rows.index(0, 0))
        if self.rows.active or self._small:
            self.tree.expandAll()

    @property
    def _small(self) -> bool:
        tree = self._session.tree
        return tree is not None and sum(1 for _ in tree.walk()) <= SMALL

    def _on_run_grew(self, paths: frozenset[str]) -> None:
        if not self._later.isActive():
            self._later.start()

    def _on_runs_changed(self) -> None:
        if self._session.running:  # its end reads them
            self._on_run_grew(frozenset())
        else:
            self._read_runs()

    def _read_runs(self) -> None:
        self._later.stop()
        self._read_tree()
        self.model.read_runs()
        if self.rows.words == OVERWRITTEN:
            self.rows.invalidate()
        self._say_cost()

    def _on_calls_changed(self) -> None:
        self.calls.setChecked(self._session.calls.on)
        self._read_runs()

    def _read_tree(self) -> None:
        """Show the rows that a run has found; what was open stays open."""
        if not self.model.outdated:
            return
        opened, place = self._open_paths(), self.tree.verticalScrollBar().value()
        self._hiding = True
        self.model.read_tree()
        self.model.read_runs()
        self._open_only(opened)
        self.tree.setCurrentIndex(self._selected_row())
        self.tree.verticalScrollBar().setValue(place)
        self._hiding = False

    def _on_by_order(self, on: bool) -> None:
        """Show the calls in order of execution, or the tree as it was; what is selected stays in sight."""
        if on:
            self._opened_in_tree = self._open_paths()
        self._hiding = True
        self.model.show_order(on)
        self.model.read_runs()
        if on or self._opened_in_tree is None:
            self._open_first()
        else:
            self._open_only(self._opened_in_tree)
        self.reveal(self._session.selection.path)
        self.tree.setCurrentIndex(self._selected_row())
        self._hiding = False
        self._say_found()

    def _on_run_progressed(self, progress: Progress) -> None:
        self.tree.run_at(progress.path)

    def _on_run_finished(self) -> None:
        self.tree.run_at("")
        self._read_runs()
        current = self._session.current_input
        run = self._session.runs.get(current.number) if current is not None else None
        if run is not None and run.error is not None and run.error.path:
            self.reveal(run.error.path)

    def _on_input_changed(self) -> None:
        current = self._session.current_input
        number = current.number if current is not None else None
        if number != self._input:
            self._input = number
            self._read_runs()

    def _on_selection_changed(self) -> None:
        self._on_input_changed()
        index = self._selected_row()
        if not index.isValid() or index == self.tree.currentIndex().siblingAtColumn(NAME):
            return
        self.reveal(self._session.selection.path)
        self.tree.setCurrentIndex(index)

    def _on_current_changed(self, current: QModelIndex) -> None:
        index = current.siblingAtColumn(NAME)
        node, call = index.data(NODE), index.data(CALL)
        if self._hiding or node is None:  # rows that are hidden are not chosen otherwise by that
            return
        if call is not None:
            self._session.select(path=node.path, call=call)
        elif node.path != self._session.selection.path:
            self._session.select(path=node.alias_of or node.path)

    def reveal(self, path: str) -> None:
        """Open the parents of a row and scroll to it."""
        for parent in ("",) if self.model.by_order else above(path):
            self.tree.setExpanded(self._row(parent), True)
        selection = self._session.selection
        self.tree.scrollTo(self._selected_row() if path == selection.path else self._row(path))

    def _say_cost(self) -> None:
        session, tree = self._session, self._session.calls.tree
        if tree is None:
            return
        count = sum(1 for node in tree.walk() if node.path)
        run = telling_run(session.runs, session.selection.input)
        needed = bytes_per_run(session.plan, session.settings.target, run)
        ticked = self.tr("{} of {} ticked").format(len(session.plan.paths), count)
        self.foot.setProperty("role", "caption")
        if needed is None or not session.plan.paths:
            self._say(ticked, "caption")
        elif needed > session.settings.budget:
            self._say(self._warning(needed), "warn")
        else:
            gradients = session.settings.target.rule != "none" and session.plan.needs_target
            more = self.tr("with gradients") if gradients else self.tr("without gradients")
            cost = self.tr("{} per run").format(numbers.size(needed))
            self._say(f"{ticked}, {cost} {more}", "caption", f"{ticked}, {cost}")

    def _warning(self, needed: int) -> str:
        return self.tr("{} per run, over the limit of {}: what comes last keeps its numbers only").format(
            numbers.size(needed), numbers.size(self._session.settings.budget)
        )

    def _say(self, text: str, role: str, *shorter: str) -> None:
        self.foot.setProperty("role", role)
        self.foot.style().unpolish(self.foot)
        self.foot.style().polish(self.foot)
        self.foot.say(text, *shorter)

    # -- what the user asks ---------------------------------------------------------------------------------

    def _on_filter_changed(self, words: str) -> None:
        self._hide_rows(partial(self.rows.show_matching, words))

    def _on_ticked_only(self, on: bool) -> None:
        self._hide_rows(partial(self.rows.show_ticked, on))

    def _hide_rows(self, change: Callable[[], None]) -> None:
        """Show and hide rows; when all are there again, the tree is as it was and shows what is selected."""
        if not self.rows.active:
            self._opened = self._open_paths()
        self._hiding = True
        change()
        if self.rows.active or self._opened is None:
            self.tree.expandAll()
        else:
            self._open_only(self._opened)
        path = self._session.selection.path
        index = self._selected_row()
        self.tree.setCurrentIndex(index)
        if index.isValid():
            self.reveal(path)
        self._hiding = False
        self._say_found()

    def _open_paths(self) -> frozenset[str]:
        paths = self.model.parents
        return frozenset(path for path in paths if self.tree.isExpanded(self._row(path)))

    def _open_only(self, paths: frozenset[str]) -> None:
        self.tree.collapseAll()
        for path in paths:
            self.tree.setExpanded(self._row(path), True)

    def _row(self, path: str) -> QModelIndex:
        return self.rows.mapFromSource(self.model.index_of(path))

    def _selected_row(self) -> QModelIndex:
        selection = self._session.selection
        return self.rows.mapFromSource(self.model.index_of(selection.path, selection.call))

    def _say_found(self) -> None:
        words = self.tr("No module matches {}: Esc clears the filter.").format(self.rows.words)
        none = self.tr("No module is ticked: switch this list off to see all.")
        self._found.show_content(self.rows.rowCount() > 0, words if self.rows.words else none)

    def toggle_expanded(self) -> None:
        """Open the whole tree, or close it again."""
        first = self.rows.index(0, 0)
        opened = any(
            self.tree.isExpanded(self.rows.index(at, 0, first)) for at in range(self.rows.rowCount(first))
        )
        if opened:
            self.tree.collapseAll()
            self.tree.expand(first)
        else:
            self.tree.expandAll()

    def tick_below(self, node: ModuleNode, on: bool) -> None:
        """Tick or untick a module and all below it."""
        self._session.tick([one.alias_of or one.path for one in node.walk()], on)

    def tick_type(self, kind: str) -> None:
        """Tick all modules of a class."""
        self._tick_where(lambda node: node.type == kind)

    def tick_op(self, op: str) -> None:
        """Tick all calls of a function."""
        self._tick_where(lambda node: isinstance(node, CallNode) and node.op == op)

    def _tick_where(self, wanted: Callable[[ModuleNode], bool]) -> None:
        tree = self._session.calls.tree
        if tree is not None:
            self._session.tick([node.alias_of or node.path for node in tree.walk() if wanted(node)], True)

    def _edit(self, node: ModuleNode) -> None:
        choice = whole_layer(self._session, node.alias_of or node.path)
        self._session.editing.ask(choice)

    def untick_all(self) -> None:
        """Untick every module."""
        self._session.tick(self._session.plan.paths, False)

    def show_overwritten(self) -> None:
        """List the layers whose output is overwritten in place later."""
        self.filter.setText(OVERWRITTEN)

    @property
    def overwritten(self) -> int:
        """How many such layers the runs know of."""
        return sum(bool(facts.overwritten) for facts in self.model.known.values())

    def _on_menu_requested(self, point: QPoint) -> None:
        index = self.tree.indexAt(point).siblingAtColumn(NAME)
        self.menu(index).popup(self.tree.viewport().mapToGlobal(point))

    def menu(self, index: QModelIndex) -> QMenu:
        """Return the menu of a row."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        node = index.data(NODE)
        if node is not None:
            menu.addAction(self.tr("Tick all below"), lambda: self.tick_below(node, True))
            menu.addAction(self.tr("Untick all below"), lambda: self.tick_below(node, False))
            self._add_same(menu, node)
        menu.addAction(self.tr("Untick all"), self.untick_all)
        menu.addSeparator()
        if node is not None:
            path = str(index.data(PATH))
            menu.addAction(self.tr("Edit this layer…"), lambda: self._edit(node))
            menu.addAction(self.tr("Copy path"), lambda: QGuiApplication.clipboard().setText(path))
            menu.addAction(self.tr("Expand all below"), lambda: self.tree.expandRecursively(index))
        if self.overwritten:
            words = self.tr("Show overwritten layers ({})").format(self.overwritten)
            menu.addAction(words, self.show_overwritten)
        menu.addAction(self.tr("Expand all"), self.tree.expandAll)
        menu.addAction(self.tr("Collapse all"), self.tree.collapseAll)
        return menu

    def _add_same(self, menu: QMenu, node: ModuleNode) -> None:
        """Offer what there is for all rows of this kind, and the way to the call that uses its weights."""
        if isinstance(node, CallNode) and node.op:
            menu.addAction(self.tr("Tick all calls of {}").format(node.op), lambda: self.tick_op(node.op))
        else:
            words = self.tr("Tick all of type {}").format(node.type)
            menu.addAction(words, lambda: self.tick_type(node.type))
        call = call_named(self.model.facts(node).reason)
        if call:
            menu.addAction(self.tr("Go to {}").format(call), lambda: self._session.select(path=call))
