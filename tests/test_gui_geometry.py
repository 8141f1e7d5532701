"""Where tiles stand, and what a view shows of them."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookviewer.gui.wall import geometry
from hookviewer.gui.wall.geometry import Box, Grid, Sight

ROOMS = st.tuples(st.integers(200, 2000), st.integers(100, 1500))


@given(st.integers(1, 3000), st.sampled_from([1.0, 0.667, 1.5, 0.125]), ROOMS)
def test_all_fitted_tiles_are_in_the_room(count: int, shape: float, room: tuple[int, int]) -> None:
    grid = geometry.fitted(count, shape, room, 2)
    too_many = grid.width <= geometry.SMALLEST_TILE or grid.height == 1
    assert too_many or (grid.wall[0] <= room[0] and grid.wall[1] <= room[1])


@pytest.mark.parametrize("count", [1, 24, 96, 144, 512, 2048])
def test_no_other_number_of_columns_gives_larger_tiles(count: int) -> None:
    best = geometry.fitted(count, 2 / 3, (1100, 700), 2)
    for columns in range(1, count + 1):
        width = best.width + 2
        rows = -(-count // columns)
        fits = columns * (width + 2) - 2 <= 1100 and rows * (round(width * 2 / 3) + 2) - 2 <= 700
        assert not fits


@given(st.integers(1, 500), st.sampled_from([1.0, 0.667, 1.5]), ROOMS)
def test_filling_leaves_no_room_unless_one_row_is_too_little(
    count: int, shape: float, room: tuple[int, int]
) -> None:
    grid = geometry.filling(count, shape, room, 2)
    assert (
        grid.wall[1] >= room[1] - grid.rows - 1
        or grid.columns == 1
        or grid == geometry.fitted(count, shape, room, 2)
    )
    assert grid.wall[0] <= room[0]


def test_a_point_in_a_gap_is_in_no_tile() -> None:
    grid = Grid(count=5, columns=3, width=10, height=8, gap=2)
    assert grid.tile_at(0, 0) == (0, 0.0, 0.0)
    assert grid.tile_at(11, 3) is None
    assert grid.tile_at(12, 10) == (4, 0.0, 0.0)
    assert grid.tile_at(30, 12) is None  # the sixth place is empty
    assert grid.tile_at(-1, 0) is None


@given(st.integers(1, 200), st.integers(1, 20), st.integers(0, 3000), st.integers(0, 3000))
def test_the_tile_at_the_middle_of_a_tile_is_that_tile(count: int, columns: int, seed: int, gap: int) -> None:
    grid = Grid(count, min(columns, count), 7 + seed % 40, 5 + seed % 31, gap % 4)
    tile = seed % count
    x, y = grid.corner(tile)
    found = grid.tile_at(x + grid.width / 2, y + grid.height / 2)
    assert found is not None
    assert found[0] == tile
    assert found[1:] == pytest.approx((0.5, 0.5))


def test_the_cell_under_the_pointer_stays_there_when_zooming() -> None:
    grid = Grid(count=96, columns=10, width=60, height=40, gap=2)
    point = (333.0, 222.0)
    before = grid.tile_at(*point)
    sight = geometry.zoomed(Sight(), grid, 1.7, point, (160, 240))
    after_grid = geometry.grid_of(96, 160 / 240, (1, 1), sight, 2)
    after = after_grid.tile_at(point[0] + sight.x, point[1] + sight.y)
    assert before is not None
    assert after is not None
    assert after[0] == before[0]
    assert after[1:] == pytest.approx(before[1:], abs=0.02)


def test_zooming_always_moves_by_a_pixel_and_stops_at_the_ends() -> None:
    grid = Grid(count=4, columns=2, width=10, height=10, gap=2)
    assert geometry.zoomed(Sight(), grid, 1.01, (0, 0), (8, 8)).tile == 11
    assert geometry.zoomed(Sight(), grid, 0.99, (0, 0), (8, 8)).tile == 9
    assert geometry.zoomed(Sight(), grid, 1e9, (0, 0), (8, 8)).tile == 8 * geometry.LARGEST_CELL
    assert geometry.zoomed(Sight(), grid, 1e-9, (0, 0), (8, 8)).tile == geometry.SMALLEST_TILE


def test_a_small_wall_stands_centred_and_a_large_one_is_not_lost() -> None:
    grid = Grid(count=4, columns=2, width=10, height=10, gap=2)
    assert geometry.settled(Sight(x=5000, y=5000), grid, (100, 100), 2) == Sight(x=-39, y=-2)
    large = dataclasses.replace(grid, width=400, height=400)
    assert geometry.settled(Sight(x=5000, y=-5000), large, (100, 100), 2) == Sight(x=802 - 100 + 2, y=-2)


def test_a_tile_out_of_view_is_brought_into_view_by_the_shortest_way() -> None:
    grid = Grid(count=100, columns=10, width=50, height=50, gap=2)
    sight = geometry.shown(Sight(x=0, y=0), grid, 55, (200, 200), 2)
    assert (sight.x, sight.y) == (52 * 5 + 50 + 2 - 200, 52 * 5 + 50 + 2 - 200)
    assert geometry.shown(sight, grid, 55, (200, 200), 2) == sight


def test_the_tiles_that_a_box_touches() -> None:
    grid = Grid(count=100, columns=10, width=50, height=30, gap=2)
    assert grid.touched(Box(0, 0, 520, 320)) == (range(10), range(10))
    assert grid.touched(Box(60, 31, 150, 70)) == (range(3), range(1, 3))
    assert grid.touched(Box(-500, -500, -400, -400)) == (range(0), range(0))


@given(st.integers(1, 300), st.integers(1, 300))
def test_nearest_shows_the_cell_under_the_middle_of_a_pixel(cells: int, pixels: int) -> None:
    expected = [math.floor(Fraction(2 * pixel + 1, 2 * pixels) * cells) for pixel in range(pixels)]
    assert np.abs(geometry.nearest(cells, pixels) - expected).max() == 0
    if pixels >= cells:
        assert set(geometry.nearest(cells, pixels)) == set(range(cells))


def test_a_map_of_another_shape_stands_in_the_middle_of_its_tile_with_square_cells() -> None:
    assert geometry.inset((100, 100), (60, 90)) == (15, 0, 60, 60)
    assert geometry.inset((50, 100), (60, 60)) == (0, 15, 60, 30)
    assert geometry.inset((80, 120), (40, 60)) == (0, 0, 60, 40)
