"""Lines, bars and kernels in colour stand on the scale that the wall says: each its own, logarithmic."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from pytestqt.qtbot import QtBot

from hookviewer import arrays
from hookviewer.arrays import Hints
from hookviewer.gui.columns import Column
from hookviewer.gui.scaling import channel_levels
from hookviewer.gui.shown_maps import maps_of
from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import set_theme, theme
from hookviewer.gui.views import Sheet
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record


def column_of(values: torch.Tensor, hints: Hints, number: int = 1) -> Column:
    record = Record(Key("m", Kind.OUTPUT), tuple(values.shape), values.dtype, kept=values.contiguous())
    return Column("A", "one", number, record, maps_of(record, 0, None, hints))


def sheet_of(values: torch.Tensor, hints: Hints, **more: object) -> Sheet:
    column = column_of(values, hints)
    maps = column.maps
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


def painted(canvas: Canvas, sheet: Sheet) -> np.ndarray:
    canvas.show_sheet(sheet)
    canvas.grab()
    return canvas.image()[..., :3]


WAVES = torch.stack([torch.sin(torch.linspace(0, 6, 40)) * size for size in (1, 50)])[None]


def rows_of_line(image: np.ndarray, canvas: Canvas, channel: int, time: int) -> np.ndarray:
    tile, ink = canvas.tile_rect(channel), theme().input(1).getRgb()[:3]
    x = tile.left() + int((time + 0.5) / 40 * tile.width())
    return np.flatnonzero((image[tile.top() : tile.bottom() + 1, x] == ink).all(axis=1))


def test_each_signal_is_drawn_on_its_own_scale_where_channels_have_one(canvas: Canvas) -> None:
    sheet = sheet_of(WAVES, Hints("Conv1d"))
    own = channel_levels(sheet.column.maps, "full")
    image = painted(canvas, dataclasses.replace(sheet, own=own))
    for channel in (0, 1):
        low, high = own[channel]
        for time in (4, 9, 21, 33):
            share = (high - float(WAVES[0, channel, time])) / (high - low)
            rows = rows_of_line(image, canvas, channel, time)
            height = canvas.tile_rect(channel).height() - 1
            assert rows.min() - 1.5 <= share * height <= rows.max() + 1.5
    flat = rows_of_line(painted(canvas, sheet), canvas, 0, 9)
    assert np.ptp(flat) <= 2  # on one scale the small wave is flat


def test_signals_and_bars_are_logarithmic_where_the_scale_is(canvas: Canvas) -> None:
    values = torch.tensor([0.0, 0.01, 0.1, 1.0, 10.0]).repeat_interleave(8)
    sheet = sheet_of(values[None, None], Hints("Conv1d"), levels=(0.0, 10.0), curve="log")
    image = painted(canvas, sheet)
    height = canvas.tile_rect(0).height() - 1
    for place, value in enumerate((0.0, 0.01, 0.1, 1.0, 10.0)):
        share = 1 - np.log(1 + value / 0.01) / np.log(1001)
        assert rows_of_line(image, canvas, 0, 8 * place + 4).mean() == pytest.approx(share * height, abs=2)

    vector = torch.tensor([[0.01, 0.1, 1.0, 10.0]])
    image = painted(canvas, sheet_of(vector, Hints("Linear"), levels=(0.0, 10.0), curve="log"))
    plot, ink = canvas.view.plot, theme().input(1).getRgb()[:3]
    for place, value in enumerate(vector[0].tolist()):
        x = int(plot.left() + (place + 0.5) / 4 * plot.width())
        column = image[int(plot.top()) : int(plot.bottom()) + 2, x]
        wanted = np.log(1 + value / 0.01) / np.log(1001) * (plot.height() - 1)
        assert (column == ink).all(axis=1).sum() == pytest.approx(wanted, abs=3)


def test_vectors_of_unlike_lengths_stand_beside_each_other(
    canvas: Canvas, caplog: pytest.LogCaptureFixture
) -> None:
    long, short = (
        column_of(torch.randn(1, 60), Hints("Linear")),
        column_of(torch.randn(1, 9), Hints("Linear"), 2),
    )
    for sort in ("channel", "max"):
        for own, lead in ((long, short), (short, long)):
            sheet = Sheet(own, np.arange(1), (-3.0, 3.0), "magma", (400, 400), lead.maps, others=(lead,))
            cell = Pointed(0, (0, lead.maps.values.shape[2] - 1))
            painted(canvas, dataclasses.replace(sheet, sort=sort, selected=cell, cell=True, pointed=cell))
            ranked = canvas.view._order()
            assert sorted(ranked.tolist()) == list(range(own.maps.values.shape[2]))
    assert caplog.records == []


def test_kernels_in_colour_are_on_their_own_scales(canvas: Canvas) -> None:
    kernels = torch.rand(2, 3, 2, 2)
    kernels[1] *= 100
    hints = Hints("Conv2d", leaf="weight", weight=True)
    sheet = sheet_of(kernels, hints)
    own = channel_levels(sheet.column.maps, "full")
    np.testing.assert_allclose(own, [[float(one.min()), float(one.max())] for one in kernels])
    image = painted(canvas, dataclasses.replace(sheet, own=own))
    for channel, one in enumerate(kernels.numpy()):
        tile = canvas.tile_rect(channel)
        low, high = one.min(), one.max()
        for row in (0, 1):
            for column in (0, 1):
                x = tile.left() + int((column + 0.5) / 2 * tile.width())
                y = tile.top() + int((row + 0.5) / 2 * tile.height())
                light = (one[:, row, column] - low) / (high - low) * 255
                assert np.abs(image[y, x].astype(float) - light).max() <= 1


def test_from_scales_of_their_own_back_to_one_and_again(canvas: Canvas) -> None:
    for values, hints in ((WAVES, Hints("Conv1d")), (torch.rand(1, 3, 4, 4), Hints("Conv2d"))):
        sheet = sheet_of(values, hints)
        own = channel_levels(sheet.column.maps, "full")
        one, each = painted(canvas, sheet), painted(canvas, dataclasses.replace(sheet, own=own))
        assert (one != each).any()
        np.testing.assert_array_equal(painted(canvas, sheet), one)
