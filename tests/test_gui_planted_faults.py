"""Planted faults are found through the window: what differs is chosen; a layer is found, named and opened."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from gui_compared import tick
from gui_nets import settled
from kept_window import shown_window
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot
from torch import nn

import hookviewer as hv
from hookviewer.differences import Verdict
from hookviewer.gui.compare_panel import ComparePanel
from hookviewer.gui.layer_panel import LayerPanel
from hookviewer.gui.line_styles import INPUTS
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.session import Session
from hookviewer.gui.varying import Vary

CODE = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, rounds=False):
        super().__init__()
        self.norm, self.inner = nn.BatchNorm2d(width), nn.Conv2d(width, width, 1)
        self.outer, self.rounds = nn.Conv2d(width, width, 3, padding=1), rounds

    def forward(self, x):
        y = torch.relu(self.inner(self.norm(x)))
        if self.rounds:
            y = y.bfloat16().float()
        return x + self.outer(y)


class Net(nn.Module):
    def __init__(self, rounds=False):
        super().__init__()
        torch.manual_seed(0)
        self.stem = nn.Conv2d(3, 5, 3, padding=1)
        self.blocks = nn.Sequential(Block(5), Block(5, rounds), Block(5))
        self.head = nn.Linear(5, 3)
        for block in self.blocks:
            block.norm.running_mean.uniform_(-0.5, 0.5)
            block.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


def rounded():
    return Net(rounds=True)
"""


@pytest.fixture
def window(qtbot: QtBot, kept: list[MainWindow]) -> MainWindow:
    """A window that is used again by every test: making one takes longer than finding a fault."""
    made, new = shown_window(kept, 1200, 760)
    if new:
        made.docks.lay_out(1200, 760)
    return made


@pytest.fixture
def code(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(CODE)
    return path


def net(code: Path) -> nn.Module:
    return hv.open_model(f"{code}:Net").eval()


def show(qtbot: QtBot, window: MainWindow, model: nn.Module, given: object = None) -> Session:
    session = window.session
    for item in session.inputs:
        session.take_off(item.number)
    session.set_auto(False)
    session.set_model(model)
    settled(qtbot, session)
    for item in session.inputs:  # those that a model without inputs is shown with
        session.take_off(item.number)
    session.set_auto(True)
    given = torch.randn(2, 3, 9, 9) if given is None else given
    session.open_inputs([given])
    qtbot.waitUntil(lambda: bool(session.inputs), timeout=20_000)
    session.select(path="head" if hasattr(model, "head") else "")
    settled(qtbot, session)
    return session


def choosing(window: MainWindow) -> ComparePanel:
    """Open the panel that chooses what columns differ in, as Ctrl+K does."""
    window.findChild(QAction, "compare").trigger()
    panel = window.findChild(ComparePanel)
    assert panel.isVisible()
    return panel


def find(qtbot: QtBot, window: MainWindow) -> LayerPanel:
    """Press the button that looks for the first layer that goes apart, and wait for what it finds."""
    session, layers = window.session, window.findChild(LayerPanel)
    window.findChild(ComparePanel).hide()
    qtbot.waitUntil(lambda: layers.diverging.isVisible(), timeout=10_000)
    qtbot.mouseClick(layers.diverging, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.diverging.found is not None, timeout=30_000)
    settled(qtbot, session)
    return layers


def assert_found(window: MainWindow, layers: LayerPanel, path: str, *, seen_at: str = "") -> None:
    """Check that a layer is named as the producer in words, marked in the curve, and open."""
    session = window.session
    first = session.diverging.found.divergence.first
    assert (first.key.path, first.verdict) == (path, Verdict.PRODUCER)
    assert f"{path} is the producer: its inputs agree" in layers.divergence.said.toolTip()
    assert layers.divergence.isVisible()
    assert layers.plot.layers[layers.plot.marked.mark.place] in (seen_at, path)
    assert layers.plot.marked.text.startswith(f"{path}, producer: inputs ")
    assert session.selection.path == path
    assert window.wall.wall.path == path
    assert window.wall.wall.columns[1].maps is not None
    own = [one for one in layers.plot.series if one.number == session.diverging.found.item.number]
    inputs, outputs = sorted(own, key=lambda one: one.style != INPUTS)
    place = layers.plot.marked.mark.place
    if not seen_at:
        assert outputs.values[list(outputs.places).index(place)] == first.distance
        assert inputs.values[list(inputs.places).index(place)] == first.input_distance
    assert (outputs.values[outputs.places < place] <= first.tolerance).all()
    assert len(outputs.places) == len(layers.plot.layers)  # ticked or not


def test_a_batch_norm_left_in_train_mode(qtbot: QtBot, window: MainWindow, code: Path) -> None:
    model = net(code)
    model.blocks[1].norm.train()
    session = show(qtbot, window, model)
    panel = choosing(window)
    tick(qtbot, panel, Vary.MODE, "as left")
    layers = find(qtbot, window)
    assert_found(window, layers, "blocks.1.norm")
    assert model.blocks[1].norm.training
    number = session.ticked_inputs[1].number
    x = session.inputs[0].input.args[0]
    with torch.no_grad():
        before = model.blocks[0].eval()(model.stem(x))
        expected = (before - before.mean((0, 2, 3), keepdim=True)) / (
            before.var((0, 2, 3), unbiased=False, keepdim=True) + 1e-5
        ).sqrt()
    found = session.runs[number].recording.record("blocks.1.norm", "output").tensor()
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_a_transposed_weight_in_a_checkpoint(
    qtbot: QtBot, window: MainWindow, code: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "steps"
    folder.mkdir()
    state = net(code).state_dict()
    torch.save(state, folder / "step_1.pt")
    state["blocks.2.inner.weight"] = state["blocks.2.inner.weight"].transpose(0, 1).contiguous()
    torch.save(state, folder / "step_2.pt")
    session = show(qtbot, window, net(code))
    panel = choosing(window)
    session.varying.open_folder(str(folder))
    tick(qtbot, panel, Vary.CHECKPOINTS, "step_2.pt")
    layers = find(qtbot, window)
    assert_found(window, layers, "blocks.2.inner")
    passed_on = [
        step.key.path
        for step in session.diverging.found.divergence.steps
        if step.verdict is Verdict.PASSES_ON
    ]
    assert "blocks.2.outer" in passed_on


def test_rounding_to_bfloat16_in_the_code_of_one_block(qtbot: QtBot, window: MainWindow, code: Path) -> None:
    session = show(qtbot, window, net(code))
    panel = choosing(window)
    panel.kinds.setCurrentRow(list(Vary).index(Vary.MODELS))
    panel.spec.setFocus()
    qtbot.keyClicks(panel.spec, f"{code}:rounded")
    qtbot.keyClick(panel.spec, Qt.Key.Key_Return)
    settled(qtbot, session)
    layers = find(qtbot, window)
    assert_found(window, layers, "blocks.1", seen_at="blocks.1.outer")
    assert "The code of blocks.1 itself makes the difference" in layers.divergence.said.toolTip()


def test_two_checkpoints_of_the_digits_net_that_differ_in_one_layer(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    model = hv.open_model("demo:digits")
    state = {name: value.clone() for name, value in model.state_dict().items()}
    torch.save(state, tmp_path / "epoch_1.pt")
    state["5.weight"] += 0.01 * torch.randn(state["5.weight"].shape)
    torch.save(state, tmp_path / "epoch_2.pt")
    session = show(qtbot, window, model, "demo:digit")
    panel = choosing(window)
    session.varying.open_folder(str(tmp_path))
    tick(qtbot, panel, Vary.CHECKPOINTS, "epoch_1.pt")
    tick(qtbot, panel, Vary.CHECKPOINTS, "epoch_2.pt")
    assert len(session.ticked_inputs) == 3
    session.select(input=session.ticked_inputs[2].number)
    layers = find(qtbot, window)
    assert_found(window, layers, "5")
    session.select(input=session.ticked_inputs[1].number)
    qtbot.mouseClick(layers.diverging, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.diverging.found.item.variant.name == "epoch_1.pt", timeout=20_000)
    assert session.diverging.found.divergence.first is None
    assert layers.plot.marked.mark is None
    assert "No layer is apart" in layers.divergence.said.toolTip()


def test_the_mark_goes_with_the_result(qtbot: QtBot, window: MainWindow, code: Path) -> None:
    session = show(qtbot, window, net(code))
    panel = choosing(window)
    tick(qtbot, panel, Vary.MODE, "train")
    layers = find(qtbot, window)
    assert_found(window, layers, "blocks.0.norm")
    before = np.array(layers.plot.marked._line.getData()[0])
    assert (before == layers.plot.marked.mark.place).all()
    qtbot.mouseClick(layers.divergence.away, Qt.MouseButton.LeftButton)
    assert layers.plot.marked.mark is None
    assert not layers.plot.marked._line.isVisible()
    assert session.diverging.found is None
