"""Signals and vectors on a page: where lines and bars are, against their values."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hookviewer import render
from hookviewer.arrays import Hints, as_maps
from hookviewer.formats import Caption, Entry, Figure
from hookviewer.formats.figure import drawn
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record

LEFT, TOP, WIDE = 32, 28, 408
INK = np.array([0x1B, 0x5E, 0xCF])


def entry(tensor: torch.Tensor, module: str, levels: tuple[float, float], **more: object) -> Entry:
    record = Record(Key("m", Kind.OUTPUT), tuple(tensor.shape), tensor.dtype, kept=tensor)
    maps = as_maps(tensor.numpy(), hints=Hints(module))
    return Entry(record, Caption.of(record), levels, "magma", drawn=maps, **more)


def page(one: Entry, size: int = 1) -> np.ndarray:
    return np.asarray(drawn(one, Figure(size=size)).convert("RGB")).astype(int)


def inked(pixels: np.ndarray) -> np.ndarray:
    return np.abs(pixels - INK).sum(axis=-1) < 90


def test_a_line_passes_through_its_values() -> None:
    values = torch.sin(torch.linspace(0, 6, 34))
    pixels = page(entry(values[None, None], "Conv1d", (-1.0, 1.0)), 2)
    for time in (2, 11, 20, 31):
        x = 2 * LEFT + int((time + 0.5) / 34 * 2 * WIDE)
        rows = np.flatnonzero(inked(pixels[2 * TOP : 2 * (TOP + 44), x]))
        assert rows.mean() == pytest.approx((1 - float(values[time])) / 2 * 88, abs=2)


def test_a_bar_reaches_from_zero_to_its_value() -> None:
    values = torch.tensor([[0.5, -1.0, 1.0, 0.0]])
    pixels = page(entry(values, "Linear", (-1.0, 1.0)))
    for place, value in enumerate(values[0].tolist()):
        column = inked(pixels[TOP : TOP + 160, LEFT + int((place + 0.5) / 4 * WIDE)])
        assert column.sum() == pytest.approx(abs(value) * 80, abs=2)
        if value:
            middle = np.flatnonzero(column).mean()
            assert middle == pytest.approx(80 - value * 40, abs=2)


def test_what_is_no_number_has_its_colour_over_the_whole_height() -> None:
    values = torch.zeros(1, 1, 40)
    values[0, 0, 10], values[0, 0, 30] = torch.nan, torch.inf
    pixels = page(entry(values, "Conv1d", (-1.0, 1.0)))
    for time, colour in ((10, render.NAN), (30, render.POS_INF)):
        column = pixels[TOP : TOP + 44, LEFT + int((time + 0.5) / 40 * WIDE)]
        assert (column == colour).all()


def test_signals_on_scales_of_their_own_fill_their_plots() -> None:
    waves = torch.stack([torch.sin(torch.linspace(0, 9, 50)) * size for size in (1, 100)])[None]
    own = np.array([[-1.0, 1.0], [-100.0, 100.0]])
    alike = page(entry(waves, "Conv1d", (-100.0, 100.0), own=own))
    shared = page(entry(waves, "Conv1d", (-100.0, 100.0)))
    step = 44 + 6
    first, second = alike[TOP : TOP + 44], alike[TOP + step : TOP + step + 44]
    np.testing.assert_array_equal(first, second)
    assert np.ptp(np.flatnonzero(inked(shared[TOP : TOP + 44]).any(axis=1))) <= 3


def test_channels_of_a_signal_stand_in_their_order() -> None:
    steps = torch.arange(3.0)[None, :, None].expand(1, 3, 20).contiguous()
    one = entry(steps, "Conv1d", (0.0, 2.0), order=np.array([2, 0]))
    pixels = page(one)
    tops = [np.flatnonzero(inked(pixels[top : top + 44, LEFT + 100]))[0] for top in (TOP, TOP + 50)]
    assert tops[0] <= 1
    assert tops[1] >= 41
    assert not inked(pixels[TOP + 100 : TOP + 108]).any()


@pytest.mark.parametrize("page_of", ["white", "dark", "clear"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 600, 3), (1, 2, 9000)])
def test_any_signal_can_be_drawn(shape: tuple[int, ...], page_of: str) -> None:
    one = entry(torch.randn(shape), "Conv1d", (-2.0, 2.0))
    picture = drawn(one, Figure(page=page_of, size=1, numbers=True))
    assert 0 <= WIDE + 2 * LEFT - picture.width < 8  # whole pixels for each of up to 8 in a row
