"""Numbers in the cells of the wall's tiles: which, when, and whether they can be read."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPointF, QSizeF
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from hookviewer import render
from hookviewer.arrays import Hints
from hookviewer.gui.columns import Column
from hookviewer.gui.guard import painting
from hookviewer.gui.shown_maps import maps_of
from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import set_theme
from hookviewer.gui.views import Sheet
from hookviewer.gui.wall import cell_numbers
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.gui.wall.geometry import Sight
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record


def sheet_of(values: torch.Tensor, cell: int, **more: object) -> Sheet:
    record = Record(Key("m", Kind.OUTPUT), tuple(values.shape), values.dtype, kept=values.contiguous())
    maps = maps_of(record, 0, None, more.pop("hints", Hints("Conv2d")))
    column = Column("A", "one", 1, record, maps)
    sight = Sight(columns=2, tile=cell * maps.values.shape[2])
    levels = more.pop("levels", (0.0, 8.0))
    sheet = Sheet(column, np.arange(len(maps.values)), levels, "magma", (420, 420), maps, sight=sight)
    return dataclasses.replace(sheet, **more)


@pytest.fixture
def canvas(qtbot: QtBot) -> Canvas:
    set_theme("dark")
    made = Canvas()
    qtbot.addWidget(made)
    made.resize(420, 420)
    made.show()
    qtbot.waitExposed(made)
    return made


def inked(canvas: Canvas, sheet: Sheet, channel: int, size: int) -> np.ndarray:
    """How many pixels of each cell of a tile differ from the cell's own colour."""
    canvas.show_sheet(sheet)
    picture = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGBA8888)
    pixels = np.frombuffer(picture.constBits(), np.uint8).reshape(picture.height(), picture.width(), 4)
    tile, maps = canvas.tile_rect(channel), sheet.column.maps.values[channel]
    plain = canvas.image()
    counted = np.zeros(maps.shape, int)
    for row, column in np.ndindex(*maps.shape):
        box = (
            slice(tile.top() + row * size + 1, tile.top() + (row + 1) * size - 1),
            slice(tile.left() + column * size + 1, tile.left() + (column + 1) * size - 1),
        )
        counted[row, column] = (pixels[box] != plain[box]).any(axis=-1).sum()
    return counted


RAMP = torch.arange(18.0).reshape(1, 2, 3, 3) / 2


def test_every_cell_has_its_number_once_there_is_room(canvas: Canvas) -> None:
    for channel in (0, 1):
        assert (inked(canvas, sheet_of(RAMP, 60), channel, 60) > 15).all()
    assert not inked(canvas, sheet_of(RAMP, 24), 1, 24).any()  # 4.500 is wider
    whole = (RAMP * 2).to(torch.int32)
    assert (inked(canvas, sheet_of(whole, 24), 1, 24) > 4).all()  # 17 is not


def test_nothing_is_written_while_a_gesture_goes_on(canvas: Canvas) -> None:
    sheet = sheet_of(RAMP, 60)
    canvas.show_sheet(sheet)
    view = canvas.view
    moved = dataclasses.replace(sheet, hurry=True)
    assert not np.array_equal(_marks(canvas, sheet), _marks(canvas, moved))
    assert view is canvas.view


def _marks(canvas: Canvas, sheet: Sheet) -> np.ndarray:
    """What lies over the tiles, on black."""
    canvas.show_sheet(sheet)
    image = QImage(canvas.size(), QImage.Format.Format_RGB32)
    image.fill(QColor(0, 0, 0))
    with painting(image) as painter:
        canvas.view.paint_marks(painter)
    return np.frombuffer(image.constBits(), np.uint8).reshape(420, 420, 4).copy()


def test_no_line_goes_through_the_numbers(canvas: Canvas) -> None:
    cell = Pointed(1, (1, 1))
    plain = _marks(canvas, sheet_of(RAMP, 60))
    marked = _marks(canvas, sheet_of(RAMP, 60, pointed=cell))
    tile = canvas.tile_rect(1)
    changed = (plain != marked).any(axis=-1)[tile.top() : tile.bottom() + 1, tile.left() : tile.right() + 1]
    assert not changed[62:118, 62:118].any()  # the number of the cell itself
    assert changed[60, 62:118].all()  # its frame
    assert not changed[85:95, 125:175].any()  # the number beside it


def test_hatched_tiles_say_their_value_once(canvas: Canvas) -> None:
    values = RAMP.clone()
    values[0, 0] = 3.0
    found = inked(canvas, sheet_of(values, 60), 0, 60)
    assert (found > 15).sum() <= 3  # the label in the middle


def test_a_part_of_a_tile_has_its_own_numbers(canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> None:
    big = torch.arange(40 * 40.0).reshape(1, 1, 40, 40)
    sheet = sheet_of(big, 60, levels=(0.0, 1600.0))
    canvas.show_sheet(dataclasses.replace(sheet, sight=dataclasses.replace(sheet.sight, x=600, y=1200)))
    spot = canvas.view.spot(QPointF(200, 200))
    assert spot.cell[0] > 15
    seen: list[float] = []
    original = cell_numbers.paint

    def noted(painter, area, values, bright, *, whole):
        seen.extend(values.ravel().tolist())
        original(painter, area, values, bright, whole=whole)

    monkeypatch.setattr(cell_numbers, "paint", noted)
    canvas.grab()
    assert float(big[0, 0, spot.cell[0], spot.cell[1]]) in seen
    assert len(seen) <= 9 * 9


def test_sequences_have_numbers_and_signals_none(canvas: Canvas) -> None:
    sequence = torch.arange(12.0).reshape(4, 1, 3)
    sheet = dataclasses.replace(sheet_of(sequence, 20, hints=Hints("LSTM")), sight=Sight())
    canvas.show_sheet(sheet)
    assert type(canvas.view).__name__ == "Sequence"
    plain = dataclasses.replace(sheet, hurry=True)
    assert (_marks(canvas, sheet) != _marks(canvas, plain)).any(axis=-1).sum() > 200
    lines = dataclasses.replace(sheet_of(torch.randn(1, 2, 4), 20, hints=Hints("Conv1d")), sight=Sight())
    assert np.array_equal(_marks(canvas, lines), _marks(canvas, dataclasses.replace(lines, hurry=True)))


@pytest.mark.parametrize("colormap", render.COLORMAPS)
def test_ink_is_read_on_every_colour(colormap: str) -> None:
    table = render.colour_table(colormap)
    ground = cell_numbers.brightness(table)
    ink = np.where(cell_numbers.are_bright(table), 0.0, 1.0)
    lighter, darker = np.maximum(ground, ink), np.minimum(ground, ink)
    assert ((lighter + 0.05) / (darker + 0.05)).min() >= 4.5


def test_too_many_numbers_are_not_begun() -> None:
    cell = QSizeF(90, 90)
    assert cell_numbers.fits(cell, np.zeros((30, 30)), whole=False)
    assert not cell_numbers.fits(cell, np.zeros((31, 30)), whole=False)
    assert not cell_numbers.fits(QSizeF(20, 90), np.full((1, 1), 0.12345), whole=False)
    assert cell_numbers.fits(QSizeF(20, 90), np.full((1, 1), 12.0), whole=True)
