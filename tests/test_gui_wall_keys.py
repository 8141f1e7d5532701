"""Pointer and keys on the wall: what they choose, move, sort and hide."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QNativeGestureEvent,
    QPointingDevice,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from wall_nets import canvas as _canvas
from wall_nets import click as _click
from wall_nets import middle as _middle
from wall_nets import plain_hook as _plain_hook
from wall_nets import walls

from hookviewer.gui.keys_page import KEYS
from hookviewer.gui.numbers import number
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.gui.theme import theme
from hookviewer.gui.wall import WallPanel
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.gui.wall.keys import keys_of


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[Callable[..., tuple[Session, WallPanel]]]:
    """Make walls."""
    yield from walls(qtbot)


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


def test_blinking_shows_b_in_the_place_of_a_and_back(make, qtbot: QtBot) -> None:
    _, panel = make(2)
    first, second = _canvas(panel, 0).record, _canvas(panel, 1).record
    qtbot.keyClick(_canvas(panel, 0), Qt.Key.Key_Space)
    assert _canvas(panel, 0).record is second
    assert panel.lanes.columns[0].head.letter.text() == "B"
    qtbot.keyClick(_canvas(panel, 0), Qt.Key.Key_Space)
    assert _canvas(panel, 0).record is first


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


def test_f_fills_the_width_and_z_shows_all_of_it_again_in_the_same_way(make, qtbot: QtBot) -> None:
    _, panel = make()
    canvas = _canvas(panel, 0)
    fitted = canvas.tile_rect(0)
    qtbot.keyClick(canvas, Qt.Key.Key_F)
    rows = {canvas.tile_rect(channel).y() for channel in range(6)}
    last = max(canvas.tile_rect(channel).right() for channel in range(6))
    assert canvas.width() - last <= len(rows) + 8
    assert canvas.tile_rect(0).width() >= fitted.width()
    qtbot.keyClick(canvas, Qt.Key.Key_F)
    assert canvas.tile_rect(0) == fitted


def test_a_swipe_shows_b_at_the_right_of_a_line_that_follows_the_pointer(make, qtbot: QtBot) -> None:
    _, panel = make(2)
    first, second = _canvas(panel, 0), _canvas(panel, 1)
    a, b = first.image(), second.image()
    assert (a != b).any()
    qtbot.keyClick(first, Qt.Key.Key_W)
    for x in (60, 200):
        qtbot.mouseMove(first, QPoint(x, 100))
        both = first.image()
        assert (both[:, : x - 2] == a[:, : x - 2]).all()
        assert (both[:, x + 2 :] == b[:, x + 2 :]).all()
    assert (second.image() == b).all()
    qtbot.keyClick(first, Qt.Key.Key_W)
    assert (first.image() == a).all()


def test_a_swipe_without_a_second_input_says_what_it_needs(make, qtbot: QtBot) -> None:
    session, panel = make()
    told: list[str] = []
    session.message_told.connect(lambda message: told.append(message.what))
    qtbot.keyClick(_canvas(panel, 0), Qt.Key.Key_W)
    assert told == ["Tick a second input to swipe between A and B."]


class Computations(QObject):
    """Counts what a wall is asked to show, and how often it is painted."""

    def __init__(self, session: Session, canvas: QWidget) -> None:
        super().__init__(canvas)
        self.asked = self.painted = 0
        session.selection_changed.connect(self._count)
        canvas.installEventFilter(self)

    def _count(self) -> None:
        self.asked += 1

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.painted += event.type() == QEvent.Type.Paint
        return False


@pytest.mark.parametrize(("key", "text"), [(Qt.Key.Key_Right, ""), (Qt.Key.Key_BracketRight, "]")])
def test_a_key_that_is_held_down_asks_once_for_each_picture(make, qtbot: QtBot, key, text: str) -> None:
    session, panel = make()
    canvas = _canvas(panel, 0)
    counts = Computations(session, canvas)
    none = Qt.KeyboardModifier.NoModifier

    def press(*, again: bool) -> None:
        QApplication.sendEvent(canvas, QKeyEvent(QEvent.Type.KeyPress, key, none, text, again))

    press(again=False)
    for _ in range(40):
        press(again=True)
    assert counts.asked == 1
    qtbot.waitUntil(lambda: counts.painted > 0)
    qtbot.wait(5)
    press(again=True)
    for _ in range(40):
        press(again=True)
    assert counts.asked == 2


def test_a_second_press_is_never_lost(make, qtbot: QtBot) -> None:
    session, panel = make()
    for _ in range(3):
        qtbot.keyClick(_canvas(panel, 0), Qt.Key.Key_Right, delay=0)
    assert session.selection.channel == 3


def _pinch(canvas: Canvas, kind: Qt.NativeGestureType, value: float, point: QPointF) -> None:
    device = QPointingDevice.primaryPointingDevice()
    glob = QPointF(canvas.mapToGlobal(point))
    QApplication.sendEvent(canvas, QNativeGestureEvent(kind, device, 2, point, point, glob, value, QPointF()))


def test_two_fingers_on_a_touchpad_zoom_around_the_cursor(make) -> None:
    _, panel = make(2)
    canvas = _canvas(panel, 0)
    before, point = canvas.tile_rect(0), QPointF(_middle(canvas, 1))
    spot = canvas.view.spot(point)
    _pinch(canvas, Qt.NativeGestureType.ZoomNativeGesture, 0.5, point)
    assert canvas.tile_rect(0).width() == pytest.approx(1.5 * before.width(), abs=2)
    assert canvas.view.spot(point) == spot
    _pinch(canvas, Qt.NativeGestureType.SmartZoomNativeGesture, 1.0, point)
    assert canvas.tile_rect(0) == before


def test_the_page_of_keys_lists_every_key_of_the_wall(make) -> None:
    _, panel = make()
    signs = {Qt.Key.Key_Left: "←", Qt.Key.Key_Right: "→", Qt.Key.Key_Up: "↑", Qt.Key.Key_Down: "↓"}
    signs |= {Qt.Key.Key_PageUp: "PgUp", Qt.Key.Key_PageDown: "PgDn", "-": "−", "=": "+"}
    listed = {key for _, rows in KEYS for keys, _ in rows for key in keys.split()}
    for key in keys_of(panel):
        name = key if isinstance(key, str) else QKeySequence(key).toString()
        assert signs.get(key, name) in listed
