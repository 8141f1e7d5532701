"""A click on a recorded layer makes nothing that was there before it, and shows the right numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer import arrays
from hookviewer.gui.inspector import Inspector
from hookviewer.gui.layer_panel import LayerPanel
from hookviewer.gui.numbers import number
from hookviewer.gui.session import Session
from hookviewer.gui.theme import set_theme
from hookviewer.gui.wall import WallPanel
from hookviewer.inputs import Input
from hookviewer.kinds import Kind

Made = Callable[..., Session]


class Net(nn.Module):
    """Two layers of more than 2¹⁸ values each."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 32, 3, padding=1)
        self.second = nn.Conv2d(32, 32, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x)).mean((2, 3))


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    """A session whose net has not run yet; both layers are ticked."""
    set_theme("dark")
    made = Session()
    made.auto = False
    made.set_model(Net())
    made.tick(("first", "second"), True)
    made.select(path="first")
    yield made
    made.close()


def _run(session: Session, qtbot: QtBot, *batches: int) -> None:
    session.add_inputs([Input(f"input{one}", (torch.randn(one, 1, 96, 96),)) for one in batches])
    session.select(input=session.inputs[0].number)
    with qtbot.waitSignal(session.run_finished):
        session.run()
    qtbot.waitUntil(lambda: not session.runner.busy, timeout=20_000)


def test_the_scale_of_ticked_layers_is_there_before_they_are_looked_at(
    session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = WallPanel(session)
    qtbot.addWidget(panel)
    _run(session, qtbot, 1, 1)
    asked: list[str] = []
    plain = arrays.shared_levels

    def counting(values: list[object], scale: str) -> tuple[float, float]:
        asked.append(scale)
        return plain(values, scale)

    monkeypatch.setattr(arrays, "shared_levels", counting)
    session.select(path="second")
    assert asked == []
    both = [run.recording.record("second", Kind.OUTPUT).array() for run in session.runs.values()]
    assert panel.wall.levels == plain(both, "robust")
    session.set_look(scale="symmetric")
    assert asked == ["symmetric"]


def test_a_run_ends_the_preparing_of_layers(session: Session, qtbot: QtBot) -> None:
    panel = WallPanel(session)
    qtbot.addWidget(panel)
    _run(session, qtbot, 1)
    panel._warming.begin()
    with qtbot.waitSignal(session.run_finished):
        session.run()
    qtbot.waitUntil(lambda: not session.runner.busy, timeout=20_000)
    assert panel._warming._waiting == []


def test_another_layer_only_moves_the_mark_in_the_curve(session: Session, qtbot: QtBot) -> None:
    panel = LayerPanel(session)
    qtbot.addWidget(panel)
    _run(session, qtbot, 1, 1)
    plot = panel.plot
    before = list(plot.getPlotItem().items)
    drawn = [line.getData()[1].copy() for line, _ in plot._lines]
    session.select(path="second")
    assert plot.getPlotItem().items == before
    place = plot.layers.index("second")
    assert list(plot._here.getData()[0]) == [place, place]
    heights = [float(one.values[list(one.places).index(place)]) for one in plot.series]
    assert sorted(plot._dots.getData()[1]) == pytest.approx(sorted(np.log10(heights)))
    for (line, _), values in zip(plot._lines, drawn, strict=True):
        np.testing.assert_array_equal(line.getData()[1], values)
    session.select(path="")
    assert len(plot._here.getData()[0] if plot._here.getData()[0] is not None else ()) == 0


@pytest.mark.parametrize("batch", [1, 2])
def test_the_inspector_says_the_numbers_of_what_it_shows(session: Session, qtbot: QtBot, batch: int) -> None:
    inspector = Inspector(session)
    qtbot.addWidget(inspector)
    _run(session, qtbot, batch)
    session.set_look(sample=batch - 1)
    session.select(channel=5)
    QApplication.processEvents()
    inspector.refresh_slow()
    recording = session.runs[session.inputs[0].number].recording
    values = recording.record("first", Kind.OUTPUT).tensor()[batch - 1].double()
    slopes = recording.record("first", Kind.GRAD_OUTPUT).tensor()[batch - 1].double()
    rows = {name: (own, layer) for name, own, layer in inspector.statistics.rows}
    assert rows["mean"] == (number(float(values[5].mean())), number(float(values.mean())))
    assert rows["max"] == (number(float(values[5].max())), number(float(values.max())))
    assert rows["|grad|"] == (number(float(slopes[5].norm())), number(float(slopes.norm())))
