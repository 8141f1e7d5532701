"""What is said of a cell of every shape: its tile, its place in the words of its axes, its value."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from hookviewer.arrays import Hints
from hookviewer.gui.cell_words import value_words
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.reading import reading
from hookviewer.gui.shown_maps import maps_of
from hookviewer.gui.state import InputItem, Shown
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record

ITEM = InputItem(1, Input("photo", (torch.zeros(1, 3, 40, 80),), image=Image.new("RGB", (80, 40))))


def said(
    values: torch.Tensor, channel: int, cell: tuple[int, int], hints: Hints, reading_of: str | None = None
) -> tuple[str, ...]:
    record = Record(Key("m", Kind.OUTPUT), tuple(values.shape), values.dtype, kept=values.contiguous())
    column = Column("", "photo", 1, record, maps_of(record, 0, reading_of, hints), item=ITEM)
    wall = WallState("m", Shown.OUTPUT, (column,), np.arange(1), (0.0, 1.0), "magma", "full")
    return reading(wall, channel, cell, (ITEM,))


def filled(*shape: int) -> torch.Tensor:
    return torch.arange(int(np.prod(shape)), dtype=torch.float32).reshape(shape) / 8


TOKENS = Hints("Linear", pictures=(), rank=0)


@pytest.mark.parametrize(
    ("values", "channel", "cell", "hints", "reading_of", "words"),
    [
        (filled(1, 4, 2, 4), 3, (1, 2), Hints(), None, ("c 3  y 1  x 2  = 3.750   input ≈ (30, 50)",)),
        (
            filled(1, 2, 4, 16),
            5,
            (1, 2),
            Hints("LayerNorm"),
            None,
            ("c 5  y 1  x 2  = 12.625   input ≈ (30, 50)",),
        ),
        (
            filled(1, 17, 32),
            5,
            (1, 2),
            Hints("Linear"),
            None,
            ("c 5  y 1  x 2  = 28.625   input ≈ (15, 50)",),
        ),
        (filled(1, 6, 9), 0, (4, 7), TOKENS, None, ("token 4  feature 7  = 5.375",)),
        (
            filled(1, 2, 3, 3),
            1,
            (2, 0),
            Hints("Softmax", "dim=-1"),
            None,
            ("head 1  query 2  key 0  = 1.875",),
        ),
        (filled(5, 1, 3), 0, (2, 4), Hints("LSTM"), None, ("unit 2  t 4  = 1.750",)),
        (filled(1, 3, 9), 2, (0, 7), Hints("Conv1d"), None, ("c 2  t 7  = 3.125",)),
        (filled(1, 9), 0, (0, 7), Hints("Linear"), None, ("i 7  = 0.875",)),
        (
            filled(1, 2, 3, 4, 5),
            1,
            (3, 2),
            Hints("Conv3d"),
            None,
            ("c 1  y 3  x 2  = 12.125   input ≈ (35, 40)",),
        ),
        (
            filled(1, 2, 3, 4, 5),
            5,
            (3, 2),
            Hints(),
            "sample × channel × slice × row × column",
            ("c1 z2  y 3  x 2  = 14.625   input ≈ (35, 40)",),
        ),
        (filled(2, 1, 3), 0, (1, 2), Hints("LSTM", leaf="[1][0]"), None, ("layer 1  feature 2  = 0.625",)),
        (torch.tensor(0.5), 0, (0, 0), Hints(), None, ("= 0.500",)),
        (filled(3, 4), 0, (2, 1), Hints(), "table", ("row 2  column 1  = 1.125",)),
        (torch.arange(12)[None] - 6, 0, (0, 2), Hints("Linear"), None, ("i 2  = −4",)),
        (
            torch.ones(1, 2, 3, 3, dtype=torch.bool),
            1,
            (0, 2),
            Hints(),
            None,
            ("c 1  y 0  x 2  = 1   input ≈ (6, 66)",),
        ),
        (torch.tensor([[1 + 2j]]), 0, (0, 0), Hints(), "table", ("row 0  column 0  = 1.000 + 2.000i",)),
        (torch.tensor([[3.0, torch.nan]]), 0, (0, 1), Hints("Linear"), None, ("i 1  = NaN",)),
    ],
)
def test_a_cell_of_every_shape_is_said_in_the_words_of_its_axes(
    values: torch.Tensor,
    channel: int,
    cell: tuple[int, int],
    hints: Hints,
    reading_of: str | None,
    words: tuple[str, ...],
) -> None:
    found = said(values, channel, cell, hints, reading_of)
    assert found[0] == words[0]
    assert all("input" not in one for one in found[1:])


@pytest.mark.parametrize(
    ("value", "whole", "words"),
    [
        (3.0, True, "3"),
        (-3.0, True, "−3"),
        (3.0, False, "3.000"),
        (float(1 << 25), True, "3.4e7"),
        (float("nan"), True, "NaN"),
        (float("inf"), True, "inf"),
        (7, False, "7"),
    ],
)
def test_integers_are_written_in_full_as_far_as_they_are_exact(
    value: object, whole: bool, words: str
) -> None:
    assert value_words(value, whole=whole) == words
