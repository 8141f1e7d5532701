"""The control of kinds: values and gradients at the output, the input, in total, and without their sign."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from gui_nets import settled
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.session import Session
from hookviewer.gui.state import Selection, Shown
from hookviewer.gui.wall.panel import WallPanel
from hookviewer.inputs import Input
from hookviewer.kinds import Kind
from hookviewer.target_choice import TargetChoice

T = torch.Tensor


class TwoUses(nn.Module):
    """A tensor goes into a convolution and around it; one output has whole numbers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.stem, self.conv, self.arg = nn.Conv2d(2, 3, 1), nn.Conv2d(3, 3, 1), Index()

    def forward(self, x: T) -> Any:
        h = self.stem(x)
        return (self.conv(h) * 2 - 3 * h + self.arg(h)).mean((2, 3))


class Index(nn.Module):
    def forward(self, x: T) -> Any:
        return x.argmax(1, keepdim=True)


X = torch.randn(1, 2, 4, 5, generator=torch.Generator().manual_seed(2))


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    one = Session()
    one.set_model(TwoUses())
    one.set_settings(target=TargetChoice("sum"))
    one.add_inputs([Input("x", (X,))])
    yield one
    one.close()


@pytest.fixture
def wall(qtbot: QtBot, session: Session) -> WallPanel:
    made = WallPanel(session)
    qtbot.addWidget(made)
    made.resize(1200, 500)
    made.show()
    return made


def choose(qtbot: QtBot, session: Session, wall: WallPanel, words: str) -> np.ndarray[Any, Any]:
    """Choose an entry of the side's menu and return what the wall shows then."""
    menu = QMenu()
    qtbot.addWidget(menu)
    wall.controls.side.fill(menu)
    next(action for action in menu.actions() if action.text() == words).trigger()
    settled(qtbot, session)
    canvas = wall.lanes.columns[0].canvas
    qtbot.waitUntil(lambda: canvas.record is not None)
    assert canvas.record is not None
    return canvas.record.array()


def test_what_is_recorded_of_each_side() -> None:
    assert Selection(shown=Shown.OUTPUT, side="total").kinds == (Kind.INPUT,)
    assert Selection(shown=Shown.GRADIENT, side="input").kinds == (Kind.GRAD_INPUT,)
    assert Selection(shown=Shown.PRODUCT, side="total").kinds == (Kind.INPUT, Kind.GRAD_INPUT_TOTAL)
    assert Selection(shown=Shown.GRAD_CAM, side="input").kinds == (Kind.OUTPUT, Kind.GRAD_OUTPUT)


def test_every_value_and_gradient_of_a_module_is_shown(
    qtbot: QtBot, session: Session, wall: WallPanel
) -> None:
    settled(qtbot, session)
    session.select(path="conv")
    settled(qtbot, session)
    net: Any = session.model
    h = net.stem(X).detach().requires_grad_()
    through = torch.autograd.grad((net.conv(h) * 2).mean((2, 3)).sum(), h)[0].numpy()
    total = through - 3 / 20
    assert np.array_equal(choose(qtbot, session, wall, "What went into the module"), h.detach().numpy())
    session.select(shown=Shown.GRADIENT)
    settled(qtbot, session)
    first = choose(qtbot, session, wall, "At the input, through this module")
    np.testing.assert_allclose(first, through, rtol=1e-5)
    assert wall.controls.side.text() == "at input"
    second = choose(qtbot, session, wall, "At the input, through all its uses")
    np.testing.assert_allclose(second, total, rtol=1e-5)
    session.select(shown=Shown.PRODUCT)
    settled(qtbot, session)
    canvas = wall.lanes.columns[0].canvas
    assert canvas.record is not None
    np.testing.assert_allclose(canvas.record.array(), h.detach().numpy() * total, rtol=1e-4)
    session.select(shown=Shown.GRADIENT)
    third = choose(qtbot, session, wall, "At the output")
    np.testing.assert_allclose(third, np.full((1, 3, 4, 5), 2 / 20), rtol=1e-6)


def test_a_gradient_without_its_sign_has_the_colours_of_values(
    qtbot: QtBot, session: Session, wall: WallPanel
) -> None:
    session.select(path="stem", shown=Shown.GRADIENT)
    settled(qtbot, session)
    assert wall.wall is not None
    assert wall.wall.colormap == "ember"
    signed = choose(qtbot, session, wall, "At the output")
    plain = choose(qtbot, session, wall, "Without its sign: |gradient|")
    assert np.array_equal(plain, np.abs(signed))
    assert (signed < 0).any()
    assert wall.wall.colormap == "magma"
    assert wall.controls.kind.currentText() == "Gradient"
    wall.cycle_kind()
    assert session.selection.shown is Shown.OUTPUT


def test_another_side_than_the_output_stays_in_sight_where_there_is_little_room(
    qtbot: QtBot, session: Session, wall: WallPanel
) -> None:
    settled(qtbot, session)
    side = wall.controls.side
    wall.resize(420, 500)
    session.select(path="conv", shown=Shown.GRADIENT)
    settled(qtbot, session)
    qtbot.waitUntil(side.isHidden)
    wall.controls.fill_more()
    assert "At the output or the input" in [one.text() for one in wall.controls.more.menu().actions()]
    choose(qtbot, session, wall, "At the input, through all its uses")
    assert side.isVisible()
    assert side.text() == "in total"


def test_looking_at_inputs_records_them_of_ticked_layers_once(qtbot: QtBot, session: Session) -> None:
    session.tick(["stem", "conv"], True)
    session.select(path="stem", side="input")
    settled(qtbot, session)
    run = session.runs[session.inputs[0].number]
    assert {
        key.path for key, one in run.recording.items() if key.kind is Kind.INPUT and one.kept is not None
    } == {
        "stem",
        "conv",
    }
    session.select(path="conv")
    assert not session.running
    session.select(side="output")
    assert not session.running


def test_where_there_is_no_gradient_the_reason_stands(
    qtbot: QtBot, session: Session, wall: WallPanel
) -> None:
    session.select(path="arg", shown=Shown.GRADIENT, side="output")
    settled(qtbot, session)
    assert wall.wall is not None
    assert wall.wall.columns[0].reason.startswith("A tensor of int64 has no gradient")
    session.select(path="arg", side="input")
    settled(qtbot, session)
    assert wall.wall.columns[0].reason.startswith("No gradient reached it from the target")
