"""Every shape has a home: signals, sequences, attention, kernels and blocks, against their numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from hookviewer import arrays, render
from hookviewer.arrays import Hints
from hookviewer.gui.columns import Column
from hookviewer.gui.shown_maps import maps_of
from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import set_theme, theme
from hookviewer.gui.views import Sheet
from hookviewer.gui.views.colour_kernels import packed
from hookviewer.gui.views.signals import reach
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record


def sheet_of(
    values: torch.Tensor, hints: Hints = arrays.NOTHING, reading: str | None = None, **more
) -> Sheet:
    record = Record(Key("m", Kind.OUTPUT), tuple(values.shape), values.dtype, kept=values.contiguous())
    maps = maps_of(
        record, 0, reading, hints, **{key: more.pop(key) for key in ("places", "part") if key in more}
    )
    column = Column("A", "one", 1, record, maps)
    every = maps.values if maps.colours is None else maps.colours
    sheet = Sheet(
        column, np.arange(len(maps.values)), arrays.levels(every, "full"), "magma", (400, 400), maps
    )
    return dataclasses.replace(sheet, **more)


@pytest.fixture
def canvas(qtbot: QtBot) -> Canvas:
    set_theme("dark")
    made = Canvas()
    qtbot.addWidget(made)
    made.resize(400, 400)
    made.show()
    qtbot.waitExposed(made)
    return made


def view_of(canvas: Canvas, sheet: Sheet) -> str:
    canvas.show_sheet(sheet)
    canvas.grab()
    return type(canvas.view).__name__


CONV = Hints("Conv2d", leaf="weight", weight=True)


@pytest.mark.parametrize(
    ("shape", "hints", "reading", "view"),
    [
        ((1, 6, 90), Hints("Conv1d"), None, "Signals"),
        ((20, 2, 8), Hints("LSTM"), None, "Sequence"),
        ((2, 4, 9, 9), Hints("Softmax", "dim=-1"), None, "Attention"),
        ((2, 9, 9), Hints("MultiheadAttention", leaf="[1]"), None, "Attention"),
        ((8, 3, 5, 5), CONV, None, "ColourKernels"),
        ((8, 4, 3, 3), CONV, None, "FeatureMaps"),
        ((8, 4, 3, 3), CONV, "output × input × row × column", "Blocks"),
        ((1, 2, 5, 6, 7), Hints(), None, "FeatureMaps"),
        ((1, 2, 5, 6, 7), Hints(), "sample × channel × slice × row × column", "Blocks"),
        ((1, 17, 32), Hints(), None, "FeatureMaps"),
        ((1, 10), Hints(), None, "Bars"),
        ((), Hints(), None, "SingleNumber"),
        ((0, 3), Hints(), None, "Table"),
    ],
)
def test_each_shape_has_its_view_and_can_be_pointed_at(
    canvas: Canvas, shape, hints, reading, view, caplog: pytest.LogCaptureFixture
) -> None:
    sheet = sheet_of(torch.randn(shape), hints, reading)
    sheet = dataclasses.replace(sheet, selected=Pointed(0, (0, 0)), cell=True, pointed=Pointed(0, (0, 0)))
    assert view_of(canvas, sheet) == view
    for point in (QPointF(60, 60), QPointF(200, 100), QPointF(399, 399)):
        spot = canvas.view.spot(point)
        sizes = sheet.column.maps.values.shape
        inside = spot is None or all(
            0 <= a < b for a, b in zip((spot.channel, *spot.cell), sizes, strict=True)
        )
        assert inside or view == "Table"
    zoomed = canvas.view.zoomed(1.5, QPointF(100, 100))
    canvas.show_sheet(dataclasses.replace(sheet, sight=zoomed))
    canvas.grab()
    canvas.view.moved(5, 5)
    canvas.view.at_cell_size(QPointF(50, 50))
    canvas.view.stepped(Pointed(0, (0, 0)), 1, 1)
    assert caplog.records == []


def test_a_line_passes_through_its_values(canvas: Canvas) -> None:
    values = torch.sin(torch.linspace(0, 6, 40))[None, None].repeat(1, 3, 1)
    sheet = sheet_of(values, Hints("Conv1d"))
    assert view_of(canvas, sheet) == "Signals"
    image, ink = canvas.image()[..., :3], theme().input(1).getRgb()[:3]
    tile, (low, high) = canvas.tile_rect(1), sheet.levels
    for time in (3, 17, 33):
        x = tile.left() + int((time + 0.5) / 40 * tile.width())
        rows = np.flatnonzero((image[tile.top() : tile.bottom() + 1, x] == ink).all(axis=1))
        y = (high - float(values[0, 0, time])) / (high - low) * (tile.height() - 1)
        assert rows.min() - 1.5 <= y <= rows.max() + 1.5


def test_a_peak_narrower_than_a_pixel_is_seen_and_neighbours_touch() -> None:
    values = np.zeros((2, 1000), np.float32)
    values[0, 637] = 5
    values[1, 12] = np.nan
    low, high, bad = reach(values, 100)
    assert np.flatnonzero(high[0] == 5).tolist()[0] == 63
    assert np.flatnonzero(bad[1]).tolist() == [1]
    assert (low[0] == 0).all()
    steps = np.arange(7, dtype=np.float32)[None]
    low, high, _ = reach(steps, 70)
    assert (low[0, 1:] <= high[0, :-1]).all()


def test_a_sequence_is_a_picture_of_units_by_time_and_what_is_behind_its_end_is_hatched(
    canvas: Canvas,
) -> None:
    padded = torch.randn(20, 2, 8)
    padded[10:, 1] = torch.nan
    hints = Hints("LSTM")
    sheet = sheet_of(padded, hints)
    values = arrays.as_maps(padded.numpy(), sample=1, hints=hints, lengths=(20, 10))
    column = dataclasses.replace(sheet.column, maps=values)
    sheet = dataclasses.replace(sheet, column=column, lead=values, levels=(-2.0, 2.0))
    assert view_of(canvas, sheet) == "Sequence"
    image, tile = canvas.image(), canvas.tile_rect(0)
    for unit, time in ((0, 0), (3, 4), (7, 9)):
        x = tile.left() + int((time + 0.5) / 20 * tile.width())
        y = tile.top() + int((unit + 0.5) / 8 * tile.height())
        entry = int(render.to_index(padded[time, 1, unit].numpy(), (-2.0, 2.0)))
        np.testing.assert_array_equal(image[y, x, :3], render.colour_table("magma")[entry][:3])
        assert canvas.view.spot(QPointF(x, y)) == Pointed(0, (unit, time))
    assert canvas.view.spot(QPointF(tile.left() + 0.8 * tile.width(), tile.top() + 5)) is None
    behind = image[tile.top() : tile.bottom(), tile.left() + int(0.6 * tile.width()) : tile.right(), :3]
    assert not (behind == theme()["nan"].getRgb()[:3]).all(axis=2).any()


def test_a_kernel_with_three_input_channels_is_painted_in_colour(canvas: Canvas) -> None:
    weight = torch.randn(4, 3, 5, 5)
    sheet = sheet_of(weight, CONV)
    assert view_of(canvas, sheet) == "ColourKernels"
    image, (low, high) = canvas.image(), sheet.levels
    for channel, row, column in ((0, 0, 0), (2, 4, 1), (3, 2, 3)):
        tile = canvas.tile_rect(channel)
        x, y = tile.left() + (column + 0.5) / 5 * tile.width(), tile.top() + (row + 0.5) / 5 * tile.height()
        light = ((weight[channel, :, row, column].numpy() - low) / (high - low) * 255 + 0.5).astype(int)
        np.testing.assert_allclose(image[int(y), int(x), :3], light, atol=1)


def test_colours_without_a_number_are_dark() -> None:
    colours = np.array([[[[np.nan, 1.0, 0.5]]]], np.float32)
    assert packed(colours, (0.0, 1.0)).item() == 0xFF00FF80


def test_blocks_stand_in_rows_of_what_belongs_together(canvas: Canvas) -> None:
    sheet = sheet_of(torch.randn(1, 3, 5, 4, 4), reading="sample × channel × slice × row × column")
    assert view_of(canvas, sheet) == "Blocks"
    tops = [canvas.tile_rect(channel).top() for channel in range(15)]
    assert [tops.count(top) for top in dict.fromkeys(tops)] == [5, 5, 5]


def test_heads_stand_six_pixels_apart(canvas: Canvas) -> None:
    view_of(canvas, sheet_of(torch.rand(1, 4, 9, 9), Hints("Softmax", "dim=-1")))
    first, second = canvas.tile_rect(0), canvas.tile_rect(1)
    assert second.left() - first.right() - 1 == 6
