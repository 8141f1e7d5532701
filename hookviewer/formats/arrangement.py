"""How many maps stand side by side in a figure, and how large their cells are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hookviewer import render
from hookviewer.formats.entry import Figure

PAGE_WIDTH = 408
"""Points between the margins of a page; a wall with more cells makes the page wider."""
_LARGEST_CELL = 32
_ASPECT = 1.5


def arrangement(shape: Sequence[int], figure: Figure, across: int = 0) -> tuple[int, int]:
    """Return columns and the enlargement of a cell for maps [C, H, W]: whole numbers, so a cell stays a cell.

    Of the numbers around the usual one, that whose wall comes nearest to the page's width and to 3 : 2;
    `across` where so many belong in a row.
    """
    count, height, width = shape
    if across:
        return across, _enlargement(across, width, figure.size)
    usual = render.wall_columns(count, height, width, gutter=0, aspect=_ASPECT)
    around = range(max(1, usual * 2 // 3), min(count, usual * 3 // 2 + 1) + 1)
    choices = [(columns, _enlargement(columns, width, figure.size)) for columns in around]
    return min(choices, key=lambda choice: _misfit(shape, choice[0], choice[1], figure.size))


def size_of(shape: Sequence[int], figure: Figure, across: int = 0) -> tuple[int, int]:
    """Return width and height of the wall in pixels."""
    columns, times = arrangement(shape, figure, across)
    return _extent(shape, columns, times, 2 * figure.size)


def _extent(shape: Sequence[int], columns: int, times: int, gutter: int) -> tuple[int, int]:
    count, height, width = shape
    rows = math.ceil(count / columns)
    return columns * (width * times + gutter) - gutter, rows * (height * times + gutter) - gutter


def _enlargement(columns: int, width: int, size: int) -> int:
    wanted = (PAGE_WIDTH + 2) * size / columns - 2 * size
    return min(max(1, round(wanted / width)), _LARGEST_CELL * size)


def _misfit(shape: Sequence[int], columns: int, times: int, size: int) -> float:
    """A narrow wall wastes the page, a wide one only makes it larger."""
    across, down = _extent(shape, columns, times, 2 * size)
    off = math.log(across / (PAGE_WIDTH * size))
    return max(off, -3 * off) + abs(math.log(across / down / _ASPECT))
