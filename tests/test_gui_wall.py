"""The wall shows what was recorded: a column per ticked input, one scale, and which value is where."""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot
from wall_nets import Net, walls
from wall_nets import canvas as _canvas
from wall_nets import expected as _expected
from wall_nets import input_of as _input
from wall_nets import means_along as _means_along
from wall_nets import middle as _middle
from wall_nets import plain_hook as _plain_hook

from hookviewer import arrays
from hookviewer.gui.numbers import number
from hookviewer.gui.reading import read_out
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import set_theme, theme
from hookviewer.gui.wall import WallPanel
from hookviewer.kinds import Kind


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[Callable[..., tuple[Session, WallPanel]]]:
    """Make walls."""
    yield from walls(qtbot)


def test_a_column_holds_what_a_plain_hook_sees_before_it_is_overwritten(make) -> None:
    session, panel = make(2)
    for place in range(2):
        expected = _plain_hook(session, "conv", session.inputs[place].input.args[0])
        np.testing.assert_array_equal(_canvas(panel, place).record.array(), expected)
    assert panel.findChild(QWidget, "wall_2") is None


def test_what_is_painted_is_levels_look_up_and_nearest_cell(make) -> None:
    session, panel = make(2)
    maps = [_plain_hook(session, "conv", item.input.args[0])[0] for item in session.inputs]
    session.set_look(scale="full")
    levels = (float(min(map(np.min, maps))), float(max(map(np.max, maps))))
    for place in range(2):
        canvas = _canvas(panel, place)
        image = canvas.image()
        assert image.shape == (canvas.height(), canvas.width(), 4)
        for channel in range(6):
            rect = canvas.tile_rect(channel)
            part = image[rect.top() : rect.bottom() + 1, rect.left() : rect.right() + 1, :3]
            expected = _expected(maps[place][channel], levels, "magma", (rect.width(), rect.height()))
            assert (part == expected).all()


def test_tiles_smaller_than_their_maps_show_the_mean_of_each_area(make) -> None:
    session, panel = make(1, size=(256, 384))
    session.set_look(scale="full")
    canvas = _canvas(panel, 0)
    values = canvas.record.array()[0]
    levels = (float(values.min()), float(values.max()))
    rect = canvas.tile_rect(2)
    part = canvas.image()[rect.top() : rect.bottom() + 1, rect.left() : rect.right() + 1, :3].astype(int)
    assert rect.width() < 384
    means = _means_along(_means_along(values[2].astype(np.float64), rect.height()).T, rect.width()).T
    expected = _expected(means, levels, "magma", (rect.width(), rect.height())).astype(int)
    assert np.abs(part - expected).max() <= 4  # a mean that falls on the edge of two colours


def test_the_scale_in_force_is_written(make) -> None:
    session, panel = make(2)
    session.set_look(scale="full")
    both = np.stack([_plain_hook(session, "conv", item.input.args[0]) for item in session.inputs])
    texts = [panel.findChild(QLabel, name).text() for name in ("scale_low", "scale_high")]
    numbers = [float(text.replace("−", "-")) for text in texts]
    assert numbers == pytest.approx([both.min(), both.max()], abs=1e-3)
    assert "one scale for all columns" in panel.foot.words.text()


def test_the_difference_column_comes_last_with_its_own_scale_and_numbers(make) -> None:
    session, panel = make(2)
    panel.toggle_difference()
    canvas = _canvas(panel, 2)
    first, second = (_plain_hook(session, "conv", item.input.args[0])[0] for item in session.inputs)
    np.testing.assert_array_equal(canvas.record.array(), first - second)
    rect = canvas.tile_rect(1)
    size = float(np.quantile(np.abs(first - second), 0.98))
    part = canvas.image()[rect.top() : rect.bottom() + 1, rect.left() : rect.right() + 1, :3].astype(int)
    expected = _expected((first - second)[1], (-size, size), "ember", (rect.width(), rect.height()))
    assert np.abs(part - expected.astype(int)).max() <= 6  # the quantile is interpolated in another precision
    cosine = float((first * second).sum() / np.linalg.norm(first) / np.linalg.norm(second))
    assert f"cosine {number(cosine)}" in panel.lanes.columns[2].head.numbers.toolTip()


def test_channels_are_sorted_alike_in_all_columns(make) -> None:
    session, panel = make(2)
    session.set_look(sort="mean")
    means = _plain_hook(session, "conv", session.inputs[0].input.args[0])[0].mean((1, 2))
    order = np.argsort(-means, kind="stable")
    for place in range(2):
        canvas = _canvas(panel, place)
        corners = [canvas.tile_rect(int(channel)).topLeft() for channel in order]
        assert corners == sorted(corners, key=lambda corner: (corner.y(), corner.x()))


def test_the_control_of_kinds_is_driven_by_its_words(make) -> None:
    session, panel = make()
    kind = panel.findChild(QWidget, "kind")
    for word, shown in (("Gradient", Shown.GRADIENT), ("Product", Shown.PRODUCT), ("Output", Shown.OUTPUT)):
        kind.setCurrentText(word)
        assert session.selection.shown is shown
        assert kind.currentText() == word
    output, gradient = (session.recording(1).record("conv", one) for one in (Kind.OUTPUT, Kind.GRAD_OUTPUT))
    kind.setCurrentText("Product")
    np.testing.assert_array_equal(_canvas(panel, 0).record.array(), output.array() * gradient.array())


def test_the_combo_boxes_change_how_it_looks(make) -> None:
    session, panel = make(2)
    for name, text in (("sort", "max"), ("scale", "symmetric"), ("colormap", "viridis")):
        panel.findChild(QComboBox, name).setCurrentText(text)
    assert (session.look.sort, session.look.scale, session.look.colormap) == ("max", "symmetric", "viridis")
    maps = _canvas(panel, 0).record.array()[0]
    both = [_plain_hook(session, "conv", item.input.args[0]) for item in session.inputs]
    levels = arrays.shared_levels(both, "symmetric")
    rect = _canvas(panel, 0).tile_rect(5)
    part = _canvas(panel, 0).image()[rect.top() : rect.bottom() + 1, rect.left() : rect.right() + 1, :3]
    assert (part == _expected(maps[5], levels, "viridis", (rect.width(), rect.height()))).all()


def test_an_overwritten_tensor_is_said_to_be_one(make) -> None:
    session, panel = make()
    label = panel.findChild(QLabel, "overwritten")
    assert label.toolTip() == ("overwritten in place by `relu`: a plain hook would show the wrong values")
    session.select(path="relu")
    assert label.toolTip() == ""


def test_an_empty_column_says_why(make, qtbot: QtBot) -> None:
    session, panel = make()
    session.add_inputs([_input("late", 9)])
    assert panel.wall.columns[1].reason == "Not run yet. Press Run (F5)."
    assert _canvas(panel, 1).record is None
    assert _canvas(panel, 1).image().shape[2] == 4
    session.tick_input(session.inputs[0].number, False)
    session.tick_input(session.inputs[1].number, False)
    assert panel.lanes.columns == []
    assert panel.foot.words.toolTip() == "Tick an input in the list at the left."


def test_more_inputs_than_columns_are_counted(make) -> None:
    _, panel = make(6)
    assert len(panel.lanes.columns) == 4
    assert "2 more ticked inputs are not shown" in panel.foot.words.toolTip()


def test_the_breadcrumb_leads_to_parents(make) -> None:
    session, panel = make()
    panel.head._links[0].click()
    assert session.selection.path == ""


def test_dead_maps_and_bad_values_are_marked_and_counted(qtbot: QtBot, make) -> None:
    session, panel = make()
    with torch.no_grad():
        session.model.conv.weight[2] = 0
        session.model.conv.bias[2] = 0
        session.model.conv.bias[4] = float("nan")
    with qtbot.waitSignal(session.run_finished):
        session.run()
    canvas = _canvas(panel, 0)
    assert panel.foot.words.toolTip().startswith("6 channels, 1 dead, 1 with NaN or inf")
    rect = canvas.tile_rect(4)
    part = canvas.image()[rect.top() : rect.bottom() + 1, rect.left() : rect.right() + 1, :3]
    assert (part == (61, 255, 139)).all()
    panel.grab()


def test_the_picture_is_copied_to_the_clipboard(make) -> None:
    _, panel = make(2)
    panel.copy_picture()
    image = QApplication.clipboard().image()
    assert image.width() == panel.lanes.width()
    assert image.pixelColor(_canvas(panel, 0).mapTo(panel.lanes, _middle(_canvas(panel, 0), 0))).isValid()


def test_the_theme_changes_the_canvas_but_not_the_maps(make) -> None:
    _, panel = make()
    canvas, tiles, corners = _canvas(panel, 0), [], []
    for name in ("dark", "light"):
        set_theme(name)
        QApplication.processEvents()
        rect, image = canvas.tile_rect(1), canvas.image()
        tiles.append(image[rect.top() : rect.bottom() + 1, rect.left() : rect.right() + 1])
        corners.append((tuple(image[-1, -1, :3]), theme()["canvas"].getRgb()[:3]))
    assert (tiles[0] == tiles[1]).all()
    assert all(painted == canvas_colour for painted, canvas_colour in corners)
    assert corners[0] != corners[1]


def test_a_new_run_leaves_nothing_of_the_old_one_in_memory(make, qtbot: QtBot) -> None:
    session, panel = make(2)
    panel.toggle_difference()
    panel.grab()
    old = [weakref.ref(session.recording(item.number).record("conv", Kind.OUTPUT)) for item in session.inputs]
    with qtbot.waitSignal(session.run_finished):
        session.run()
    panel.grab()
    QApplication.processEvents()
    gc.collect()
    assert [record() for record in old] == [None, None]


def test_the_axes_can_be_read_in_another_way_and_the_type_remembers_it(make) -> None:
    session, panel = make()
    button = panel.findChild(QWidget, "reading")
    entries = {action.text(): action for action in button.menu().actions()}
    assert [text for text, action in entries.items() if action.isChecked()] == [
        "sample × channel × row × column"
    ]
    entries["sample × row × column × channel"].trigger()
    values = _plain_hook(session, "conv", session.inputs[0].input.args[0])[0]
    np.testing.assert_array_equal(panel.wall.columns[0].maps.values, np.moveaxis(values, -1, 0))
    assert button.text() == "row × column × channel"
    assert session.look.readings == {"conv": "sample × row × column × channel"}
    session.set_model(Net())
    assert session.look.readings == {"conv": "sample × row × column × channel"}


def test_a_vector_is_a_table_on_request(make) -> None:
    session, panel = make()
    session.select(path="fc")
    entries = {action.text(): action for action in panel.findChild(QWidget, "reading").menu().actions()}
    entries["table"].trigger()
    assert panel.wall.columns[0].maps.layout == "table"
    assert type(_canvas(panel, 0).view).__name__ == "Table"


def test_the_read_out_names_the_difference(make) -> None:
    session, panel = make(2)
    panel.toggle_difference()
    session.select(channel=1, cell=(2, 3))
    one, other = (_plain_hook(session, "conv", item.input.args[0])[0, 1, 2, 3] for item in session.inputs)
    number = r"(−?[\d.]+)"
    found = re.fullmatch(rf"c 1  y 2  x 3  A {number}   B {number}   A − B {number}", read_out(session)[0])
    assert found is not None
    written = [float(text.replace("−", "-")) for text in found.groups()]
    assert written == pytest.approx([float(one), float(other), float(one - other)], abs=6e-4)
