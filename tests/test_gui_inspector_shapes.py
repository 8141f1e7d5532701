"""What the inspector shows of signals, sequences, colour kernels, and maps of zeros."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from hookviewer import arrays
from hookviewer.gui.columns import Column
from hookviewer.gui.inspector.focus import Focus, line_words, one_channel, place_words, statistics_rows
from hookviewer.gui.wall import words
from hookviewer.gui.wall.odd_words import flat_words, odd_words
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record


def _record(kind: Kind) -> Record:
    tensor = torch.zeros(1, 2, 3, 3)
    return Record(Key("conv", kind, 0, ""), tuple(tensor.shape), tensor.dtype, "cpu", (), kept=tensor)


def _focus(maps: arrays.Maps, cell: tuple[int, int]) -> Focus:
    return Focus(Column("", "one", 1, None, maps), maps, 0, cell, (0.0, 1.0), "magma", None)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Kind.OUTPUT, "dead"),
        (Kind.GRAD_OUTPUT, "no gradient"),
        (Kind.PARAM_GRAD, "no gradient"),
        (Kind.PARAM, "= 0"),
        (Kind.ATTRIBUTION, "= 0"),
    ],
)
def test_only_an_output_of_zeros_is_dead(kind: Kind, words: str) -> None:
    column = Column("", "one", 1, _record(kind))
    assert flat_words(column, 0.0) == words
    assert flat_words(column, 2.5) == "= 2.500"


def test_a_difference_of_zero_is_no_defect() -> None:
    assert flat_words(Column("−", "A − B", None, _record(Kind.OUTPUT)), 0.0) == "= 0"


def test_infinities_of_both_signs_are_counted_apart() -> None:
    values = np.array([np.nan, np.inf, np.inf, -np.inf, 1.0], np.float32)
    assert odd_words(values) == "NaN 1  +inf 2  −inf 1"
    assert odd_words(values[4:]) == ""


def test_a_place_is_said_in_the_words_of_its_axes() -> None:
    values = np.zeros((1, 4, 5), np.float32)
    picture = arrays.Maps(values, "channel × row × column", "maps")
    sequence = dataclasses.replace(picture, axes="feature by time", reading="sample × time × feature")
    signal = arrays.Maps(values[:, :1], "channel × time", "lines")
    assert place_words(_focus(picture, (1, 2))) == "y 1  x 2"
    assert place_words(_focus(sequence, (1, 2))) == "unit 1  t 2"
    assert place_words(_focus(signal, (0, 2))) == "t 2"
    assert line_words(_focus(sequence, (1, 2))) == ("over time", "over units")


def test_one_channel_of_colour_kernels_keeps_its_own_colours() -> None:
    colours = np.random.default_rng(0).random((3, 2, 2, 3)).astype(np.float32)
    maps = arrays.Maps(colours.mean(axis=3), "", "maps", colours=colours)
    own = one_channel(maps, 2).colours
    assert own is not None
    np.testing.assert_array_equal(own, colours[2:])


def test_the_numbers_of_a_layer_count_the_tokens_that_stand_before_its_grid() -> None:
    tokens = np.random.default_rng(3).normal(size=(1, 17, 6)).astype(np.float32)
    tokens[0, 0] = 40  # nearly all of it is in the class token
    hints = arrays.Hints(leading=1, pictures=((4, 4),))
    maps = arrays.as_maps(tokens, reading="sample × token in a grid × feature", hints=hints)
    assert maps.apart is not None
    rows = {name: layer for name, _, layer in statistics_rows(_focus(maps, (0, 0)), maps)}
    assert float(rows["mean"]) == pytest.approx(float(tokens.mean(dtype=np.float64)), rel=1e-3)
    assert rows["max"] == "40.000"
    norm = float(np.linalg.norm(tokens.astype(np.float64)))
    assert float(rows["|grad|"]) == pytest.approx(norm, rel=1e-3)
    assert words.statistics(maps).max == 40
