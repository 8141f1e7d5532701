"""Columns of unlike sizes: the same place of every tile is the same part of the input, and so is the cell."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from gui_nets import settled
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.inspector import Inspector
from hookviewer.gui.reading import read_out
from hookviewer.gui.session import Session
from hookviewer.gui.state import PLAIN, Variant
from hookviewer.gui.theme import set_theme
from hookviewer.gui.wall import WallPanel, geometry
from hookviewer.inputs import Input

SPOT = (0.25, 0.5, 0.25, 0.5)
"""Where the pictures are bright: top, bottom, left and right, as shares of the sides."""


class Net(nn.Module):
    """The picture itself as a map, and a convolution with a stride."""

    def __init__(self) -> None:
        super().__init__()
        self.same = nn.Conv2d(1, 2, 1, bias=False)
        self.fewer = nn.Conv2d(2, 3, 3, stride=2)
        nn.init.ones_(self.same.weight)
        torch.manual_seed(1)
        nn.init.normal_(self.fewer.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fewer(self.same(x)).mean((2, 3))


def scene(name: str, height: int, width: int) -> Input:
    """Return one scene in another size: dark, with a bright rectangle at `SPOT`."""
    values = torch.zeros(1, 1, height, width)
    top, bottom, left, right = SPOT
    values[..., round(top * height) : round(bottom * height), round(left * width) : round(right * width)] = 1
    return Input(name, (values,))


@pytest.fixture
def made(qtbot: QtBot) -> Iterator[tuple[Session, WallPanel]]:
    set_theme("dark")
    session = Session()
    session.set_model(Net().eval())
    session.add_inputs([scene("large", 48, 72), scene("small", 16, 24)])
    session.select(path="same")
    settled(qtbot, session)
    wall = WallPanel(session)
    qtbot.addWidget(wall)
    wall.resize(1000, 520)
    wall.show()
    settled(qtbot, session)
    wall.refresh()
    yield session, wall
    session.close()


def bright(pixels: np.ndarray) -> tuple[int, int, int, int]:
    """Return the rectangle of the first tile's brightest pixels: top, bottom, left and right, inclusive."""
    light = pixels[..., :3].astype(int).sum(axis=2) > 600
    rows, columns = np.flatnonzero(light.any(axis=1)), np.flatnonzero(light.any(axis=0))
    return int(rows[0]), int(rows[-1]), int(columns[0]), int(columns[-1])


def tile_of(wall: WallPanel, column: int, channel: int = 0) -> np.ndarray:
    canvas = wall.lanes.columns[column].canvas
    box = canvas.tile_rect(channel)
    return canvas.image()[box.top() : box.bottom() + 1, box.left() : box.right() + 1]


def cross_in(wall: WallPanel, column: int, channel: int = 0) -> tuple[float, float]:
    """Return where the cross-hair is painted in a tile, as shares of its height and width."""
    canvas = wall.lanes.columns[column].canvas
    grabbed = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGBA8888)
    box = canvas.tile_rect(channel)
    marked = np.frombuffer(grabbed.constBits(), np.uint8).reshape(grabbed.height(), grabbed.width(), 4)
    moved = (marked[..., :3].astype(int) - canvas.image()[..., :3])[
        box.top() + 4 : box.bottom() - 4, box.left() + 4 : box.right() - 4
    ]
    changed = np.abs(moved).sum(axis=2) > 40
    height, width = changed.shape
    row, place = int(changed.mean(axis=1).argmax()), int(changed.mean(axis=0).argmax())
    assert changed[row].mean() > 0.6
    assert changed[:, place].mean() > 0.6
    return (row + 4.5) / (height + 8), (place + 4.5) / (width + 8)


def point_in(wall: WallPanel, column: int, cell: tuple[int, int], sizes: tuple[int, int]) -> QPoint:
    """Return the middle of a cell of channel 0 on a column's canvas."""
    box = wall.lanes.columns[column].canvas.tile_rect(0)
    shares = [(place + 0.5) / size for place, size in zip(cell, sizes, strict=True)]
    return QPoint(round(box.left() + shares[1] * box.width()), round(box.top() + shares[0] * box.height()))


def test_the_same_part_of_the_input_is_painted_at_the_same_place(made: tuple[Session, WallPanel]) -> None:
    _, wall = made
    found = [bright(tile_of(wall, column)) for column in (0, 1)]
    assert np.abs(np.subtract(*found)).max() <= 1
    height, width = tile_of(wall, 0).shape[:2]
    shares = [found[0][0] / height, found[0][1] / height, found[0][2] / width, found[0][3] / width]
    assert np.abs(np.subtract(shares, SPOT)).max() < 0.03


@pytest.mark.parametrize("sizes", [(17, 25), (15, 23), (33, 49)])
def test_sizes_that_do_not_divide_fill_the_frame_too(
    qtbot: QtBot, made: tuple[Session, WallPanel], sizes: tuple[int, int]
) -> None:
    session, wall = made
    session.take_off(session.inputs[1].number)
    session.add_inputs([scene("odd", *sizes)])
    settled(qtbot, session)
    wall.refresh()
    for column in (0, 1):
        tile = tile_of(wall, column)
        assert tile[..., :3].astype(int).sum(axis=2).max() > 600
        ground = tile[-1, -1, :3]
        assert (tile[0, 0, :3] == ground).all()  # the map's own darkness to the last pixel, no canvas
        assert (ground == tile[tile.shape[0] // 8, tile.shape[1] // 8, :3]).all()


def test_zoom_and_pan_show_the_same_part_in_both(qtbot: QtBot, made: tuple[Session, WallPanel]) -> None:
    _, wall = made
    canvas = wall.lanes.columns[1].canvas
    where = QPointF(point_in(wall, 1, (6, 9), (16, 24)))
    for _ in range(5):
        QApplication.sendEvent(
            canvas,
            QWheelEvent(
                where,
                canvas.mapToGlobal(where),
                QPoint(),
                QPoint(0, 120),
                Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier,
                Qt.ScrollPhase.NoScrollPhase,
                False,
            ),
        )
    qtbot.wait(150)
    zoomed = [bright(wall.lanes.columns[column].canvas.image()) for column in (0, 1)]
    assert np.abs(np.subtract(*zoomed)).max() <= 2
    start = where.toPoint()
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(canvas, start + QPoint(20, 10))
    qtbot.mouseMove(canvas, start + QPoint(30, 16))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=start + QPoint(30, 16))
    moved = [bright(wall.lanes.columns[column].canvas.image()) for column in (0, 1)]
    assert np.abs(np.subtract(*moved)).max() <= 2
    assert moved[0] != zoomed[0]


def test_the_cross_hair_is_at_the_same_place_of_both(qtbot: QtBot, made: tuple[Session, WallPanel]) -> None:
    session, wall = made
    for column, cell, sizes in ((0, (10, 50), (48, 72)), (1, (12, 5), (16, 24))):
        canvas = wall.lanes.columns[column].canvas
        qtbot.mouseMove(canvas, point_in(wall, column, cell, sizes))
        qtbot.waitUntil(lambda: session.pointed is not None, timeout=5_000)
        assert session.pointed.cell == cell
        crosses = [cross_in(wall, place) for place in (0, 1)]
        shares = [(place + 0.5) / size for place, size in zip(cell, sizes, strict=True)]
        assert np.abs(np.subtract(crosses[column], shares)).max() < 0.02
        assert np.abs(np.subtract(*crosses)).max() <= 0.5 / 16 + 0.02


def test_the_read_out_has_the_value_of_both_at_that_place(
    qtbot: QtBot, made: tuple[Session, WallPanel]
) -> None:
    session, wall = made
    qtbot.mouseMove(wall.lanes.columns[0].canvas, point_in(wall, 0, (13, 19), (48, 72)))
    assert read_out(session)[0].startswith("c 0  y 13  x 19  A 1.000   B (4, 6) 1.000")
    qtbot.mouseMove(wall.lanes.columns[1].canvas, point_in(wall, 1, (9, 6), (16, 24)))
    assert read_out(session)[0].startswith("c 0  y 9  x 6  A (28, 19) 0   B 0")


def test_a_click_in_one_column_selects_the_place_in_all(
    qtbot: QtBot, made: tuple[Session, WallPanel]
) -> None:
    session, wall = made
    inspector = Inspector(session)
    qtbot.addWidget(inspector)
    small = wall.lanes.columns[1].canvas
    qtbot.mouseClick(small, Qt.MouseButton.LeftButton, pos=point_in(wall, 1, (5, 8), (16, 24)))
    assert session.selection.cell == (5, 8)
    assert session.selection.input == session.inputs[1].number
    session.point(None)
    assert np.abs(np.subtract(*[cross_in(wall, place) for place in (0, 1)])).max() < 0.02
    wall.step_input(-1)
    assert session.selection.cell == (16, 25)  # the middle one of the nine cells that are cell (5, 8) there
    inspector.refresh()
    assert inspector.focus.cell == (16, 25)
    wall.step_input(1)
    assert session.selection.cell == (5, 8)


def test_where_it_is_known_what_cells_see_their_middles_are_linked(
    qtbot: QtBot, made: tuple[Session, WallPanel]
) -> None:
    session, wall = made
    session.select(path="fewer")
    settled(qtbot, session)
    wall.refresh()
    items = session.ticked_inputs
    columns = wall.wall.columns
    assert columns[0].maps.values.shape[1:] == (23, 35)
    assert columns[1].maps.values.shape[1:] == (7, 11)
    qtbot.waitUntil(
        lambda: all(
            session.fields.middles(item, column.record, column.maps.values.shape[1:]) is not None
            for item, column in zip(items, columns, strict=True)
        ),
        timeout=20_000,
    )
    session.select(input=items[1].number, cell=(6, 10))
    session.select(input=items[0].number)
    # cell i sees pixels 2i to 2i + 2: its middle is at (2i + 1.5) pixels of the side
    for place, cell, count, large, small in zip(
        session.selection.cell, (6, 10), (23, 35), (48, 72), (16, 24), strict=True
    ):
        apart = [abs((2 * i + 1.5) / large - (2 * cell + 1.5) / small) for i in range(count)]
        assert apart[place] == pytest.approx(min(apart))
    assert session.selection.cell != (21, 33)  # what the shares of the maps alone would say


def test_of_another_model_it_is_not_said_what_its_cells_see(made: tuple[Session, WallPanel]) -> None:
    session, wall = made
    session.set_variants((PLAIN, Variant(-1, "other", (("spec", "demo:simple_cnn"),))))
    item = session.ticked_inputs[1]
    record = wall.wall.columns[0].record
    assert session.fields.middles(item, record, (48, 72)) is None
    assert session.fields.seen(item, record, (48, 72), (1, 1), 0) is None


@pytest.mark.parametrize(
    ("cells", "tile", "expected"),
    [
        ((10, 15), (40, 60), (0, 0, 60, 40)),
        ((5, 8), (40, 60), (0, 0, 60, 40)),
        ((1, 1), (40, 60), (0, 0, 60, 40)),
        ((30, 30), (40, 60), (10, 0, 40, 40)),
        ((60, 40), (40, 60), (16, 0, 27, 40)),
    ],
)
def test_a_map_fills_its_frame_unless_it_is_of_another_shape(cells, tile, expected) -> None:
    assert geometry.framed(cells, tile) == expected
