"""The controls of the wall give way in little room: the scale stays in sight, everything can be reached."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import torch
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import set_theme
from hookviewer.gui.wall import WallPanel
from hookviewer.gui.wall.controls import Controls
from hookviewer.inputs import Input
from hookviewer.kinds import Kind

NARROW, USUAL, WIDE = 394, 668, 1100
"""How wide the wall is in a window of 900, 1280 and about 1800 pixels."""


class Net(nn.Module):
    """Maps with values below and above zero, and a vector."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 12, 3, padding=1)
        self.fc = nn.Linear(12, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.conv(x).mean((2, 3)))


@pytest.fixture
def sessions() -> Iterator[list[Session]]:
    made: list[Session] = []
    yield made
    for session in made:
        session.close()


def _panel(qtbot: QtBot, sessions: list[Session], width: int, inputs: int, batch: int) -> WallPanel:
    set_theme("dark")
    session = Session()
    sessions.append(session)
    session.auto = False
    session.set_model(Net())
    session.add_inputs([Input(f"input{one}", (torch.randn(batch, 1, 16, 24),)) for one in range(inputs)])
    session.tick(("conv", "fc"), True)
    session.select(path="conv")
    with qtbot.waitSignal(session.run_finished):
        session.run()
    panel = WallPanel(session)
    qtbot.addWidget(panel)
    panel.resize(width, 500)
    panel.show()
    qtbot.waitExposed(panel)
    QApplication.processEvents()
    return panel


def _texts(menu: QMenu) -> list[str]:
    """All entries of a menu and the menus in it."""
    found: list[str] = []
    for action in menu.actions():
        found += _texts(action.menu()) if action.menu() is not None else [action.text()]
    return found


def _entry(menu: QMenu, text: str) -> QAction:
    for action in menu.actions():
        below = action.menu()
        if below is not None and text in _texts(below):
            return _entry(below, text)
        if action.text() == text:
            return action
    raise AssertionError(f"{text} is not in the menu: {_texts(menu)}")


def _in_sight(controls: Controls, widget: QWidget) -> bool:
    return widget.isVisible() and widget.geometry().right() <= controls.width() - 1


@pytest.mark.parametrize("width", [NARROW, USUAL, WIDE])
@pytest.mark.parametrize("inputs", [1, 2])
@pytest.mark.parametrize("batch", [1, 2])
def test_everything_is_in_sight_or_in_the_menu(
    qtbot: QtBot, sessions: list[Session], width: int, inputs: int, batch: int
) -> None:
    panel = _panel(qtbot, sessions, width, inputs, batch)
    session, controls = panel.session, panel.controls
    for shown in Shown:
        for difference in (False, True) if inputs > 1 else (False,):
            session.select(shown=shown)
            session.set_look(difference=difference)
            QApplication.processEvents()
            for always in (controls.scale, controls.low, controls.high, controls.colormap, controls.kind):
                assert _in_sight(controls, always)
            assert controls.layout().sizeHint().width() <= controls.width(), shown
            controls.fill_more()
            texts = _texts(controls.more.menu())
            assert _in_sight(controls, controls.sort) or "std" in texts or shown is Shown.GRAD_CAM
            assert _in_sight(controls, controls.difference) or "Difference\tD" in texts
            wanted = [one for one in controls.kind.buttons if controls.kind.offers(one)]
            hidden_kinds = [one for one in wanted if not one.isVisible()]
            for box in (controls.sort, controls.scale, controls.vary, controls.difference):
                assert box.isHidden() or box.width() >= box.sizeHint().width(), (shown, difference, box)
            assert all(one.accessibleName() in texts for one in hidden_kinds)
            assert _in_sight(controls, controls.more) == bool(texts)


def test_at_a_window_of_1280_pixels_both_selectors_are_in_sight(
    qtbot: QtBot, sessions: list[Session]
) -> None:
    panel = _panel(qtbot, sessions, USUAL, 2, 2)
    assert _in_sight(panel.controls, panel.controls.sort)
    assert _in_sight(panel.controls, panel.controls.scale)


def test_the_menu_does_what_the_controls_do(qtbot: QtBot, sessions: list[Session]) -> None:
    panel = _panel(qtbot, sessions, NARROW, 2, 1)
    session, controls = panel.session, panel.controls
    assert not controls.sort.isVisible()
    controls.fill_more()
    _entry(controls.more.menu(), "std").trigger()
    assert session.look.sort == "std"
    controls.fill_more()
    _entry(controls.more.menu(), "Difference\tD").trigger()
    assert session.look.difference
    controls.fill_more()
    _entry(controls.more.menu(), "Gradient").trigger()
    assert session.selection.shown is Shown.GRADIENT
    assert [one.objectName() for one in controls.kind.buttons if one.isVisible()] == ["Gradient"]


def test_the_foot_tells_the_scale_of_the_difference(qtbot: QtBot, sessions: list[Session]) -> None:
    panel = _panel(qtbot, sessions, NARROW, 2, 1)
    panel.session.set_look(difference=True)
    first, second = (
        run.recording.record("conv", Kind.OUTPUT).tensor()[0] for run in panel.session.runs.values()
    )
    size = (first - second).abs().flatten().quantile(0.98)
    said = re.search(r"difference ±([\d.]+)", panel.foot.words.toolTip())
    assert said is not None
    assert float(said[1]) == pytest.approx(float(size), rel=2e-3)
