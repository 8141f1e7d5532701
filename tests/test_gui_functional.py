"""Functional calls in the window: listed, ticked, seen, walked to, filtered; nothing where they are off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from gui_nets import settled
from ops_nets import Attention, Unheld
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot
from torch import nn
from torch.nn import functional

from hookviewer.gui import depth, numbers
from hookviewer.gui.call_links import call_named
from hookviewer.gui.call_nodes import CallNode, with_calls
from hookviewer.gui.call_paths import above, parent_of, steps_of
from hookviewer.gui.module_filter import matches
from hookviewer.gui.module_model import FACTS, FAMILY, OUTPUT, PATH, TYPE
from hookviewer.gui.module_panel import ModulePanel
from hookviewer.gui.reading import read_out
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.wall.panel import WallPanel
from hookviewer.hooks import capture
from hookviewer.inputs import Input
from hookviewer.kinds import Kind
from hookviewer.modules import module_tree
from hookviewer.plan import HookPlan
from hookviewer.target_choice import TargetChoice

T = torch.Tensor
DEPTHS: list[int] = []


class Block(nn.Module):
    """A residual block as in a ResNet; it tells how many recorders of functions are in force."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(2, 2, 1, bias=False), nn.Conv2d(2, 2, 1, bias=False)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: T) -> Any:
        DEPTHS.append(torch._C._len_torch_function_stack())
        h = self.conv2(functional.relu(self.conv1(x)))
        h += x
        return self.relu(h)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Block(), Block()

    def forward(self, x: T) -> Any:
        return self.second(self.first(x)).mean((2, 3))


X = torch.randn(1, 2, 3, 4, generator=torch.Generator().manual_seed(5))


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    DEPTHS.clear()
    one = Session()
    yield one
    one.close()


def opened(qtbot: QtBot, session: Session, net: nn.Module, *inputs: T, on: bool = True) -> ModulePanel:
    panel = ModulePanel(session)
    qtbot.addWidget(panel)
    QAbstractItemModelTester(panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
    panel.resize(600, 500)
    panel.show()
    if on:
        panel.calls.click()
    session.set_model(net)
    session.set_settings(target=TargetChoice("sum"))
    session.add_inputs([Input("x", inputs or (X,))])
    settled(qtbot, session)
    return panel


def rows(panel: ModulePanel) -> list[QModelIndex]:
    found: list[QModelIndex] = []

    def walk(parent: QModelIndex) -> None:
        for row in range(panel.rows.rowCount(parent)):
            found.append(panel.rows.index(row, 0, parent))
            walk(found[-1])

    walk(QModelIndex())
    return found


def paths(panel: ModulePanel) -> list[str]:
    return [str(index.data(PATH)) for index in rows(panel)]


def row(panel: ModulePanel, path: str) -> QModelIndex:
    return next(index for index in rows(panel) if index.data(PATH) == path)


def tick(panel: ModulePanel, path: str, on: bool = True) -> None:
    state = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
    panel.rows.setData(row(panel, path), state, Qt.ItemDataRole.CheckStateRole)


# ------------------------------------------------------------------ paths


def test_the_parts_of_a_path_and_what_lies_above_it() -> None:
    assert parent_of("layer1.0:add#0") == "layer1.0"
    assert parent_of(":cat#0") == ""
    assert list(above("a.b:add#0")) == ["a.b", "a", ""]
    assert steps_of("a.b:add#0") == [("a", "a"), ("b", "a.b"), ("add#0", "a.b:add#0")]
    assert steps_of("") == []
    assert call_named("It was not called: its weights are used directly by a.b:linear#2.") == "a.b:linear#2"
    assert call_named("It was not called in this run.") == ""


def test_calls_stand_behind_the_module_that_ran_before_them() -> None:
    net = Net()
    recording = capture(net, (X,), HookPlan(frozenset({""})).with_ops())
    tree = with_calls(module_tree(net), recording, functional=True)
    block = next(node for node in tree.walk() if node.path == "second")
    assert [child.name for child in block.children] == ["conv1", "relu#0", "conv2", "add_#0", "relu"]
    assert tree.children[-1].path == ":mean#0"
    assert with_calls(module_tree(net), recording, functional=False) == module_tree(net)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("op:add", True),
        ("op:ad", True),
        ("op:mul", False),
        (":add", True),
        ("first*add*", True),
        ("cat", False),
    ],
)
def test_the_filter_finds_calls_by_their_function(words: str, expected: bool) -> None:
    assert matches(CallNode("first:add_#0", "call", parent="first"), words) is expected
    assert not matches(module_tree(Net()).children[0], "op:first")


# ------------------------------------------------------------------ in the tree


def test_off_is_the_beginning_and_a_run_then_asks_for_no_functions(qtbot: QtBot, session: Session) -> None:
    panel = opened(qtbot, session, Net(), on=False)
    assert not panel.calls.isChecked()
    assert not any(":" in path for path in paths(panel))
    assert set(DEPTHS) == {0}
    assert not any(run.lists_calls or run.recording.op_calls for run in session.runs.values())


def test_the_switch_lists_calls_with_shapes_and_sizes_in_the_colour_of_functions(
    qtbot: QtBot, session: Session
) -> None:
    panel = opened(qtbot, session, Net(), on=False)
    panel.tree.collapseAll()
    panel.tree.expand(panel._row(""))
    panel.tree.expand(panel._row("second"))
    panel.calls.click()
    settled(qtbot, session)
    assert set(DEPTHS) == {0, 1}
    index = row(panel, "first:add_#0")
    assert index.siblingAtColumn(OUTPUT).data() == "2×3×4"
    assert index.siblingAtColumn(TYPE).data() == "call"
    assert index.data(FAMILY) == "op"
    net: Any = session.model
    expected = net.first.conv2(functional.relu(net.first.conv1(X))) + X
    assert index.data(FACTS).mean_abs == pytest.approx(expected.abs().mean().item(), rel=1e-6)
    assert panel.tree.isExpanded(panel._row("second"))
    assert not panel.tree.isExpanded(panel._row("first"))
    panel.calls.click()
    settled(qtbot, session)
    assert not any(":" in path for path in paths(panel))


def test_by_order_of_execution_the_tree_is_what_the_run_did(qtbot: QtBot, session: Session) -> None:
    panel = opened(qtbot, session, Net())
    panel.by_order.click()
    recording = session.recording(session.inputs[0].number)
    assert recording is not None
    assert paths(panel) == list(dict.fromkeys(call.path for call in recording.in_order()))


def test_a_ticked_call_keeps_its_values_and_gradients(qtbot: QtBot, session: Session) -> None:
    panel = opened(qtbot, session, Net())
    tick(panel, "first:add_#0")
    settled(qtbot, session)
    wall = WallPanel(session)
    qtbot.addWidget(wall)
    wall.resize(700, 500)
    wall.show()
    session.select(path="first:add_#0", channel=1, cell=(2, 3))
    settled(qtbot, session)
    net: Any = session.model
    x = X.clone().requires_grad_()
    h = net.first.conv2(functional.relu(net.first.conv1(x))) + x
    h.retain_grad()
    last = net.second.conv2(functional.relu(net.second.conv1(h.relu()))) + h.relu()
    last.relu().mean((2, 3)).sum().backward()
    lane = wall.lanes.columns[0].canvas
    qtbot.waitUntil(lambda: lane.record is not None)
    assert np.array_equal(lane.record.array(), h.detach().numpy())
    assert len(np.unique(lane.image().reshape(-1, 4), axis=0)) > 10
    assert read_out(session)[0] == f"c 1  y 2  x 3  = {numbers.number(h[0, 1, 2, 3].item())}"
    session.select(shown=Shown.GRADIENT)
    assert h.grad is not None
    np.testing.assert_allclose(lane.record.array(), h.grad.numpy(), rtol=1e-6)
    session.select(shown=Shown.PRODUCT)
    np.testing.assert_allclose(lane.record.array(), (h * h.grad).detach().numpy(), rtol=1e-5)
    session.select(shown=Shown.GRAD_CAM)
    settled(qtbot, session)
    weights = h.grad.mean((2, 3), keepdim=True)
    cam = (weights * h).sum(1).relu().detach().numpy()
    assert wall.wall is not None
    shown = wall.wall.filled[0].maps
    assert shown is not None
    np.testing.assert_allclose(shown.values[0], cam[0], rtol=1e-5, atol=1e-7)


def test_what_a_cell_of_a_call_sees_of_the_picture_is_known(qtbot: QtBot, session: Session) -> None:
    panel = opened(qtbot, session, nn.Sequential(nn.Conv2d(2, 2, 3, padding=1), Block()))
    tick(panel, "1:add_#0")
    settled(qtbot, session)
    item = session.ticked_inputs[0]
    record = session.runs[item.number].recording.record("1:add_#0", Kind.OUTPUT)
    session.fields.want(item, record, (3, 4), (1, 2), 0)
    settled(qtbot, session)
    seen = session.fields.seen(item, record, (3, 4), (1, 2), 0)
    assert seen is not None
    assert (seen.way, seen.box, seen.extent) == ("computed", (0, 1, 3, 4), (3, 3))


def test_calls_stand_in_the_curve_and_are_walked_to(qtbot: QtBot, session: Session) -> None:
    opened(qtbot, session, Net())
    runs = list(session.runs.values())
    layers = depth.layers_of(runs)
    assert layers[:5] == ["first.conv1", "first:relu#0", "first.conv2", "first:add_#0", "first.relu"]
    places = depth.series(session.inputs[0], runs[0], layers, "mean_abs").places
    assert list(places) == list(range(len(layers)))
    assert depth.blocks(layers[:5])[1].name == "first.relu#0"
    wall = WallPanel(session)
    qtbot.addWidget(wall)
    session.tick(["first.conv2", "first:add_#0", "first.relu"], True)
    session.select(path="first.conv2")
    settled(qtbot, session)
    wall.step_layer(1)
    assert session.selection.path == "first:add_#0"
    wall.step_layer(1)
    assert session.selection.path == "first.relu"


def test_ticks_of_calls_come_back_with_the_switch(qtbot: QtBot, session: Session) -> None:
    panel = opened(qtbot, session, Net())
    tick(panel, "second:add_#0")
    session.select(path="second:add_#0")
    settled(qtbot, session)
    panel.calls.click()
    assert session.plan.paths == frozenset()
    assert session.selection.path == "second"
    settled(qtbot, session)
    panel.calls.click()
    settled(qtbot, session)
    assert session.plan.paths == {"second:add_#0"}


def test_a_call_that_is_not_made_any_more_has_a_reason(qtbot: QtBot, session: Session) -> None:
    panel = opened(qtbot, session, Net())
    session.tick(["first:add_#0", "first:relu#0"], True)
    settled(qtbot, session)

    class Other(Net):
        def forward(self, x: T) -> Any:
            return self.second(self.first.conv1(x)).mean((2, 3))

    session.exchange_model(Other())
    session.run_missing()
    settled(qtbot, session)
    assert session.plan.paths == {"first:add_#0", "first:relu#0"}
    facts = row(panel, "first:add_#0").data(FACTS)
    assert facts.reason == "No such call was made: first was not called in this run."


def test_weights_that_are_used_directly_lead_to_the_call(qtbot: QtBot, session: Session) -> None:
    panel = opened(qtbot, session, Attention(), torch.tensor([[1, 2, 3]]), on=False)
    wall = WallPanel(session)
    qtbot.addWidget(wall)
    wall.show()
    session.select(path="spare")
    settled(qtbot, session)
    link = wall.call_link
    qtbot.waitUntil(link.isVisible)
    assert "List functional calls" in link.link.text()
    link.link.click()
    settled(qtbot, session)
    qtbot.waitUntil(lambda: ":linear#0" in link.link.text())
    assert ":linear#0" in row(panel, "spare").data(Qt.ItemDataRole.ToolTipRole)
    link.link.click()
    assert session.selection.path == ":linear#0"
    assert not link.isVisible()


def test_modules_that_no_module_holds_are_listed_with_a_note(qtbot: QtBot, session: Session) -> None:
    panel = opened(qtbot, session, Unheld(), torch.rand(2, 3), on=False)
    assert set(paths(panel)) == {
        *("", "blocks[0]", "blocks[0].0", "blocks[0].1", "box.layer", ":Softplus#0"),
        *(":Softplus#1", "heads['a']"),
    }
    index = row(panel, "blocks[0].0")
    assert index.siblingAtColumn(TYPE).data() == "Linear"
    assert index.parent().data(PATH) == "blocks[0]"
    assert "plain list" in index.data(Qt.ItemDataRole.ToolTipRole)
    assert "built in forward" in row(panel, ":Softplus#1").data(Qt.ItemDataRole.ToolTipRole)
    tick(panel, "blocks[0].0")
    settled(qtbot, session)
    run = session.runs[session.inputs[0].number]
    assert any(key.path == "blocks[0].0" and one.kept is not None for key, one in run.recording.items())
