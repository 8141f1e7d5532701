"""A right click on a tile shows what can be done with it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import set_theme
from hookviewer.gui.wall import WallPanel
from hookviewer.inputs import Input
from hookviewer.kinds import Kind
from hookviewer.render import to_rgba


class Net(nn.Module):
    """Eight maps and a vector."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.fc = nn.Linear(8, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.conv(x).mean((2, 3)))


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[WallPanel]:
    """A wall with two columns."""
    set_theme("dark")
    session = Session()
    session.auto = False
    session.set_model(Net())
    session.add_inputs([Input(f"input{one}", (torch.randn(1, 1, 16, 24),)) for one in range(2)])
    session.tick(("conv", "fc"), True)
    session.select(path="conv", input=session.inputs[0].number)
    with qtbot.waitSignal(session.run_finished):
        session.run()
    made = WallPanel(session)
    qtbot.addWidget(made)
    made.resize(900, 560)
    made.show()
    qtbot.waitExposed(made)
    QApplication.processEvents()
    yield made
    session.close()


def _right_click(canvas: QWidget, point: QPoint) -> None:
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(canvas, QContextMenuEvent(reason, point, canvas.mapToGlobal(point)))


def _menu(panel: WallPanel) -> QMenu:
    found = QApplication.activePopupWidget()
    assert isinstance(found, QMenu)
    assert found.parent() is panel
    return found


def _entry(menu: QMenu, start: str) -> QAction:
    for action in menu.actions():
        if action.menu() is not None:
            inner = [one for one in action.menu().actions() if one.text() == start]
            if inner:
                return inner[0]
        if action.text().startswith(start):
            return action
    raise AssertionError(f"no entry {start!r}")


def _use(panel: WallPanel, start: str) -> None:
    menu = _menu(panel)
    _entry(menu, start).trigger()
    menu.close()


def _cell(canvas: QWidget, channel: int, row: int, column: int) -> QPoint:
    rect = canvas.tile_rect(channel)
    across, down = (column + 0.5) / 24, (row + 0.5) / 16
    return QPoint(rect.left() + int(across * rect.width()), rect.top() + int(down * rect.height()))


def test_the_clicked_tile_is_selected_and_its_value_can_be_copied(panel: WallPanel) -> None:
    session, canvas = panel.session, panel.lanes.columns[1].canvas
    _right_click(canvas, _cell(canvas, 6, 9, 20))
    chosen = session.selection
    assert (chosen.channel, chosen.cell, chosen.input) == (6, (9, 20), session.inputs[1].number)
    _use(panel, "Copy the value")
    values = session.runs[session.inputs[1].number].recording.record("conv", Kind.OUTPUT).array()
    assert float(QGuiApplication.clipboard().text()) == values[0, 6, 9, 20]


def test_the_copied_map_has_the_colours_of_the_wall(panel: WallPanel) -> None:
    session, canvas = panel.session, panel.lanes.columns[0].canvas
    _right_click(canvas, _cell(canvas, 2, 3, 3))
    _use(panel, "Copy the picture of this map")
    image = QGuiApplication.clipboard().image().convertToFormat(QImage.Format.Format_RGBA8888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    pixels = rows[:, : image.width() * 4].reshape(image.height(), image.width(), 4)
    larger = image.width() // 24
    assert (image.height(), image.width()) == (16 * larger, 24 * larger)
    assert image.width() > 200
    values = session.runs[session.inputs[0].number].recording.record("conv", Kind.OUTPUT).array()
    expected = to_rgba(values[0, 2], panel.wall.levels, "magma")
    assert (pixels[larger // 2 :: larger, larger // 2 :: larger] == expected).all()


def test_it_pins_hides_and_sorts(panel: WallPanel) -> None:
    session, canvas = panel.session, panel.lanes.columns[0].canvas
    _right_click(canvas, _cell(canvas, 5, 0, 0))
    _use(panel, "Pin channel 5")
    assert session.look.pinned("conv") == (5,)
    _right_click(canvas, canvas.tile_rect(5).center())
    _use(panel, "Let go of channel 5")
    assert session.look.pinned("conv") == ()
    _right_click(canvas, canvas.tile_rect(1).center())
    _use(panel, "Hide dead channels")
    assert session.look.hide_dead
    _right_click(canvas, canvas.tile_rect(1).center())
    _use(panel, "std")
    assert session.look.sort == "std"


def test_between_the_tiles_there_is_nothing_about_a_tile(panel: WallPanel) -> None:
    canvas = panel.lanes.columns[0].canvas
    _right_click(canvas, QPoint(canvas.width() - 1, canvas.height() - 1))
    menu = _menu(panel)
    texts = [action.text() for action in menu.actions()]
    assert not any(text.startswith(("Copy the value", "Pin", "Copy the picture of this")) for text in texts)
    assert any(text.startswith("Copy the picture of the wall") for text in texts)
    menu.close()


def test_a_strip_of_layers_has_no_channels_to_sort(panel: WallPanel) -> None:
    panel.session.select(shown=Shown.GRAD_CAM)
    canvas = panel.lanes.columns[0].canvas
    _right_click(canvas, canvas.tile_rect(0).center())
    menu = _menu(panel)
    texts = [action.text() for action in menu.actions()]
    assert any(text.startswith("Copy the value") for text in texts)
    assert not any(text.startswith(("Sort", "Pin", "Hide", "Go to")) for text in texts)
    menu.close()
