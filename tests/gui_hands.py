"""What a person does with the mouse and the keys in the real window, and what stands on the screen then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from gui_nets import settled
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtWidgets import QMenu, QToolButton
from torch import nn

from hookviewer.gui.edit_dialog import EditDialog
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.module_delegate import tick_rect
from hookviewer.gui.state import Shown, TargetChoice
from hookviewer.gui.wall.words import KINDS
from hookviewer.inputs import Input

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
PATH = Qt.ItemDataRole.UserRole
SIDES = ("output", "input", "total")


class Hands:
    """Works a window; every answer is read from its widgets."""

    def __init__(self, qtbot: Any, window: MainWindow) -> None:
        self.qtbot, self.window, self.session = qtbot, window, window.session
        self.tree = window.docks.modules.tree

    def settle(self) -> None:
        settled(self.qtbot, self.session)

    # -- the model

    def open(self, model: nn.Module, *inputs: Sequence[torch.Tensor], calls: bool = True) -> None:
        """Open a model with these inputs, the sum as its target, functional calls in the tree or not."""
        for item in self.session.inputs:
            self.session.take_off(item.number)
        self.session.editing.clear()
        self.window.opening.expect([])
        self.session.set_model(model)
        letters = "abcdef"
        self.session.add_inputs([Input(letters[at], tuple(one)) for at, one in enumerate(inputs)])
        target = self.window.run_bar.target
        target.setCurrentIndex(target.findText("Sum of the output"))
        if self.window.docks.modules.calls.isChecked() != calls:
            self.qtbot.mouseClick(self.window.docks.modules.calls, LEFT)
        self.settle()
        self.tree.expandAll()
        assert self.session.settings.target == TargetChoice("sum")

    # -- the tree

    def row(self, path: str) -> QModelIndex:
        index = self.tree.model().index(0, 0)
        while index.isValid() and index.data(PATH) != path:
            index = self.tree.indexBelow(index)
        assert index.isValid(), path
        return index

    def press(self, point: QPoint) -> None:
        self.qtbot.mouseClick(self.tree.viewport(), LEFT, NONE, point)
        self.settle()

    def tick(self, *paths: str) -> None:
        """Tick modules and functional calls by a click on their boxes."""
        for path in paths:
            if path not in self.session.plan.paths:
                self.tree.scrollTo(self.row(path))
                self.press(tick_rect(self.tree.visualRect(self.row(path))).center())
            assert path in self.session.plan.paths

    def click(self, path: str) -> None:
        """Click on a row."""
        self.tree.scrollTo(self.row(path))
        self.press(self.tree.visualRect(self.row(path)).center())
        assert self.session.selection.path == path

    # -- the wall

    def show(self, shown: Shown, side: str = "output", leaf: str = "") -> None:
        """Choose the kind of tensor by its button; the side and the leaf in their menus."""
        controls = self.window.wall.controls
        button = controls.kind.buttons[list(KINDS).index(shown)]
        if self.session.selection.shown is not shown:
            self.qtbot.mouseClick(button, LEFT)
            self.settle()
        if shown is not Shown.WEIGHTS and self.session.selection.side != side:
            self._menu_of(controls.side).actions()[SIDES.index(side)].trigger()
            self.settle()
        self.window.wall.refresh()
        head = self.window.wall.head
        if leaf and self.session.selection.leaf != leaf:
            self._press_entry(head.leaf, leaf)
            self.settle()

    def _menu_of(self, button: QToolButton) -> QMenu:
        menu = button.menu()
        menu.aboutToShow.emit()
        return menu

    def _press_entry(self, button: QToolButton, text: str) -> None:
        actions = self._menu_of(button).actions()
        next(one for one in actions if one.text() == text).trigger()

    def numbers(
        self, path: str, shown: Shown = Shown.OUTPUT, side: str = "output", leaf: str = "", column: int = 0
    ) -> list[float]:
        """Click on a row, show its tensor of a column, and return the numbers that the wall paints.

        The inspector, asked for the last of them, writes the same.
        """
        if self.session.selection.path != path:
            self.click(path)
        self.session.select(input=self.session.ticked_inputs[column].number)
        self.show(shown, side, leaf)
        found: list[float] = np.ravel(self.painted(column)).tolist()
        inspector = self.window.docks.inspector
        self.session.select(cell=(0, len(found) - 1))
        inspector.refresh()
        assert inspector.focus is not None, inspector.reason.text()
        assert number(inspector.value.text()) == pytest.approx(found[-1], rel=5e-3)
        return found

    def painted(self, place: int = -1) -> list[Any]:
        """Return the values that a column of the wall paints, the last one's by default."""
        self.settle()
        self.window.wall.refresh()
        maps = self.window.wall.wall.columns[place].maps
        assert maps is not None, self.window.wall.wall.columns[place].reason
        found: list[Any] = np.squeeze(maps.values).tolist()
        return found

    # -- edits

    def edit(self, path: str, where: str, operation: str, value: float | str | None = None) -> None:
        """Ask for an edit in the menu of a row, fill the form in by keys, and apply it."""
        dialog = self.form(path)
        choose(self.qtbot, dialog.where, where)
        choose(self.qtbot, dialog.operation, operation)
        if isinstance(value, str):
            choose(self.qtbot, dialog.fields.source, value)
        elif value is not None:
            dialog.fields.number.clear()
            self.qtbot.keyClicks(dialog.fields.number, str(value))
        self.apply(dialog)

    def form(self, path: str) -> EditDialog:
        """Choose *Edit this layer…* in the menu of a row and return the form."""
        menu = self.window.docks.modules.menu(self.row(path))
        menu.popup(self.tree.mapToGlobal(QPoint(20, 20)))
        action = next(one for one in menu.actions() if one.text().startswith("Edit this layer"))
        self.qtbot.mouseClick(menu, LEFT, NONE, menu.actionGeometry(action).center())
        menu.close()
        dialog = self.window.findChild(EditDialog)
        assert dialog is not None
        return dialog

    def apply(self, dialog: EditDialog) -> None:
        assert dialog.go.isEnabled(), dialog.problem.text()
        self.qtbot.mouseClick(dialog.go, LEFT)
        self.qtbot.waitUntil(lambda: self.window.findChild(EditDialog) is None)
        self.settle()


def choose(qtbot: Any, box: Any, text: str) -> None:
    """Choose the entry of a box that begins so, by the arrow keys."""
    qtbot.keyClick(box, Qt.Key.Key_Home)
    while not box.currentText().startswith(text) and box.currentIndex() + 1 < box.count():
        qtbot.keyClick(box, Qt.Key.Key_Down)
    assert box.currentText().startswith(text), text


def number(text: str) -> float:
    """Return a number as it is written on the screen."""
    return float(text.replace("−", "-").replace("\N{THIN SPACE}", ""))
