"""What the cells of one tensor see of the picture, and the rectangle of one cell."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from hookviewer.receptive.axes import Axis, picture_axis

COMPUTED, MEASURED = "computed", "gradient"
"""How a field was found: from kernels, strides, dilation and padding, or as the support of a gradient."""


class Box(NamedTuple):
    """A rectangle of the picture in whole pixels; `bottom` and `right` lie just outside."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.bottom - self.top, self.right - self.left


@dataclasses.dataclass(frozen=True, eq=False)
class Field:
    """What each cell of a map sees.

    `everywhere` says that something of every place comes in, too (a mean over the map that scales it, a
    normalisation over the map): the rectangle is what a cell sees besides. `places` are the axes of the
    tensor that are rows and columns; `folded` are the sizes that were folded into its first axis.
    """

    rows: Axis
    columns: Axis
    everywhere: bool = False
    places: tuple[int, int] = (-2, -1)
    folded: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns of cells there are."""
        return self.rows.cells, self.columns.cells

    def box(self, cell: tuple[int, int]) -> Box | None:
        """Return what a cell sees of the picture, cut off at its borders; None where it sees nothing."""
        rows, columns = self.rows, self.columns
        top, bottom = int(rows.first[cell[0]]), int(rows.last[cell[0]]) + 1
        left, right = int(columns.first[cell[1]]), int(columns.last[cell[1]]) + 1
        return Box(top, left, bottom, right) if bottom > top and right > left else None

    def middle(self, cell: tuple[int, int]) -> tuple[float, float]:
        """Return the row and column in the middle of what a cell sees; it may lie outside of the picture."""
        return self.rows.middle(cell[0]), self.columns.middle(cell[1])


def picture_field(height: int, width: int, axes: int) -> Field:
    """Return the field of the picture itself, a tensor of so many axes."""
    return Field(picture_axis(height), picture_axis(width), places=(axes - 2, axes - 1))
