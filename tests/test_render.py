"""Colours against look-ups written another way."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hookviewer import render

MAPS = np.random.default_rng(0).normal(size=(5, 6, 7)).astype(np.float32)


@pytest.mark.parametrize("name", render.COLORMAPS)
def test_a_colour_table_has_256_opaque_colours(name):
    table = render.colour_table(name)
    assert table.shape == (256, 4)
    assert table.dtype == np.uint8
    assert (table[:, 3] == 255).all()
    assert not table.flags.writeable


def test_the_colours_are_the_published_ones():
    assert render.colour_table("magma")[[0, 255], :3].tolist() == [[0, 0, 4], [252, 253, 191]]
    assert render.colour_table("viridis")[[0, 255], :3].tolist() == [[68, 1, 84], [253, 231, 37]]
    assert render.colour_table("ember")[[0, 255], :3].tolist() == [[0xBF, 0xEF, 0xFF], [0xFF, 0xE9, 0xB8]]
    assert render.colour_table("gray")[77, :3].tolist() == [77, 77, 77]


def test_zero_is_dark_in_the_middle_of_ember_and_white_in_the_middle_of_the_print_map():
    assert render.colour_table("ember")[render.zero_index("ember"), :3].max() < 30
    assert render.colour_table("CET-D1A")[render.zero_index("CET-D1A"), :3].min() > 220
    assert render.zero_index("magma") == 0


def test_values_become_the_nearest_of_256_steps():
    low, high = -0.7, 1.3
    index = render.to_index(MAPS, (low, high))
    for value, got in zip(MAPS.ravel().tolist(), index.ravel().tolist(), strict=True):
        exact = min(max((value - low) / (high - low) * 255, 0), 255)
        assert abs(got - exact) <= 0.5 + 1e-4
    assert render.to_index(np.array([low, high, -9, 9]), (low, high)).tolist() == [0, 255, 0, 255]


def test_the_formula_holds_bit_by_bit_in_single_precision():
    low, high = np.float32(-1.25), np.float32(2.5)
    steps = np.floor((MAPS - low) / (high - low) * np.float32(255) + np.float32(0.5))
    assert (render.to_index(MAPS, (-1.25, 2.5)) == np.clip(steps, 0, 255)).all()


def test_equal_levels_give_the_middle():
    assert (render.to_index(MAPS, (2, 2)) == 128).all()


@pytest.mark.parametrize("span", [1e-300, 1e-44, 1e300])
def test_levels_beyond_single_precision_still_divide(span):
    values = np.array([0, span / 2, span])
    assert render.to_index(values, (0, span)).tolist() == [0, 128, 255]


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int64, np.uint8, bool, np.complex64])
def test_every_dtype_has_colours(dtype):
    values = np.array([[0, 1], [1, 0]]).astype(dtype)
    assert render.to_index(values, (0, 1)).tolist() == [[0, 255], [255, 0]]


def test_a_lone_number_has_a_colour():
    assert render.to_rgba(np.float32(1), (0, 1), "gray").tolist() == [255, 255, 255, 255]


def test_the_input_is_left_alone():
    before = MAPS.copy()
    render.to_rgba(MAPS, (-1, 1), "magma")
    np.testing.assert_array_equal(MAPS, before)


def test_colours_are_looked_up_one_by_one():
    picture = render.to_rgba(MAPS, (-2, 2), "ember")
    table = render.colour_table("ember")
    assert picture.shape == (5, 6, 7, 4)
    for place in np.ndindex(MAPS.shape):
        step = math.floor((float(MAPS[place]) + 2) / 4 * 255 + 0.5)
        assert (picture[place] == table[min(max(step, 0), 255)]).all()


def test_nan_and_the_infinities_have_colours_of_their_own():
    values = np.array([0, 1, np.nan, np.inf, -np.inf], np.float32)
    picture = render.to_rgba(values, (0, 1), "magma", nan=(1, 2, 3), pos_inf=(4, 5, 6), neg_inf=(7, 8, 9))
    assert picture[2:].tolist() == [[1, 2, 3, 255], [4, 5, 6, 255], [7, 8, 9, 255]]
    assert picture[:2].tolist() == render.colour_table("magma")[[0, 255]].tolist()
    defaults = {tuple(colour) for colour in render.to_rgba(values[2:], (0, 1), "magma").tolist()}
    assert len(defaults) == 3
    assert (*render.NAN, 255) in defaults


def test_a_wall_shows_every_channel_at_its_place():
    wall = render.wall_picture(MAPS, (-1, 1), "magma", columns=3, gutter=2, ground=(9, 9, 9, 0))
    assert wall.shape == (6 * 2 + 2, 7 * 3 + 4, 4)
    for channel in range(5):
        top, left = channel // 3 * 8, channel % 3 * 9
        np.testing.assert_array_equal(
            wall[top : top + 6, left : left + 7], render.to_rgba(MAPS[channel], (-1, 1), "magma")
        )
    assert wall[6, 0].tolist() == wall[0, 7].tolist() == wall[13, 24].tolist() == [9, 9, 9, 0]


def test_a_wall_grows_cell_by_cell():
    once = render.wall_picture(MAPS, (-1, 1), "gray", columns=2, gutter=0)
    thrice = render.wall_picture(MAPS, (-1, 1), "gray", columns=2, gutter=0, scale=3)
    np.testing.assert_array_equal(thrice, np.kron(once, np.ones((3, 3, 1), np.uint8)))
    np.testing.assert_array_equal(render.enlarged(once, 3), thrice)


def test_a_wall_shrinks_by_averaging_values_not_colours():
    half = render.wall_picture(MAPS[:1], (-1, 1), "ember", scale=1 / 2)
    first = render.to_rgba(np.float32(MAPS[0, :2, :2].mean(dtype=np.float64)), (-1, 1), "ember")
    assert half.shape == (3, 4, 4)
    assert half[0, 0].tolist() == first.tolist()


def test_blocks_at_the_rim_are_means_of_what_is_there():
    small = render.reduced(MAPS, 4)
    assert small.shape == (5, 2, 2)
    assert small[2, 1, 1] == pytest.approx(MAPS[2, 4:, 4:].mean())
    assert small[2, 0, 0] == pytest.approx(MAPS[2, :4, :4].mean())


def test_nan_spreads_to_its_block_only():
    maps = MAPS.copy()
    maps[0, 0, 0] = np.nan
    assert np.isnan(render.reduced(maps, 2)).sum() == 1


def test_an_index_wall_has_gutters_in_the_colour_of_zero():
    wall = render.wall_index(MAPS, (-1, 1), "ember", columns=5, gutter=1)
    assert wall.dtype == np.uint8
    assert (wall[:, 7] == 128).all()
    np.testing.assert_array_equal(wall[:, :7], render.to_index(MAPS[0], (-1, 1)))


def test_columns_make_a_wall_a_little_wider_than_high():
    assert render.wall_columns(1, 5, 5) == 1
    assert render.wall_columns(3, 1, 900) == 1
    columns = render.wall_columns(96, 40, 60)
    rows = -(-96 // columns)
    assert 1 < columns * 62 / (rows * 42) < 2
