"""The wall shows what was recorded: a column per ticked input, one scale, and which value is where."""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTranslator
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer import arrays
from hookviewer.gui.inspector import Inspector
from hookviewer.gui.numbers import number
from hookviewer.gui.reading import read_out
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import set_theme, theme
from hookviewer.gui.wall import WallPanel
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.inputs import Input
from hookviewer.kinds import Kind
from hookviewer.render import COLORMAPS
from hookviewer.resources import resource


class Net(nn.Module):
    """Six maps, a ReLU that overwrites them, a vector and a number."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)
        self.fc = nn.Linear(6, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.relu(self.conv(x)).mean((2, 3)))


PATHS = ("conv", "relu", "fc")


def _input(name: str, seed: int, size: tuple[int, int] = (8, 12)) -> Input:
    return Input(name, (torch.randn(1, 1, *size, generator=torch.Generator().manual_seed(seed)),))


def _session(qtbot: QtBot, inputs: int = 1, **sizes: tuple[int, int]) -> Session:
    session = Session()
    session.auto = False
    torch.manual_seed(3)
    session.set_model(Net())
    size = sizes.get("size", (8, 12))
    session.add_inputs([_input(f"input{seed}", seed, size) for seed in range(1, inputs + 1)])
    session.tick(PATHS, True)
    session.select(path="conv")
    with qtbot.waitSignal(session.run_finished):
        session.run()
    return session


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[object]:
    """Make a wall of a session with so many inputs, 640 × 480."""
    sessions: list[Session] = []

    def made(inputs: int = 1, **sizes: tuple[int, int]) -> tuple[Session, WallPanel]:
        set_theme("dark")
        session = _session(qtbot, inputs, **sizes)
        sessions.append(session)
        panel = WallPanel(session)
        qtbot.addWidget(panel)
        panel.resize(900, 560)
        panel.show()
        qtbot.waitExposed(panel)
        QApplication.processEvents()
        return session, panel

    yield made
    for session in sessions:
        session.close()


def _canvas(panel: WallPanel, place: int) -> Canvas:
    found = panel.findChild(QWidget, f"wall_{place}")
    assert isinstance(found, Canvas)
    return found


def _plain_hook(session: Session, path: str, x: torch.Tensor) -> np.ndarray:
    kept = []
    module = session.model.get_submodule(path)
    handle = module.register_forward_hook(lambda *call: kept.append(call[2].detach().clone()))
    with torch.no_grad():
        session.model.eval()(x)
    handle.remove()
    return kept[0].numpy()


def _expected(
    values: np.ndarray, levels: tuple[float, float], name: str, size: tuple[int, int]
) -> np.ndarray:
    """One map as RGB, width × height pixels: levels, look-up, nearest cell, in plain numpy."""
    with np.load(resource("colormaps.npz")) as tables:
        table = tables[name]
    low, span = np.float32(levels[0]), np.float32(levels[1] - levels[0])
    place = (values.astype(np.float32) - low) / span * np.float32(255) + np.float32(0.5)
    index = np.clip(place, 0, 255).astype(np.uint8)
    width, height = size
    rows = [int((y + 0.5) / height * len(values)) for y in range(height)]
    columns = [int((x + 0.5) / width * values.shape[1]) for x in range(width)]
    return table[index][np.ix_(rows, columns)]


def _means_along(values: np.ndarray, pixels: int) -> np.ndarray:
    """The mean of each of `pixels` equal parts of the first axis, by differences of a running sum."""
    running = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    edges = np.linspace(0, len(values), pixels + 1)
    places = np.arange(len(running))
    at_edges = np.stack([np.interp(edges, places, column) for column in running.T], axis=1)
    return np.diff(at_edges, axis=0) / (len(values) / pixels)


def _click(canvas: Canvas, point: QPoint, qtbot: QtBot) -> None:
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=point)


def _middle(canvas: Canvas, channel: int) -> QPoint:
    return canvas.tile_rect(channel).center()


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


def test_a_click_selects_channel_cell_and_input_and_says_the_value(make, qtbot: QtBot) -> None:
    session, panel = make(2)
    canvas = _canvas(panel, 1)
    told: list[str] = []
    panel.pointed.connect(told.append)
    rect = canvas.tile_rect(4)
    point = QPoint(rect.left() + round(rect.width() * 7.5 / 12), rect.top() + round(rect.height() * 2.5 / 8))
    _click(canvas, point, qtbot)
    assert session.selection.channel == 4
    assert session.selection.cell == (2, 7)
    assert session.selection.input == session.inputs[1].number
    value = _plain_hook(session, "conv", session.inputs[1].input.args[0])[0, 4, 2, 7]
    assert number(float(value)) in told[-1]
    assert "c 4  y 2  x 7" in told[-1]


def test_the_cell_under_the_pointer_is_known_in_all_columns(make, qtbot: QtBot) -> None:
    session, panel = make(2)
    canvas = _canvas(panel, 0)
    qtbot.mouseMove(canvas, _middle(canvas, 3))
    assert session.pointed is not None
    assert session.pointed.channel == 3
    for place in range(2):
        assert _canvas(panel, place).view.sheet.pointed == session.pointed
    canvas.leaveEvent(None)
    assert session.pointed is None


def test_zooming_in_one_column_zooms_all_and_a_double_click_fits_again(make, qtbot: QtBot) -> None:
    _, panel = make(2)
    first, second = _canvas(panel, 0), _canvas(panel, 1)
    before = first.tile_rect(0)
    at = QPointF(_middle(first, 1))
    event = QWheelEvent(
        at,
        first.mapToGlobal(at),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    spot = first.view.spot(at)
    QApplication.sendEvent(first, event)
    assert first.tile_rect(0).width() == pytest.approx(before.width() * 1.44, abs=2)
    assert second.tile_rect(0) == first.tile_rect(0)
    assert first.view.spot(at) == spot
    panel.fit()
    assert first.tile_rect(0) == before


def test_a_drag_pans_and_selects_nothing(make, qtbot: QtBot) -> None:
    session, panel = make()
    panel.zoom(3)
    canvas = _canvas(panel, 0)
    before = canvas.tile_rect(0)
    start = canvas.rect().center()
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=start)
    moved = start + QPoint(-20, -30)
    event = canvas.mapToGlobal(moved)
    QApplication.sendEvent(
        canvas,
        QMouseEvent(
            QEvent.Type.MouseMove,
            QPointF(moved),
            QPointF(event),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        ),
    )
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=moved)
    assert canvas.tile_rect(0).topLeft() - before.topLeft() == QPoint(-20, -30)
    assert session.selection.cell is None


def test_keys_walk_the_channels_in_the_order_of_the_tiles(make, qtbot: QtBot) -> None:
    session, panel = make()
    canvas = _canvas(panel, 0)
    qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert session.selection.channel == 1
    columns = canvas.view.grid.columns
    qtbot.keyClick(canvas, Qt.Key.Key_Down)
    assert session.selection.channel == (1 + columns if 1 + columns < 6 else 1)
    qtbot.keyClick(canvas, Qt.Key.Key_G)
    assert session.selection.shown is Shown.GRADIENT
    qtbot.keyClicks(canvas, "]")
    assert session.selection.path != "conv"
    qtbot.keyClicks(canvas, "1")
    assert canvas.view.sheet is not None


def test_one_cell_is_one_pixel_on_request(make, qtbot: QtBot) -> None:
    _, panel = make()
    qtbot.keyClicks(_canvas(panel, 0), "1")
    rect = _canvas(panel, 0).tile_rect(0)
    assert (rect.width(), rect.height()) == (12, 8)


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


def test_blinking_shows_b_in_the_place_of_a_and_back(make, qtbot: QtBot) -> None:
    _, panel = make(2)
    first, second = _canvas(panel, 0).record, _canvas(panel, 1).record
    qtbot.keyClick(_canvas(panel, 0), Qt.Key.Key_Space)
    assert _canvas(panel, 0).record is second
    assert panel.lanes.columns[0].head.letter.text() == "B"
    qtbot.keyClick(_canvas(panel, 0), Qt.Key.Key_Space)
    assert _canvas(panel, 0).record is first


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


def test_x_hides_dead_channels_and_the_foot_says_how_many(make, qtbot: QtBot) -> None:
    session, panel = make()
    with torch.no_grad():
        session.model.conv.weight[2] = 0
        session.model.conv.bias[2] = 0
    with qtbot.waitSignal(session.run_finished):
        session.run()
    canvas = _canvas(panel, 0)
    session.select(channel=2)
    qtbot.keyClick(canvas, Qt.Key.Key_X)
    assert panel.wall.order.tolist() == [0, 1, 3, 4, 5]
    assert canvas.tile_rect(2).isEmpty()
    assert "1 dead hidden" in panel.foot.words.toolTip()
    qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert session.selection.channel == 0  # its own tile is hidden: the walk starts anew
    qtbot.keyClick(canvas, Qt.Key.Key_X)
    assert not canvas.tile_rect(2).isEmpty()


def test_p_pins_a_channel_to_the_front_and_marks_it(make, qtbot: QtBot) -> None:
    session, panel = make(2)
    canvas = _canvas(panel, 0)
    session.select(channel=4)
    qtbot.keyClick(canvas, Qt.Key.Key_P)
    assert panel.wall.order.tolist() == [4, 0, 1, 2, 3, 5]
    assert canvas.tile_rect(4).topLeft() == _canvas(panel, 1).tile_rect(4).topLeft()
    assert "1 pinned" in panel.foot.words.toolTip()
    corner = canvas.tile_rect(4).bottomRight() - QPoint(20, 6)
    marked = canvas.grab().toImage().pixelColor(corner)
    assert marked.getRgb()[:3] == theme()["accent"].getRgb()[:3]
    qtbot.keyClick(canvas, Qt.Key.Key_P)
    assert panel.wall.order.tolist() == [0, 1, 2, 3, 4, 5]


def test_o_turns_between_map_overlay_and_input(make, qtbot: QtBot) -> None:
    session, panel = make()
    seen = []
    for _ in range(3):
        qtbot.keyClick(_canvas(panel, 0), Qt.Key.Key_O)
        seen.append(session.look.over)
    assert seen == ["overlay", "input", "map"]


def test_l_asks_for_the_levels(make, qtbot: QtBot) -> None:
    session, panel = make()
    with qtbot.waitSignal(session.levels_asked):
        qtbot.keyClick(_canvas(panel, 0), Qt.Key.Key_L)


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


class Hidden(QTranslator):
    """A language without Latin letters: what is still readable did not go through `tr()`."""

    def translate(self, context: str, text: str, comment: str | None = None, n: int = -1) -> str:
        return re.sub(r"[A-Za-z]", "░", text)


def _said(widget: QWidget) -> set[str]:
    """Every visible word of a widget and of all in it."""
    found = set()
    for one in [widget, *widget.findChildren(QWidget)]:
        if one.objectName().startswith("qt_"):
            continue
        found |= {one.toolTip(), one.accessibleName()}
        if isinstance(one, QLabel | QAbstractButton):
            found.add(one.text())
        if isinstance(one, QComboBox):
            found |= {one.itemText(place) for place in range(one.count())}
    return found


@pytest.mark.parametrize("shown", list(Shown))
def test_every_word_of_wall_and_inspector_can_be_translated(qtbot: QtBot, make, shown: Shown) -> None:
    translator = Hidden()
    QApplication.installTranslator(translator)
    try:
        session, panel = make(2)
        panel.toggle_difference()
        session.tick(("fc",), False)  # why Grad-CAM does not suit it is the engine's sentence
        session.select(shown=shown, cell=(1, 1))
        inspector = Inspector(session)
        qtbot.addWidget(inspector)
        inspector.refresh_slow()
        data = {"conv", "relu", "fc", "model", "input1", "input2", "Conv2d", "ReLU", "Linear", "float32"}
        data |= {"Ctrl", "C", "D", "S", "G", "Z", "O", "L", "A", "B", "x", "y", "c", *COLORMAPS}
        data |= {"kernel_size", "stride", "padding", "CET", "D1A", "Net", "class"}
        said = " ".join(_said(panel) | _said(inspector))
        words = set(re.findall(r"[A-Za-z]\w+", said))
        assert words - data == set()
    finally:
        QApplication.removeTranslator(translator)
