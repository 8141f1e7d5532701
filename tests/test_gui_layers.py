"""The curve over depth: its series, blocks and marks, and going to a layer by a click."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot
from torch import nn

import hookviewer as hv
from hookviewer.gui import depth
from hookviewer.gui.layer_panel import LayerPanel
from hookviewer.gui.layer_plot import _marks, apart
from hookviewer.gui.session import Session
from hookviewer.gui.state import TargetChoice
from hookviewer.gui.theme import set_theme


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    one = Session()
    one.set_model(Tiny())
    one.add_inputs([picture(0), picture(1)])
    one.tick(["stem.0", "stem.2", "body.0", "head"], True)
    settled(qtbot, one)
    yield one
    one.close()


@pytest.fixture
def panel(qtbot: QtBot, session: Session) -> LayerPanel:
    made = LayerPanel(session)
    qtbot.addWidget(made)
    made.resize(700, 200)
    made.show()
    return made


def test_there_is_one_series_per_ticked_input(qtbot: QtBot, session: Session, panel: LayerPanel) -> None:
    assert panel.plot.objectName() == "layer_curve"
    assert [one.name for one in panel.plot.series] == ["picture0", "picture1"]
    session.tick_input(2, False)
    settled(qtbot, session)
    assert [one.name for one in panel.plot.series] == ["picture0"]


def test_layers_stand_in_the_order_of_the_run(panel: LayerPanel) -> None:
    assert panel.plot.layers == ["stem.0", "stem.1", "stem.2", "body.0", "body.1", "head"]


@pytest.mark.parametrize("place", range(5))
def test_values_are_those_of_the_recorded_tensors(session: Session, panel: LayerPanel, place: int) -> None:
    panel.quantity.buttons[place].click()
    metric = depth.METRICS[place]
    kind = "grad_output" if metric == "grad" else "output"
    plain = {
        "mean_abs": lambda values: np.abs(values).mean(),
        "mean": lambda values: values.mean(),
        "std": lambda values: values.std(),
        "zeros": lambda values: 100 * (values == 0).mean(),
        "grad": lambda values: np.sqrt((values**2).sum()),
    }[metric]
    kinds = {hv.Kind.OUTPUT, hv.Kind.GRAD_OUTPUT}
    plan = hv.HookPlan.of(session.model, "*", kinds=kinds)
    recording = hv.capture(session.model, session.inputs[0].input.args, plan, target=hv.top_class())
    one = panel.plot.series[0]
    assert one.number == 1
    assert len(one.places) == len(panel.plot.layers)
    for at, value in zip(one.places, one.values, strict=True):
        record = recording.record(panel.plot.layers[at], kind)
        assert value == pytest.approx(plain(record.array().astype(np.float64)), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("metric", ["mean", "zeros"])
def test_means_and_zeros_are_drawn_on_a_linear_axis(panel: LayerPanel, metric: str) -> None:
    panel.quantity.buttons[depth.METRICS.index(metric)].click()
    assert not panel.axis.buttons[1].isEnabled()
    assert not panel.plot._log


def test_a_click_goes_to_the_nearest_recorded_layer(
    qtbot: QtBot, session: Session, panel: LayerPanel
) -> None:
    box = panel.plot.getPlotItem().getViewBox()
    place = panel.plot.layers.index("body.0")
    scene = box.mapViewToScene(QPointF(place + 0.2, 0.0))
    point = panel.plot.mapFromScene(scene)
    qtbot.mouseClick(panel.plot.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert session.selection.path == "body.0"
    assert panel.plot._current == place


def test_the_legend_says_the_values_here(session: Session, panel: LayerPanel) -> None:
    session.select(path="stem.0")
    expected = np.abs(session.runs[1].recording.record("stem.0", "output").array()).mean()
    number, name, value, _ = panel.legend.entries[0]
    assert (number, name) == (1, "picture0")
    assert float(value) == pytest.approx(float(expected), abs=1e-3)


def test_without_gradients_the_gradient_curve_says_why(
    qtbot: QtBot, session: Session, panel: LayerPanel
) -> None:
    session.set_settings(target=TargetChoice("none"))
    settled(qtbot, session)
    panel.quantity.buttons[depth.METRICS.index("grad")].click()
    assert panel._empty.empty.isVisible()
    assert "choose a target" in panel._empty.empty.sentence.text()


def test_a_failed_run_ends_where_it_failed(qtbot: QtBot, session: Session, panel: LayerPanel) -> None:
    class Late(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.third = nn.Conv2d(3, 3, 1), nn.ReLU(), nn.Linear(5, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.third(self.second(self.first(x)))

    session.set_model(Late())
    session.tick(["first", "second", "third"], True)
    settled(qtbot, session)
    assert [panel.plot.layers[place] for place in panel.plot.series[0].places] == ["first", "second"]


def test_nan_is_marked(qtbot: QtBot, session: Session, panel: LayerPanel) -> None:
    model = nn.Sequential(nn.ReLU(), nn.Threshold(0.1, float("nan")))
    session.set_model(model)
    session.set_settings(target=TargetChoice("none"))
    session.tick(["0", "1"], True)
    settled(qtbot, session)
    bad = panel.plot.series[0].bad
    assert [panel.plot.layers[place] for place in bad] == ["1"]


def test_blocks_are_labelled_shortly() -> None:
    layers = [f"features.{k}.conv.{j}" for k in range(8) for j in range(2)] + ["classifier.1"]
    found = depth.blocks(layers)
    assert [block.label for block in found] == ["0", "1", "2", "3", "4", "5", "6", "7", "classifier"]
    assert (found[1].first, found[1].last) == (2, 3)
    assert depth.blocks([]) == []


def test_marks_of_the_axis_are_round_and_inside() -> None:
    for low, high in ((-2.3, 0.4), (-0.2, 0.1), (-7.0, 5.0)):
        marks = _marks(low, high, log=True)
        assert marks
        assert all(low < height < high for height, _ in marks)
    assert [text for _, text in _marks(-2.3, 0.4, log=True)] == ["0.01", "0.1", "1"]
    assert [text for _, text in _marks(-4.5, 2.3, log=True, most=3)] == ["1e−4", "0.1", "100"]
    assert len(_marks(0.0, 1.03, log=False, most=2)) <= 3
    assert [text for _, text in _marks(-13.0, 104.0, log=False, most=2)] == ["0", "100"]
    linear = _marks(0.0, 1.03, log=False)
    assert 2 <= len(linear) <= 6


def test_the_curve_is_drawn_anew_in_the_other_theme(panel: LayerPanel) -> None:
    set_theme("dark")
    dark = panel.plot.grab().toImage().pixelColor(3, 3)
    set_theme("light")
    light = panel.plot.grab().toImage().pixelColor(3, 3)
    set_theme("dark")
    assert dark.lightness() < 60 < 200 < light.lightness()


def test_words_that_would_overlap_are_written_once() -> None:
    assert apart([3, 4, 5, 9, 10, 30], 4) == [3, 9, 30]
    assert apart([3, 6, 9, 12], 4) == [3]
    assert apart([], 4) == []


def test_during_the_first_run_nobody_is_told_to_press_run(qtbot: QtBot) -> None:
    session = Session()
    session.set_model(Tiny())
    panel = LayerPanel(session)
    qtbot.addWidget(panel)
    said: list[str] = []
    session.run_started.connect(lambda: said.append(panel._empty.empty.sentence.text()))
    session.add_inputs([picture(0, channels=4)])
    settled(qtbot, session)
    assert said == ["Running …"]
    assert panel._empty.empty.sentence.text().startswith("No layer was recorded")
    session.close()


def test_where_the_quantities_have_no_room_one_button_has_them_all(panel: LayerPanel) -> None:
    panel.resize(1200, 200)
    assert panel.quantity.isVisibleTo(panel)
    assert not panel.which.isVisibleTo(panel)
    panel.resize(300, 200)
    assert panel.which.isVisibleTo(panel)
    assert not panel.quantity.isVisibleTo(panel)
    panel.which.fill()
    offered = {action.text(): action for action in panel.which.menu().actions()}
    offered["std"].trigger()
    assert panel.quantity.buttons[panel.quantity.index].text() == panel.which.text() == "std"
