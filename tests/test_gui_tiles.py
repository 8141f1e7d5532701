"""The pixels of a wall equal colours computed one by one, without the wall's own code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookviewer import arrays, render
from hookviewer.gui.wall import geometry, tiles
from hookviewer.gui.wall.geometry import Box, Grid
from hookviewer.gui.wall.shrink import shrunk
from hookviewer.resources import resource

PAINTS = tiles.Paints(canvas=0xFF111215, nan=0xFF3DFF8B, hatch_ground=0xFF010203, hatch_line=0xFF040506)


def maps_of(values: np.ndarray) -> arrays.Maps:
    return arrays.Maps(values.astype(np.float32), "channel × row × column", "maps")


def picture_of(
    values: np.ndarray, levels: tuple[float, float] = (-2.0, 2.0), **more: object
) -> tiles.Picture:
    order = more.pop("order", np.arange(len(values)))
    return tiles.Picture(maps_of(values), order, levels, str(more.pop("colormap", "magma")), PAINTS)


def colour(value: float, levels: tuple[float, float], colormap: str = "magma") -> int:
    """The colour of one value, as 0xffRRGGBB."""
    with np.load(resource("colormaps.npz")) as tables:
        table = tables[colormap]
    low, high = np.float32(levels[0]), np.float32(levels[1] - levels[0])
    place = (np.float32(value) - low) / high * np.float32(255) + np.float32(0.5)
    red, green, blue = (int(part) for part in table[int(min(max(place, 0), 255))])
    return 0xFF000000 | red << 16 | green << 8 | blue


def mean_over(one: np.ndarray, top: float, bottom: float, left: float, right: float) -> float:
    """The mean of a map over an area given in cells."""
    total = area = 0.0
    for row in range(int(top), min(int(np.ceil(bottom)), one.shape[0])):
        for column in range(int(left), min(int(np.ceil(right)), one.shape[1])):
            share = (min(bottom, row + 1) - max(top, row)) * (min(right, column + 1) - max(left, column))
            total, area = total + share * float(one[row, column]), area + share
    return total / area


@pytest.mark.parametrize("tile", [(6, 9), (14, 21), (20, 31)])
def test_enlarged_cells_are_the_nearest_ones(tile: tuple[int, int]) -> None:
    values = np.random.default_rng(1).normal(size=(7, 6, 9)).astype(np.float32)
    grid = Grid(7, 3, tile[1], tile[0], 2)
    pixels = tiles.Board().pixels(picture_of(values), grid, Box(0, 0, *grid.wall))
    assert pixels.shape == grid.wall[::-1]
    for y in range(pixels.shape[0]):
        for x in range(pixels.shape[1]):
            found = grid.tile_at(x, y)
            if found is None:
                assert pixels[y, x] == PAINTS.canvas
                continue
            left, top = grid.corner(found[0])
            row, column = int((y - top + 0.5) / tile[0] * 6), int((x - left + 0.5) / tile[1] * 9)
            assert pixels[y, x] == colour(values[found[0], row, column], (-2, 2))


def test_shrunk_cells_are_the_mean_of_their_area_and_none_is_skipped() -> None:
    values = np.random.default_rng(2).normal(size=(3, 37, 53)).astype(np.float32)
    small = shrunk(values, 14, 20)
    for y in range(14):
        for x in range(20):
            expected = mean_over(values[1], y * 37 / 14, (y + 1) * 37 / 14, x * 53 / 20, (x + 1) * 53 / 20)
            assert small[1, y, x] == pytest.approx(expected, abs=1e-5)


@given(st.integers(1, 90), st.integers(1, 90), st.integers(1, 90), st.integers(1, 90))
def test_shrinking_keeps_the_mean_of_a_map(rows: int, columns: int, height: int, width: int) -> None:
    values = np.random.default_rng(rows * 91 + columns).uniform(1, 2, (2, rows, columns)).astype(np.float32)
    small = shrunk(values, height, width)
    assert small.shape == (2, min(rows, height), min(columns, width))
    assert small.mean(axis=(1, 2)) == pytest.approx(values.mean(axis=(1, 2)), rel=1e-4)


def test_one_bad_value_shows_in_a_small_map_and_spoils_only_its_own_pixel() -> None:
    values = np.ones((2, 64, 64), np.float32)
    values[0, 5, 5], values[0, 40, 40], values[0, 60, 3] = np.nan, np.inf, -np.inf
    small = shrunk(values, 16, 16)
    assert np.isnan(small[0, 1, 1])
    assert small[0, 10, 10] == np.inf
    assert small[0, 15, 0] == -np.inf
    assert np.isfinite(small).sum() == small.size - 3
    assert small[np.isfinite(small)] == pytest.approx(1)


def test_bad_values_have_their_own_colours() -> None:
    values = np.random.default_rng(3).normal(size=(2, 4, 4)).astype(np.float32)
    values[1, 0, 0], values[1, 1, 1], values[1, 2, 2] = np.nan, np.inf, -np.inf
    grid = Grid(2, 2, 8, 8, 2)
    pixels = tiles.Board().pixels(picture_of(values), grid, Box(0, 0, *grid.wall))
    assert (pixels[:2, 10:12] == PAINTS.nan).all()
    assert (pixels[2:4, 12:14] == PAINTS.pos_inf).all()
    assert (pixels[4:6, 14:16] == PAINTS.neg_inf).all()
    assert np.isin(pixels[:, :8], (PAINTS.nan, PAINTS.pos_inf, PAINTS.neg_inf)).sum() == 0


def test_the_colours_are_those_of_the_export() -> None:
    values = np.random.default_rng(4).normal(size=(5, 8, 8)).astype(np.float32)
    grid = Grid(5, 5, 8, 8, 0)
    for colormap in render.COLORMAPS:
        pixels = tiles.Board().pixels(picture_of(values, colormap=colormap), grid, Box(0, 0, *grid.wall))
        expected = render.to_rgba(np.concatenate(list(values), axis=1), (-2, 2), colormap)
        assert (pixels >> 16 & 255 == expected[..., 0]).all()
        assert (pixels >> 8 & 255 == expected[..., 1]).all()
        assert (pixels & 255 == expected[..., 2]).all()


def test_a_part_of_the_wall_equals_that_part_of_all_of_it() -> None:
    values = np.random.default_rng(5).normal(size=(23, 11, 13)).astype(np.float32)
    values[4], values[9] = 0, 0.41
    picture = picture_of(values, order=np.random.default_rng(6).permutation(23))
    for grid in (Grid(23, 5, 40, 33, 2), Grid(23, 5, 7, 6, 2)):
        whole = tiles.Board().pixels(picture, grid, Box(0, 0, *grid.wall)).copy()
        board = tiles.Board()
        for box in (Box(3, 5, 31, 27), Box(0, 0, *grid.wall), Box(10, 11, *grid.wall)):
            part = board.pixels(picture, grid, box)
            assert (part == whole[box.top : box.bottom, box.left : box.right]).all()


def test_tiles_stand_in_the_order_asked_for_and_missing_channels_leave_canvas() -> None:
    values = np.arange(3, dtype=np.float32)[:, None, None] + np.linspace(0, 0.1, 4).reshape(2, 2)
    grid = Grid(4, 4, 2, 2, 1)
    picture = picture_of(values, levels=(0, 3), order=np.array([2, 3, 0, 1]))
    pixels = tiles.Board().pixels(picture, grid, Box(0, 0, *grid.wall))
    assert pixels[0, 0] == colour(2, (0, 3))
    assert (pixels[:, 3:5] == PAINTS.canvas).all()
    assert pixels[0, 6] == colour(0, (0, 3))
    assert pixels[0, 9] == colour(1, (0, 3))


def test_a_map_without_a_shape_is_hatched_but_one_cell_is_shown() -> None:
    values = np.random.default_rng(7).normal(size=(3, 4, 4)).astype(np.float32)
    values[1] = 0
    grid = Grid(3, 3, 12, 12, 2)
    pixels = tiles.Board().pixels(picture_of(values), grid, Box(0, 0, *grid.wall))
    assert set(np.unique(pixels[:, 14:26])) == {PAINTS.hatch_ground, PAINTS.hatch_line}
    single = tiles.Board().pixels(picture_of(values[:, :1, :1]), grid, Box(0, 0, *grid.wall))
    assert (single[:, :12] == colour(values[0, 0, 0], (-2, 2))).all()
    assert (single[:, 14:26] == colour(0, (-2, 2))).all()


def test_a_changed_scale_or_colour_map_is_seen_and_an_equal_request_is_answered_from_memory() -> None:
    values = np.random.default_rng(8).normal(size=(2, 5, 5)).astype(np.float32)
    grid = Grid(2, 2, 10, 10, 2)
    maps, order, board = maps_of(values), np.arange(2), tiles.Board()

    def pixels(levels: tuple[float, float], colormap: str) -> np.ndarray:
        return board.pixels(tiles.Picture(maps, order, levels, colormap, PAINTS), grid, Box(0, 0, *grid.wall))

    for levels in ((-2.0, 2.0), (0.0, 1.0)):
        for colormap in ("magma", "ember"):
            assert pixels(levels, colormap)[0, 0] == colour(values[0, 0, 0], levels, colormap)
    assert pixels((0.0, 1.0), "ember") is pixels((0.0, 1.0), "ember")


def test_equal_levels_give_the_middle_colour() -> None:
    values = np.random.default_rng(9).normal(size=(1, 3, 3)).astype(np.float32)
    grid = Grid(1, 1, 3, 3, 0)
    pixels = tiles.Board().pixels(picture_of(values, levels=(1.0, 1.0)), grid, Box(0, 0, 3, 3))
    middle = render.colour_table("magma")[128].astype(int)
    assert (pixels == (0xFF000000 | middle[0] << 16 | middle[1] << 8 | middle[2])).all()


def test_pixels_of_a_wider_map_in_a_shared_tile_keep_square_cells() -> None:
    values = np.random.default_rng(10).normal(size=(1, 2, 4)).astype(np.float32)
    grid = Grid(1, 1, 16, 16, 2)
    pixels = tiles.Board().pixels(picture_of(values), grid, Box(0, 0, 16, 16))
    assert (pixels[:4] == PAINTS.canvas).all()
    assert (pixels[12:] == PAINTS.canvas).all()
    assert (pixels[4:8, :4] == colour(values[0, 0, 0], (-2, 2))).all()
    assert geometry.inset((2, 4), (16, 16)) == (0, 4, 16, 8)
