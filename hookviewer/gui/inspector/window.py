"""Which cells of a map are shown when it is enlarged: a rectangle of whole cells. Pure."""

from __future__ import annotations

import dataclasses

FEWEST = 3
"""Cells along a side, at the least."""

STEP = 1.25
"""How much a notch of the wheel enlarges."""

Sizes = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Window:
    """So many rows and columns of cells, from `top` and `left` on."""

    top: int
    left: int
    rows: int
    columns: int

    @property
    def shape(self) -> Sizes:
        """Rows and columns."""
        return self.rows, self.columns

    def cell(self, down: float, across: float) -> Sizes:
        """Return the cell of the map at a place of the window, given as shares of its height and width."""
        row, column = int(down * self.rows), int(across * self.columns)
        return self.top + min(max(row, 0), self.rows - 1), self.left + min(max(column, 0), self.columns - 1)

    def holds(self, cell: Sizes) -> bool:
        """Return whether a cell is to be seen."""
        row, column = cell[0] - self.top, cell[1] - self.left
        return 0 <= row < self.rows and 0 <= column < self.columns


def whole(sizes: Sizes) -> Window:
    """Return the window that shows all of a map."""
    return Window(0, 0, *sizes)


def zoomed(window: Window, sizes: Sizes, down: float, across: float, factor: float) -> Window:
    """Return the window enlarged by `factor`; the cell at this place (shares of its sides) stays there.

    Never more than the map, nor fewer cells than `FEWEST` along its shorter side; where rounding would leave
    the window as it is, it changes by one cell.
    """
    scale = sizes[0] / window.rows * factor
    most = max(min(sizes) / FEWEST, 1.0)
    scale = min(max(scale, 1.0), most)
    rows, columns = (min(max(round(size / scale), 1), size) for size in sizes)
    if (rows, columns) == window.shape and 1.0 < scale < most:
        step = -1 if factor > 1 else 1
        rows, columns = (
            min(max(now + step, min(FEWEST, size)), size)
            for now, size in zip(window.shape, sizes, strict=True)
        )
    row, column = window.cell(down, across)
    return _placed(row - int(down * rows), column - int(across * columns), rows, columns, sizes)


def moved(window: Window, sizes: Sizes, rows: int, columns: int) -> Window:
    """Return the window moved by whole cells, as far as the map goes."""
    return _placed(window.top + rows, window.left + columns, window.rows, window.columns, sizes)


def showing(window: Window, sizes: Sizes, cell: Sizes) -> Window:
    """Return the window moved as little as possible so that a cell is to be seen."""
    top = min(max(window.top, cell[0] - window.rows + 1), cell[0])
    left = min(max(window.left, cell[1] - window.columns + 1), cell[1])
    return _placed(top, left, window.rows, window.columns, sizes)


def _placed(top: int, left: int, rows: int, columns: int, sizes: Sizes) -> Window:
    return Window(min(max(top, 0), sizes[0] - rows), min(max(left, 0), sizes[1] - columns), rows, columns)
