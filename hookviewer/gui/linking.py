"""The same place in maps of unlike sizes: cells of two columns are linked by what they see of the input.

A cell belongs to the column of the selected input, or of the one that is pointed at. Maps of one size share
their cells. For others the place of a cell in the picture is the middle of what it sees, where that is known
of both, else its middle in the map, each as a share of height and width.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hookviewer.gui.attention_records import is_attention
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.present import present_wall
from hookviewer.gui.state import Pointed, Selection

if TYPE_CHECKING:
    from hookviewer.gui.field_lane import FieldLane
    from hookviewer.gui.session import Session

Array = npt.NDArray[Any]
Cell = tuple[int, int]


def spatial(column: Column) -> bool:
    """Return whether the cells of a column's maps are places of its input."""
    maps = column.maps
    if maps is None or not maps.in_place:
        return False
    return column.record is None or not is_attention(column.record.key)


def sizes_of(column: Column) -> tuple[int, int]:
    """Return height and width of a column's maps."""
    assert column.maps is not None
    height, width = column.maps.values.shape[1:3]
    return int(height), int(width)


def home_of(wall: WallState, number: int) -> Column | None:
    """Return the column that cells are of: the input's with this number, else the first one with maps."""
    filled = wall.filled
    return next((one for one in filled if one.number == number), filled[0] if filled else None)


def unlike(wall: WallState) -> bool:
    """Return whether columns whose cells are places have maps of several sizes."""
    return len({sizes_of(one) for one in wall.filled if spatial(one)}) > 1


def cell_in(column: Column, home: Column | None, cell: Cell, fields: FieldLane | None = None) -> Cell:
    """Return the cell of a column's maps at the place of a cell of the column `home`."""
    if home is None or not spatial(column) or not spatial(home) or sizes_of(column) == sizes_of(home):
        return cell
    middles = [_middles(one, fields) for one in (home, column)]
    if middles[0] is not None and middles[1] is not None:
        return _nearest(cell, middles[0], middles[1])
    return _proportional(cell, sizes_of(home), sizes_of(column))


def pointed_in(
    column: Column, wall: WallState, pointed: Pointed | None, number: int, fields: FieldLane | None = None
) -> Pointed | None:
    """Return what to mark in a column for a cell of the input `number`, or of that which it names itself."""
    if pointed is None or column.maps is None:
        return pointed
    cell = cell_in(column, home_of(wall, pointed.input or number), pointed.cell, fields)
    return dataclasses.replace(pointed, cell=cell)


def tagged(spot: Pointed | None, column: Column, wall: WallState, number: int) -> Pointed | None:
    """Return a cell of a column so that it says whose it is, where the input `number` has other sizes."""
    home = home_of(wall, number)
    if spot is None or home is None or not spatial(column) or sizes_of(column) == sizes_of(home):
        return spot
    return dataclasses.replace(spot, input=_number(column, wall))


def untagged(
    spot: Pointed, column: Column, wall: WallState, number: int, fields: FieldLane | None = None
) -> Pointed:
    """Return a cell of a column that belongs to no input, the difference, as one of the input `number`."""
    home = home_of(wall, number)
    own = home_of(wall, _number(column, wall))
    return spot if home is None else dataclasses.replace(spot, cell=cell_in(home, own, spot.cell, fields))


def want_fields(fields: FieldLane | None, wall: WallState) -> None:
    """Find what cells see, where maps of unlike sizes are linked by that; one input after the other."""
    if fields is None or not unlike(wall):
        return
    for column in wall.filled:
        if fields.idle and column.item is not None:
            fields.want_all(column.item)


def along(session: Session, after: Selection) -> Selection:
    """Return a selection that the session is about to take, its cell at the same place of the other input."""
    before = session.selection
    if after.cell is None or after.input == before.input:
        return after
    wall = present_wall(session, dataclasses.replace(after, input=before.input))
    there = next((one for one in wall.filled if one.number == after.input), None)
    if there is None:
        return after
    cell = cell_in(there, home_of(wall, before.input), after.cell, session.fields)
    return dataclasses.replace(after, cell=cell)


def _number(column: Column, wall: WallState) -> int:
    if column.number is not None:
        return column.number
    return wall.columns[wall.pair.minuend].number or 0


def _middles(column: Column, fields: FieldLane | None) -> tuple[Array, Array] | None:
    if fields is None or column.item is None or column.record is None:
        return None
    return fields.middles(column.item, column.record, sizes_of(column))


def _nearest(cell: Cell, here: tuple[Array, Array], there: tuple[Array, Array]) -> Cell:
    row, column = (
        int(np.argmin(np.abs(to - from_[place]).round(9)))
        for place, from_, to in zip(cell, here, there, strict=True)
    )
    return row, column


def _proportional(cell: Cell, here: tuple[int, int], there: tuple[int, int]) -> Cell:
    row, column = (
        min(int((place + 0.5) * after / before), after - 1)
        for place, before, after in zip(cell, here, there, strict=True)
    )
    return row, column
