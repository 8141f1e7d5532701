"""Where the tiles of a wall stand: pure functions over whole device pixels.

A wall's own coordinates start at the corner of its first tile. The sight says which part of it a column
shows; all columns share one.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

Cells = npt.NDArray[np.intp]

FLATTEST, STEEPEST = 1 / 8, 8.0
SMALLEST_TILE = 2
LARGEST_CELL = 96
LARGEST_TILE = 1 << 15


@dataclasses.dataclass(frozen=True)
class Grid:
    """Equal tiles, `count` of them, `columns` in a row, each `width` × `height` pixels, `gap` between."""

    count: int
    columns: int
    width: int
    height: int
    gap: int

    @property
    def rows(self) -> int:
        """How many rows there are; the last one may not be full."""
        return math.ceil(self.count / self.columns)

    @property
    def wall(self) -> tuple[int, int]:
        """Width and height of all tiles together."""
        across = self.columns * (self.width + self.gap) - self.gap
        return across, max(self.rows * (self.height + self.gap) - self.gap, 0)

    def corner(self, tile: int) -> tuple[int, int]:
        """Return the left upper corner of a tile."""
        row, column = divmod(tile, self.columns)
        return column * (self.width + self.gap), row * (self.height + self.gap)

    def tile_at(self, x: float, y: float) -> tuple[int, float, float] | None:
        """Return the tile at a point and where in it (0 to 1 across and down); None in gaps and outside."""
        column, row = math.floor(x / (self.width + self.gap)), math.floor(y / (self.height + self.gap))
        across = (x - column * (self.width + self.gap)) / self.width
        down = (y - row * (self.height + self.gap)) / self.height
        tile = row * self.columns + column
        inside = 0 <= column < self.columns and 0 <= tile < self.count and across < 1 and down < 1
        return (tile, across, down) if inside else None

    def touched(self, box: Box) -> tuple[range, range]:
        """Return the rows and columns of tiles that a box of the wall touches."""
        rows = _touched(box.top, box.bottom, self.height + self.gap, self.rows)
        return rows, _touched(box.left, box.right, self.width + self.gap, self.columns)


@dataclasses.dataclass(frozen=True)
class Box:
    """A part of a wall in pixels; right and bottom are outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.right - self.left, self.bottom - self.top

    def contains(self, other: Box) -> bool:
        """Return whether the other box lies inside this one."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )

    def grown(self, across: int, down: int) -> Box:
        """Return the box with room on all sides."""
        return Box(self.left - across, self.top - down, self.right + across, self.bottom + down)

    def within(self, width: int, height: int) -> Box:
        """Return the part of the box that lies on a wall of this size."""
        left, top = min(max(self.left, 0), width), min(max(self.top, 0), height)
        return Box(left, top, max(left, min(self.right, width)), max(top, min(self.bottom, height)))


@dataclasses.dataclass(frozen=True)
class Sight:
    """What all columns show of their walls: fitted (`tile` 0), or tiles of a width of `tile` pixels.

    `fit` is `"all"` (every tile in sight) or `"width"` (no room left over; the rest is scrolled to).
    `x` and `y` are the point of the wall at the left upper corner of the view.
    """

    fit: str = "all"
    columns: int = 0
    tile: int = 0
    x: int = 0
    y: int = 0


def shape_of(height: int, width: int) -> float:
    """Return the height of a tile for a width of 1; very long maps get tiles that can still be seen."""
    return min(max(height / max(width, 1), FLATTEST), STEEPEST)


def grid_of(count: int, shape: float, room: tuple[int, int], sight: Sight, gap: int) -> Grid:
    """Return the tiles of a wall for a room of width × height pixels as the sight asks for them."""
    if sight.tile:
        return Grid(count, sight.columns, sight.tile, _height(sight.tile, shape), gap)
    return fitted(count, shape, room, gap) if sight.fit == "all" else filling(count, shape, room, gap)


def fitted(count: int, shape: float, room: tuple[int, int], gap: int) -> Grid:
    """Return the largest tiles with which all of them are in sight."""
    columns = np.arange(1, max(count, 1) + 1)
    rows = -(-max(count, 1) // columns)
    by_width = (room[0] - gap * (columns - 1)) / columns
    by_height = (room[1] - gap * (rows - 1)) / rows / shape
    width = np.minimum(by_width, by_height)
    best = int(np.argmax(width))
    tile = max(math.floor(width[best] + 1e-9), SMALLEST_TILE)
    return Grid(count, int(columns[best]), tile, _fitting(tile, shape, room[1], int(rows[best]), gap), gap)


def filling(count: int, shape: float, room: tuple[int, int], gap: int) -> Grid:
    """Return tiles that leave no room at the sides or below; what does not fit is scrolled to."""
    everything = fitted(count, shape, room, gap)
    for columns in range(everything.columns, 0, -1):
        width = max((room[0] - gap * (columns - 1)) // columns, SMALLEST_TILE)
        grid = Grid(count, columns, width, _height(width, shape), gap)
        if grid.wall[1] >= room[1]:
            return grid
    return everything


def settled(sight: Sight, grid: Grid, view: tuple[int, int], edge: int) -> Sight:
    """Return the sight moved so far that the wall stands centred where it is smaller, and is not lost."""
    across, down = grid.wall
    return dataclasses.replace(
        sight, x=_settled(sight.x, across, view[0], edge, 0.5), y=_settled(sight.y, down, view[1], edge, 0.0)
    )


def zoomed(
    sight: Sight, grid: Grid, factor: float, point: tuple[float, float], cells: tuple[int, int]
) -> Sight:
    """Return the sight with tiles `factor` times as large, the same cell staying under `point` of the view.

    `cells` are the height and width of a map: a cell grows to 96 pixels at most.
    """
    wish = round(grid.width * factor)
    wish = grid.width + (1 if factor > 1 else -1) if wish == grid.width and factor != 1 else wish
    largest = min(max(cells[1] * LARGEST_CELL, grid.width), LARGEST_TILE)
    return placed(sight, grid, min(max(wish, SMALLEST_TILE), largest), point, cells)


def placed(sight: Sight, grid: Grid, tile: int, point: tuple[float, float], cells: tuple[int, int]) -> Sight:
    """Return the sight with tiles of a width of `tile`, the same cell staying under `point` of the view."""
    larger = dataclasses.replace(grid, width=tile, height=_height(tile, shape_of(*cells)))
    x = _carried(sight.x + point[0], grid.width, larger.width, grid.gap)
    y = _carried(sight.y + point[1], grid.height, larger.height, grid.gap)
    return dataclasses.replace(
        sight, columns=grid.columns, tile=tile, x=round(x - point[0]), y=round(y - point[1])
    )


def shown(sight: Sight, grid: Grid, tile: int, view: tuple[int, int], edge: int) -> Sight:
    """Return the sight moved just so far that a tile is in view."""
    left, top = grid.corner(tile)
    x = _reaching(sight.x, left - edge, left + grid.width + edge, view[0])
    y = _reaching(sight.y, top - edge, top + grid.height + edge, view[1])
    return dataclasses.replace(sight, x=x, y=y)


def inset(cells: tuple[int, int], tile: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return left, top, width and height of a map inside a tile of another shape; cells stay square.

    `cells` and `tile` are height and width. A map flatter or steeper than any tile is stretched.
    """
    shape = shape_of(*cells)
    height, width = tile
    if abs(round(width * shape) - height) <= 1:
        return 0, 0, width, height
    if width * shape > height:
        narrow = max(round(height / shape), 1)
        return (width - narrow) // 2, 0, narrow, height
    low = max(round(width * shape), 1)
    return 0, (height - low) // 2, width, low


def framed(cells: tuple[int, int], tile: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return where a map stands in a tile that another map has given its shape, as `inset` does.

    Shapes that differ by less than a cell are those of one picture in maps of unlike sizes: such a map fills
    the tile, so that the same place of all tiles is the same place of the picture.
    """
    (high, wide), (height, width) = cells, tile
    if (high - 1) * width < height * (wide + 1) and height * (wide - 1) < (high + 1) * width:
        return 0, 0, width, height
    return inset(cells, tile)


def nearest(cells: int, pixels: int) -> Cells:
    """Return which of `cells` each of `pixels` shows: the one under the pixel's middle."""
    return (2 * np.arange(pixels) + 1) * cells // (2 * pixels)


def index_along(start: int, stop: int, pitch: int, first: int, pixels: int, offset: int, cells: int) -> Cells:
    """Return for each pixel from `start` to `stop` of one axis its place in an atlas of whole tiles.

    Tiles repeat every `pitch` pixels, the first in the atlas is number `first`; a map begins `offset` pixels
    into its tile and covers `pixels` of it with `cells` places each. −1 stands where there is no map.
    """
    tile, within = np.divmod(np.arange(start, stop), pitch)
    within -= offset
    inside = (within >= 0) & (within < pixels)
    place = nearest(cells, pixels)[np.clip(within, 0, pixels - 1)]
    return np.where(inside, (tile - first) * cells + place, -1)


def _height(width: int, shape: float) -> int:
    return max(round(width * shape), 1)


def _fitting(width: int, shape: float, room: int, rows: int, gap: int) -> int:
    return max(min(_height(width, shape), (room - gap * (rows - 1)) // rows), 1)


def _touched(start: int, stop: int, pitch: int, count: int) -> range:
    return range(min(max(start // pitch, 0), count), min(max(math.ceil(stop / pitch), 0), count))


def _settled(at: int, wall: int, view: int, edge: int, share: float) -> int:
    if wall + 2 * edge <= view:
        return -max(round((view - wall) * share), edge)
    return min(max(at, -edge), wall - view + edge)


def _carried(at: float, before: int, after: int, gap: int) -> float:
    tile = math.floor(at / (before + gap))
    within = min(max((at - tile * (before + gap)) / before, 0.0), 1.0)
    return tile * (after + gap) + within * after


def _reaching(at: int, start: int, stop: int, view: int) -> int:
    if stop - start > view:
        return min(max(at, start), stop - view)
    return min(max(at, stop - view), start)
