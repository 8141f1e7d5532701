"""Where the tiles of a strip stand, each with words below it, in lines: pure functions over device pixels."""

from __future__ import annotations

import dataclasses
import math

from hookviewer.gui.wall.geometry import SMALLEST_TILE, Grid, Sight

LARGEST = 1 << 13
LEAST = 4
"""How many times as wide as its words are high a tile is, unless somebody makes it smaller."""


@dataclasses.dataclass(frozen=True)
class Lines(Grid):
    """Tiles in lines of so many (`counts`): each begins a row of its own, with `head` pixels above it."""

    counts: tuple[int, ...] = ()
    head: int = 0

    @property
    def rows(self) -> int:
        """How many rows of tiles there are in all lines."""
        return sum(math.ceil(count / self.columns) for count in self.counts)

    @property
    def wall(self) -> tuple[int, int]:
        """Width and height of everything together."""
        heads = self.head * len(self.counts)
        return self.columns * (self.width + self.gap) - self.gap, self.rows * (self.height + self.gap) + heads

    def corner(self, tile: int) -> tuple[int, int]:
        """Return the left upper corner of a tile."""
        rows = 0
        for line, count in enumerate(self.counts):
            if tile < count:
                row, column = divmod(tile, self.columns)
                below = (rows + row) * (self.height + self.gap) + (line + 1) * self.head
                return column * (self.width + self.gap), below
            tile -= count
            rows += math.ceil(count / self.columns)
        raise IndexError(tile)

    def tile_at(self, x: float, y: float) -> tuple[int, float, float] | None:
        """Return the tile at a point and where in it (0 to 1 across and down); None in gaps and outside."""
        for tile in range(self.count):
            left, top = self.corner(tile)
            across, down = (x - left) / self.width, (y - top) / self.height
            if 0 <= across < 1 and 0 <= down < 1:
                return tile, across, down
        return None

    def starts(self) -> list[int]:
        """Return the first tile of each line."""
        return [sum(self.counts[:line]) for line in range(len(self.counts))]

    def stepped(self, tile: int, across: int, down: int) -> int:
        """Return the tile so many steps to the right and down, the same one where there is none."""
        if across:
            wish = tile + across
            return wish if 0 <= wish < self.count else tile
        left, top = self.corner(tile)
        step = 1 if down > 0 else -1
        below = [other for other in range(self.count) if (self.corner(other)[1] - top) * step > 0]
        if not below:
            return tile
        row = min(below, key=lambda other: abs(self.corner(other)[1] - top))
        same = [other for other in below if self.corner(other)[1] == self.corner(row)[1]]
        return min(same, key=lambda other: abs(self.corner(other)[0] - left))


def strip_of(
    counts: tuple[int, ...],
    shape: float,
    room: tuple[int, int],
    sight: Sight,
    gap: int,
    words: int,
    head: int = 0,
) -> Lines:
    """Return tiles `shape` times as high as wide; the grid has `words` more pixels below each of them.

    Several lines are scrolled where tiles that show all of them would be too small to tell something.
    """
    if sight.tile:
        return _grid(counts, sight.columns, sight.tile, shape, gap, words, head)
    largest = max(
        (_fitted(counts, columns, shape, room, gap, words, head) for columns in range(1, max(counts) + 1)),
        key=lambda grid: grid.width,
    )
    if sight.fit == "all" and len(counts) > 1 and largest.width < LEAST * words:
        return _scrolled(largest, shape, room, words)
    return largest if sight.fit == "all" else _filling(largest, shape, room, words)


def zoomed(
    sight: Sight, grid: Lines, factor: float, point: tuple[float, float], shape: float, words: int
) -> Sight:
    """Return the sight with tiles `factor` times as wide; the same place stays under `point` of the view."""
    width = min(max(round(grid.width * factor), 8 * SMALLEST_TILE), LARGEST)
    larger = _grid(grid.counts, grid.columns, width, shape, grid.gap, words, grid.head)
    x = _carried(sight.x + point[0], grid.width + grid.gap, larger.width + grid.gap)
    y = _carried(sight.y + point[1], grid.height + grid.gap, larger.height + grid.gap)
    return dataclasses.replace(
        sight, columns=grid.columns, tile=width, x=round(x - point[0]), y=round(y - point[1])
    )


def _grid(
    counts: tuple[int, ...], columns: int, width: int, shape: float, gap: int, words: int, head: int
) -> Lines:
    height = max(math.floor(width * shape + 1e-6), 1) + words
    return Lines(sum(counts), columns, width, height, gap, counts, head)


def _fitted(
    counts: tuple[int, ...],
    columns: int,
    shape: float,
    room: tuple[int, int],
    gap: int,
    words: int,
    head: int,
) -> Lines:
    rows = sum(math.ceil(count / columns) for count in counts)
    by_width = (room[0] - gap * (columns - 1)) / columns
    by_height = ((room[1] - head * len(counts) - gap * rows) / rows - words) / shape
    width = max(math.floor(min(by_width, by_height)), SMALLEST_TILE)
    return _grid(counts, columns, width, shape, gap, words, head)


def _filling(fitted: Lines, shape: float, room: tuple[int, int], words: int) -> Lines:
    width = max((room[0] - fitted.gap * (fitted.columns - 1)) // fitted.columns, SMALLEST_TILE)
    return _grid(fitted.counts, fitted.columns, width, shape, fitted.gap, words, fitted.head)


def _scrolled(fitted: Lines, shape: float, room: tuple[int, int], words: int) -> Lines:
    """Return tiles just large enough to tell something, where not all of them are in sight."""
    width = min(LEAST * words, room[0])
    columns = min(max((room[0] + fitted.gap) // (width + fitted.gap), 1), max(fitted.counts))
    width = max(width, (room[0] - fitted.gap * (columns - 1)) // columns if columns > 1 else width)
    return _grid(fitted.counts, columns, width, shape, fitted.gap, words, fitted.head)


def _carried(at: float, before: int, after: int) -> float:
    return at / before * after
