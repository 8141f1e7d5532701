"""The scale of the wall: shared, of each input, of each channel, logarithmic; and it is always written."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot
from wall_nets import canvas, plain_hook, walls

from hookviewer import render
from hookviewer.gui.numbers import number
from hookviewer.gui.session import Session
from hookviewer.gui.wall import WallPanel
from hookviewer.resources import resource

Made = Callable[..., tuple[Session, WallPanel]]


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[Made]:
    """Make walls."""
    yield from walls(qtbot)


def _painted(panel: WallPanel, place: int, channel: int) -> np.ndarray:
    rect = canvas(panel, place).tile_rect(channel)
    image = canvas(panel, place).image()
    return image[rect.top() : rect.bottom() + 1, rect.left() : rect.right() + 1, :3]


def _expected(values: np.ndarray, places: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    """The colours of places 0 to 1 between the ends of a scale, each cell enlarged to `shape` pixels."""
    with np.load(resource("colormaps.npz")) as tables:
        table = tables[name]
    index = np.clip(places * np.float32(255) + np.float32(0.5), 0, 255).astype(np.uint8)
    rows = [int((y + 0.5) / shape[0] * len(values)) for y in range(shape[0])]
    columns = [int((x + 0.5) / shape[1] * values.shape[1]) for x in range(shape[1])]
    return table[index][np.ix_(rows, columns)]


def _linear(values: np.ndarray, low: float, high: float) -> np.ndarray:
    return (values - np.float32(low)) / np.float32(high - low)


def test_each_channel_has_its_own_scale(make: Made) -> None:
    session, panel = make(2)
    session.set_look(scale="full", share="channel")
    for place in range(2):
        maps = plain_hook(session, "conv", session.inputs[place].input.args[0])[0]
        for channel in range(6):
            part, one = _painted(panel, place, channel), maps[channel]
            places = _linear(one, float(one.min()), float(one.max()))
            assert (part == _expected(one, places, part.shape, "magma")).all()
    assert (panel.controls.low.text(), panel.controls.high.text()) == ("min", "max")
    assert panel.controls.scale.shown_text() in (
        "Scale: each channel, min to max",
        "each channel, min to max",
    )
    assert "each channel on its own scale" in panel.foot.words.toolTip()


def test_each_input_has_its_own_scale_and_its_ends_stand_over_it(make: Made) -> None:
    session, panel = make(2)
    session.set_look(scale="full", share="input")
    for place in range(2):
        maps = plain_hook(session, "conv", session.inputs[place].input.args[0])[0]
        low, high = float(maps.min()), float(maps.max())
        part = _painted(panel, place, 3)
        assert (part == _expected(maps[3], _linear(maps[3], low, high), part.shape, "magma")).all()
        head = panel.lanes.columns[place].head.numbers
        assert f"{number(low)} … {number(high)}" in head.versions[-1]
    assert "each column on its own scale" in panel.foot.words.toolTip()


def test_levels_set_by_hand_hold_for_all(make: Made) -> None:
    session, panel = make(2)
    session.set_look(share="channel", levels=(-1.0, 1.0))
    maps = plain_hook(session, "conv", session.inputs[1].input.args[0])[0]
    part = _painted(panel, 1, 2)
    assert (part == _expected(maps[2], _linear(maps[2], -1, 1), part.shape, "magma")).all()
    assert panel.controls.scale.shown_text().endswith("by hand")


def test_a_logarithmic_scale_has_zero_in_the_middle_of_signed_values(make: Made) -> None:
    session, panel = make()
    session.set_look(scale="log", colormap="ember")
    maps = plain_hook(session, "conv", session.inputs[0].input.args[0])[0]
    size = np.abs(maps).max()
    assert panel.wall.levels == pytest.approx((-size, size))
    whole = np.log1p(1000.0)
    places = (np.sign(maps[1]) * np.log1p(np.abs(maps[1]) / size * 1000) + whole) / (2 * whole)
    part = _painted(panel, 0, 1).astype(int)
    expected = _expected(maps[1], places.astype(np.float32), part.shape, "ember").astype(int)
    assert np.abs(part - expected).max() <= 6  # one entry of the colour table, by rounding
    assert "log" in panel.controls.scale.shown_text()


def test_a_logarithm_shows_what_is_a_thousandth_of_the_largest_value() -> None:
    values = np.array([0, 1, 10, 100, 1000], np.float32)
    even = render.to_index(values, (0, 1000)).tolist()
    bent = render.to_index(values, (0, 1000), curve="log").tolist()
    assert even == [0, 0, 3, 26, 255]
    assert np.diff(bent).min() > 20
    assert bent == [round(255 * np.log1p(value) / np.log1p(1000)) for value in values]


def test_the_control_says_what_shares_a_scale(make: Made) -> None:
    session, panel = make(2)
    box = panel.findChild(QComboBox, "share")
    box.setCurrentIndex(box.findData("channel"))
    assert session.look.share == "channel"
    box.setCurrentIndex(box.findData("inputs"))
    assert session.look.share == "inputs"
    assert panel.controls.low.text() == number(panel.wall.levels[0])
