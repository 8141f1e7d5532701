"""The worked examples through the window: ticked by the mouse, edited by the form, read from the screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from gui_nets import settled
from PySide6.QtCore import QModelIndex, QPoint, Qt
from pytestqt.qtbot import QtBot
from test_ops_worked_examples import FcReluFc, MeanSquare, Shared, ThreeLayers, TwoPaths
from torch import nn

import hookviewer as hv
from hookviewer.gui.edit_dialog import EditDialog
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.module_delegate import tick_rect
from hookviewer.gui.state import Shown, TargetChoice
from hookviewer.inputs import Input
from hookviewer.kinds import Kind

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
T = torch.tensor


@pytest.fixture(scope="module")
def kept() -> Iterator[list[MainWindow]]:
    """Hold the window of all examples: making one takes longer than trying one."""
    made: list[MainWindow] = []
    yield made
    for window in made:
        window.close()


@pytest.fixture
def window(qtbot: QtBot, kept: list[MainWindow]) -> MainWindow:
    if not kept:
        kept.append(MainWindow())
        kept[0].keeps_layout = False
        kept[0].resize(1400, 900)
        kept[0].show()
    return kept[0]


def opened(qtbot: QtBot, window: MainWindow, model: nn.Module, *args: torch.Tensor) -> None:
    """Open a model with one input, the sum as its target, and functional calls in the tree."""
    session = window.session
    for item in session.inputs:
        session.take_off(item.number)
    window.opening.expect([])
    session.set_model(model)
    session.add_inputs([Input("given", args)])
    target = window.run_bar.target
    target.setCurrentIndex(target.findText("Sum of the output"))
    if not window.docks.modules.calls.isChecked():
        qtbot.mouseClick(window.docks.modules.calls, LEFT)
    settled(qtbot, session)
    window.docks.modules.tree.expandAll()
    assert session.settings.target == TargetChoice("sum")


def row(window: MainWindow, path: str) -> QModelIndex:
    tree = window.docks.modules.tree
    index = tree.model().index(0, 0)
    while index.isValid() and index.data(Qt.ItemDataRole.UserRole) != path:
        index = tree.indexBelow(index)
    assert index.isValid(), path
    return index


def press(qtbot: QtBot, window: MainWindow, point: QPoint) -> None:
    qtbot.mouseClick(window.docks.modules.tree.viewport(), LEFT, NONE, point)
    settled(qtbot, window.session)


def tick(qtbot: QtBot, window: MainWindow, *paths: str) -> None:
    """Tick modules and functional calls by a click on their boxes."""
    for path in paths:
        if path not in window.session.plan.paths:
            press(qtbot, window, tick_rect(window.docks.modules.tree.visualRect(row(window, path))).center())
        assert path in window.session.plan.paths


def numbers(
    qtbot: QtBot, window: MainWindow, path: str, shown: Shown = Shown.OUTPUT, **more: Any
) -> list[float]:
    """Click on a row of the tree and read the numbers of its tensor in the inspector, cell by cell."""
    session, inspector = window.session, window.docks.inspector
    rect = window.docks.modules.tree.visualRect(row(window, path))
    press(qtbot, window, rect.center())
    session.select(**{"shown": shown, "side": "output", "leaf": "", **more})
    settled(qtbot, session)
    inspector.refresh()
    assert inspector.focus is not None, inspector.reason.text()
    height, width = inspector.focus.map.shape
    found = []
    for place in range(height * width):
        session.select(cell=divmod(place, width))
        found.append(float(inspector.value.text().replace("−", "-")))
    return found


def edit(
    qtbot: QtBot, window: MainWindow, path: str, kind: Kind, operation: str, value: float | None = None
) -> None:
    """Fill in the form of an edit and press Apply."""
    window.session.select(path=path)
    window.commands.actions["edit_layer"].trigger()
    dialog = window.findChild(EditDialog)
    assert dialog is not None
    dialog.where.setCurrentIndex(dialog.where.findData(kind))
    dialog.operation.setCurrentIndex(dialog.operation.findData(operation))
    if value is not None:
        dialog.fields.number.setText(str(value))
    qtbot.mouseClick(dialog.go, LEFT)
    qtbot.waitUntil(lambda: window.findChild(EditDialog) is None)
    settled(qtbot, window.session)


def edited(window: MainWindow) -> int:
    """Return the number of the input under the edits."""
    return window.session.ticked_inputs[-1].number


def test_fc_relu_fc_with_a_function_between(qtbot: QtBot, window: MainWindow) -> None:
    opened(qtbot, window, FcReluFc([10.0, 20.0, 30.0, 40.0], 2.0), torch.ones(1, 3))
    tick(qtbot, window, "fc1", ":relu#0", "fc2")
    assert numbers(qtbot, window, "fc1") == [7, -13, 27, -29]
    assert numbers(qtbot, window, ":relu#0") == [7, 0, 27, 0]
    assert numbers(qtbot, window, "fc2") == [882]
    assert numbers(qtbot, window, ":relu#0", Shown.GRADIENT) == [10, 20, 30, 40]
    assert numbers(qtbot, window, "fc1", Shown.GRADIENT) == [10, 0, 30, 0]
    assert numbers(qtbot, window, "fc1", Shown.GRADIENT, side="input") == [220, 260, 300]
    edit(qtbot, window, ":relu#0", Kind.OUTPUT, "zero")
    assert numbers(qtbot, window, "fc2", input=edited(window)) == [2]
    window.session.editing.clear()
    edit(qtbot, window, "fc1", Kind.INPUT, "scale", 2)
    assert numbers(qtbot, window, "fc2", input=edited(window)) == [1662]
    assert {run.hooks_left for run in window.session.runs.values()} == {0}


def test_w_x_a_b_y(qtbot: QtBot, window: MainWindow) -> None:
    opened(qtbot, window, TwoPaths(), T([1.0]), T([2.0]))
    tick(qtbot, window, ":add#0", ":add#1", ":mul#0")
    assert [numbers(qtbot, window, path)[0] for path in (":add#0", ":add#1", ":mul#0")] == [3, 2, 6]
    assert numbers(qtbot, window, ":add#0", Shown.GRADIENT) == [2]
    at_input = {"shown": Shown.GRADIENT, "side": "input"}
    assert [numbers(qtbot, window, "", **at_input, leaf=f"[{one}]") for one in range(2)] == [[5], [2]]
    edit(qtbot, window, ":add#0", Kind.GRAD_OUTPUT, "scale", 2)
    at_input |= {"input": edited(window)}
    assert [numbers(qtbot, window, "", **at_input, leaf=f"[{one}]") for one in range(2)] == [[7], [4]]
    edit(qtbot, window, ":add#0", Kind.GRAD_OUTPUT, "scale", 3)
    assert [numbers(qtbot, window, "", **at_input, leaf=f"[{one}]") for one in range(2)] == [[15], [12]]


def test_the_mean_of_squares(qtbot: QtBot, window: MainWindow) -> None:
    opened(qtbot, window, MeanSquare(), T([[1.0, 2.0], [3.0, 4.0]]))
    tick(qtbot, window, ":add#0", ":mean#0")
    assert numbers(qtbot, window, ":mean#0") == [13.5]
    assert window.run_bar.value.text() == "= 13.500"
    assert sorted(sample(qtbot, window, Shown.OUTPUT)) == [2, 3, 4, 5]
    assert sorted(sample(qtbot, window, Shown.GRADIENT)) == [1, 1.5, 2, 2.5]


def sample(qtbot: QtBot, window: MainWindow, shown: Shown) -> list[float]:
    """Return the numbers of both rows of `:add#0`, sample by sample."""
    found: list[float] = []
    for one in range(2):
        window.session.set_look(sample=one)
        found += numbers(qtbot, window, ":add#0", shown)
    return found


def test_an_edit_of_a_shared_gradient_stays_in_its_branch(qtbot: QtBot, window: MainWindow) -> None:
    opened(qtbot, window, Shared(), T([1.0]), T([2.0]))
    tick(qtbot, window, ":mul#0", ":mul#1")
    edit(qtbot, window, ":mul#1", Kind.GRAD_OUTPUT, "scale", 2)
    of = {"shown": Shown.GRADIENT, "side": "input", "input": edited(window)}
    assert [numbers(qtbot, window, "", **of, leaf=f"[{one}]") for one in range(2)] == [[3], [10]]


def test_three_layers_without_modules(qtbot: QtBot, window: MainWindow) -> None:
    opened(qtbot, window, ThreeLayers(), torch.ones(10))
    names = [f":linear#{number}" for number in range(3)]
    tick(qtbot, window, *names)
    assert [numbers(qtbot, window, path) for path in names] == [[10] * 5, [100] * 3, [900]]
    gradients = [numbers(qtbot, window, path, Shown.GRADIENT) for path in names]
    assert gradients == [[18] * 5, [3] * 3, [1]]
    assert numbers(qtbot, window, "", Shown.GRADIENT, side="input") == [90] * 10


def test_the_simple_cnn_counts_its_channels(qtbot: QtBot, window: MainWindow) -> None:
    opened(qtbot, window, hv.open_model("demo:simple_cnn"), torch.ones(1, 3, 32, 32))
    tick(qtbot, window, "conv1", "relu")
    statistics = window.docks.inspector.statistics
    for channel in (0, 4, 5, 15):
        for path, expected in (("conv1", channel - 5), ("relu", max(channel - 5, 0))):
            window.session.select(path=path, channel=channel, shown=Shown.OUTPUT, side="output")
            settled(qtbot, window.session)
            window.docks.inspector.refresh_slow()
            rows = {one[0]: one[1] for one in statistics.rows}
            assert float(rows["mean"].replace("−", "-")) == float(rows["max"].replace("−", "-")) == expected


def test_the_hooks_of_the_tutorials_mlp_go_on(qtbot: QtBot, window: MainWindow) -> None:
    model = hv.open_model("demo:mlp")
    opened(qtbot, window, model, torch.randn(1, 784))
    tick(qtbot, window, "fc1", "fc2")
    assert numbers(qtbot, window, "fc2", Shown.GRADIENT) == [1] * 10
    before = len(model.conv_outputs)  # type: ignore[arg-type]
    assert before
    window.session.run()
    settled(qtbot, window.session)
    assert len(model.conv_outputs) == before + 1  # type: ignore[arg-type]
