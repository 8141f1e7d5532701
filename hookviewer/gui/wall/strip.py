"""Where the tiles of a strip stand, each with a line of words below it: pure functions over device pixels."""

from __future__ import annotations

import dataclasses
import math

from hookviewer.gui.wall.geometry import SMALLEST_TILE, Grid, Sight

LARGEST = 1 << 13


def strip_of(count: int, shape: float, room: tuple[int, int], sight: Sight, gap: int, words: int) -> Grid:
    """Return tiles `shape` times as high as wide; the grid has `words` more pixels below each of them."""
    if sight.tile:
        return _grid(count, sight.columns, sight.tile, shape, gap, words)
    largest = max(
        (_fitted(count, columns, shape, room, gap, words) for columns in range(1, count + 1)),
        key=lambda grid: grid.width,
    )
    return largest if sight.fit == "all" else _filling(largest, shape, room, words)


def zoomed(
    sight: Sight, grid: Grid, factor: float, point: tuple[float, float], shape: float, words: int
) -> Sight:
    """Return the sight with tiles `factor` times as wide; the same place stays under `point` of the view."""
    width = min(max(round(grid.width * factor), 8 * SMALLEST_TILE), LARGEST)
    larger = _grid(grid.count, grid.columns, width, shape, grid.gap, words)
    x = _carried(sight.x + point[0], grid.width + grid.gap, larger.width + grid.gap)
    y = _carried(sight.y + point[1], grid.height + grid.gap, larger.height + grid.gap)
    return dataclasses.replace(
        sight, columns=grid.columns, tile=width, x=round(x - point[0]), y=round(y - point[1])
    )


def _grid(count: int, columns: int, width: int, shape: float, gap: int, words: int) -> Grid:
    return Grid(count, columns, width, max(math.floor(width * shape + 1e-6), 1) + words, gap)


def _fitted(count: int, columns: int, shape: float, room: tuple[int, int], gap: int, words: int) -> Grid:
    rows = math.ceil(count / columns)
    by_width = (room[0] - gap * (columns - 1)) / columns
    by_height = ((room[1] - gap * (rows - 1)) / rows - words) / shape
    return _grid(count, columns, max(math.floor(min(by_width, by_height)), SMALLEST_TILE), shape, gap, words)


def _filling(fitted: Grid, shape: float, room: tuple[int, int], words: int) -> Grid:
    width = max((room[0] - fitted.gap * (fitted.columns - 1)) // fitted.columns, SMALLEST_TILE)
    return _grid(fitted.count, fitted.columns, width, shape, fitted.gap, words)


def _carried(at: float, before: int, after: int) -> float:
    return at / before * after
