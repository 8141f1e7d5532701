"""Weights: what is in the model as pictures, without a run; their gradient with one, when it is asked for."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget
from pytestqt.qtbot import QtBot
from torch import nn

import hookviewer as hv
from hookviewer.gui import parameters
from hookviewer.gui.inspector import Inspector
from hookviewer.gui.session import Session
from hookviewer.gui.state import PLAIN, Shown, TargetChoice, Variant
from hookviewer.gui.theme import set_theme
from hookviewer.gui.wall.panel import WallPanel
from hookviewer.kinds import Key, Kind


@pytest.fixture
def opened(qtbot: QtBot):
    set_theme("dark")
    session = Session()
    session.set_auto(False)
    session.set_model(Tiny())
    panel = WallPanel(session)
    qtbot.addWidget(panel)
    panel.resize(900, 600)
    panel.show()
    yield session, panel
    session.close()


def _look(qtbot: QtBot, session: Session, panel: WallPanel, path: str, **more: object) -> None:
    session.select(path=path, shown=Shown.WEIGHTS, **more)
    settled(qtbot, session)
    panel.refresh()


def _column(panel: WallPanel, place: int = 0):
    return panel.wall.columns[place]


def test_weights_are_those_of_the_model_and_need_neither_input_nor_run(opened, qtbot: QtBot) -> None:
    session, panel = opened
    _look(qtbot, session, panel, "stem.0")
    assert session.runs == {}
    weight = session.model.stem[0].weight.detach().numpy()
    maps = _column(panel).maps
    assert maps.reading == "output channel × colour × row × column"
    np.testing.assert_array_equal(maps.colours, weight.transpose(0, 2, 3, 1))
    assert type(panel.lanes.columns[0].canvas.view).__name__ == "ColourKernels"
    assert panel.lanes.columns[0].canvas.image()[..., :3].std() > 10


def test_every_parameter_and_buffer_can_be_chosen(opened, qtbot: QtBot) -> None:
    session, panel = opened
    _look(qtbot, session, panel, "stem.1")
    names = panel.findChild(QWidget, "weight_names")
    buttons = {button.text(): button for button in names.findChildren(QToolButton)}
    assert list(buttons) == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    session.model.stem[1].running_var[2] = 7.5
    buttons["running_var"].click()
    assert _column(panel).title == "running_var"
    assert _column(panel).maps.values[0, 0, 2] == 1  # a copy from when it was read
    session.exchange_model(session.model)
    settled(qtbot, session)
    assert _column(panel).maps.values[0, 0, 2] == 7.5


def test_an_input_channel_is_chosen_by_a_slider(opened, qtbot: QtBot) -> None:
    session, panel = opened
    _look(qtbot, session, panel, "body.0")
    weight = session.model.body[0].weight.detach().numpy()
    axis = panel.axes.findChild(QWidget, "axis_input_channel")
    axis.slider.setValue(4)
    np.testing.assert_array_equal(_column(panel).maps.values, weight[:, 4])
    qtbot.mouseClick(axis.maximum, Qt.MouseButton.LeftButton)
    np.testing.assert_array_equal(_column(panel).maps.values, weight.max(axis=1))


def test_the_gradient_stands_beside_the_weight_when_it_is_asked_for(opened, qtbot: QtBot) -> None:
    session, panel = opened
    session.add_inputs([picture()])
    session.set_settings(target=TargetChoice("class", 1))
    _look(qtbot, session, panel, "body.0", leaf="bias")
    assert len(panel.wall.columns) == 1
    panel.toggle_difference()
    settled(qtbot, session)
    model, x = session.model, session.inputs[0].input.args[0]
    model.eval()
    expected = torch.autograd.grad(model(x)[0, 1], model.body[0].bias)[0].numpy()
    beside = _column(panel, 1)
    np.testing.assert_allclose(beside.maps.values[0, 0], expected, rtol=1e-5)
    assert beside.title == "Gradient, picture0"
    assert panel.wall.difference_levels[1] == -panel.wall.difference_levels[0] > 0
    assert all(parameter.grad is None for parameter in model.parameters())
    session.set_settings(target=TargetChoice("class", 2))
    settled(qtbot, session)
    other = torch.autograd.grad(model(x)[0, 2], model.body[0].bias)[0].numpy()
    np.testing.assert_allclose(_column(panel, 1).maps.values[0, 0], other, rtol=1e-5)


def test_what_has_no_gradient_says_why(opened, qtbot: QtBot) -> None:
    session, panel = opened
    session.set_look(beside=True)
    _look(qtbot, session, panel, "stem.1", leaf="running_mean")
    assert "add one first" in _column(panel, 1).reason
    session.add_inputs([picture()])
    settled(qtbot, session)
    assert "running_mean" in _column(panel, 1).reason
    session.select(path="aux")
    settled(qtbot, session)
    assert "not called" in _column(panel, 1).reason
    session.set_settings(target=TargetChoice("none"))
    settled(qtbot, session)
    assert "target" in _column(panel, 1).reason


def test_a_module_without_weights_says_where_to_look(opened, qtbot: QtBot) -> None:
    session, panel = opened
    _look(qtbot, session, panel, "stem")
    assert _column(panel).reason == "It has no weights of its own: select a module inside it."
    _look(qtbot, session, panel, "stem.2")
    assert _column(panel).reason == "It has no weights."
    _look(qtbot, session, panel, "again.0")
    assert _column(panel).maps.values.shape == (6, 3, 3)


def test_lazy_and_quantized_weights_are_read_as_they_are() -> None:
    lazy = parameters.read(nn.Sequential(nn.LazyLinear(3)), "0", 1 << 20)
    assert "before the first run" in lazy.reason(Key("0", Kind.PARAM))
    model = nn.Sequential(nn.Linear(4, 2)).to(torch.bfloat16)
    kept = parameters.read(model, "0", 1 << 20)[Key("0", Kind.PARAM, 0, "weight")]
    np.testing.assert_array_equal(kept.array(), model[0].weight.detach().float().numpy())
    small = parameters.read(model, "0", 3)
    assert small[Key("0", Kind.PARAM, 0, "weight")].kept is None


def test_looking_at_weights_runs_nothing_by_itself(opened, qtbot: QtBot) -> None:
    session, panel = opened
    session.set_auto(True)
    session.add_inputs([picture()])
    settled(qtbot, session)
    started: list[int] = []
    session.run_started.connect(lambda: started.append(1))
    _look(qtbot, session, panel, "head")
    assert started == []
    session.select(shown=Shown.OUTPUT)
    settled(qtbot, session)
    assert started == [1]


def _beside(qtbot: QtBot, session: Session, panel: WallPanel, *variants: Variant) -> None:
    """Look at the bias of body.0 and its gradient, in the way of the last variant."""
    session.add_inputs([picture()])
    session.set_settings(target=TargetChoice("class", 1))
    session.set_variants((PLAIN, *variants))
    session.set_look(beside=True)
    _look(qtbot, session, panel, "body.0", leaf="bias", input=session.ticked_inputs[-1].number)


def test_the_gradient_is_that_of_the_variant_with_its_edits(opened, qtbot: QtBot) -> None:
    session, panel = opened
    twice = hv.Edit("stem", hv.scale(2.0))
    _beside(qtbot, session, panel, Variant(1, "edited", (("edits", (twice,)), ("mode", "train"))))
    model = copy.deepcopy(session.model).train()
    x = session.inputs[0].input.args[0]
    scores = model.head(model.again(model.body(2 * model.stem(x))).mean((2, 3)))
    expected = torch.autograd.grad(scores[0, 1], model.body[0].bias)[0].numpy()
    beside = _column(panel, 1)
    np.testing.assert_allclose(beside.maps.values[0, 0], expected, rtol=1e-5)
    assert beside.title == "Gradient, picture0 · edited"
    session.select(input=session.inputs[0].number)
    settled(qtbot, session)
    plain = torch.autograd.grad(session.model.eval()(x)[0, 1], session.model.body[0].bias)[0].numpy()
    np.testing.assert_allclose(_column(panel, 1).maps.values[0, 0], plain, rtol=1e-5)


def test_weights_and_gradient_are_those_of_the_variants_own_model(
    opened, qtbot: QtBot, tmp_path: Path
) -> None:
    session, panel = opened
    other = Tiny()
    with torch.no_grad():
        other.body[0].bias += 1
    torch.save(other.state_dict(), tmp_path / "other.pt")
    _beside(qtbot, session, panel, Variant(1, "other", (("weights", str(tmp_path / "other.pt")),)))
    x = session.inputs[0].input.args[0]
    value, beside = _column(panel), _column(panel, 1)
    assert value.title == "bias · other"
    np.testing.assert_array_equal(value.maps.values[0, 0], other.body[0].bias.detach().numpy())
    expected = torch.autograd.grad(other.eval()(x)[0, 1], other.body[0].bias)[0].numpy()
    np.testing.assert_allclose(beside.maps.values[0, 0], expected, rtol=1e-5)
    session.select(input=session.inputs[0].number)
    settled(qtbot, session)
    assert _column(panel).title == "bias"
    own = session.model.body[0].bias.detach().numpy()
    np.testing.assert_array_equal(_column(panel).maps.values[0, 0], own)


def test_weights_of_another_network_are_those_of_the_layer_beside_it(
    opened, qtbot: QtBot, tmp_path: Path
) -> None:
    session, panel = opened
    (tmp_path / "net.py").write_text(
        "import torch\nfrom torch import nn\n\n\ndef model():\n    torch.manual_seed(5)\n"
        "    return nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), "
        "nn.Linear(6, 4))\n"
    )
    by_hand = (("head", "3"), ("stem.0", "0"))
    spec = f"{tmp_path / 'net.py'}:model"
    _beside(qtbot, session, panel, Variant(1, "net", (("spec", spec), ("matches", by_hand))))
    session.select(path="head", leaf="bias")
    settled(qtbot, session)
    torch.manual_seed(5)
    bias = nn.Sequential(nn.Conv2d(3, 6, 3), nn.Linear(6, 4))[1].bias.detach().numpy()
    np.testing.assert_array_equal(_column(panel).maps.values[0, 0], bias)
    np.testing.assert_array_equal(_column(panel, 1).maps.values[0, 0], [0, 1, 0, 0])
    session.select(path="stem.1", leaf="")
    settled(qtbot, session)
    assert "no layer that stands beside stem.1" in _column(panel).reason


def test_weights_lie_on_no_picture(opened, qtbot: QtBot) -> None:
    session, _ = opened
    session.add_inputs([picture(0)])
    session.select(path="stem.0")
    session.run()
    settled(qtbot, session)
    inspector = Inspector(session)
    qtbot.addWidget(inspector)
    assert inspector.mode.isVisibleTo(inspector)
    session.select(shown=Shown.WEIGHTS)
    settled(qtbot, session)
    inspector.refresh()
    assert inspector.big_map.isVisibleTo(inspector)
    assert not inspector.mode.isVisibleTo(inspector)
