"""What the read-out says about a cell: its place, its value in every column, and its place in the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookviewer.gui import cams, numbers
from hookviewer.gui.columns import Column, WallState, resolve
from hookviewer.gui.state import InputItem, Shown

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

GAP = "   "


def read_out(session: Session) -> tuple[str, ...]:
    """Return the read-out of the cell under the pointer, else of the selected one; longest version first."""
    selection, spot = session.selection, session.pointed
    channel, cell = (selection.channel, selection.cell) if spot is None else (spot.channel, spot.cell)
    there = cams.at(selection, spot.path if spot is not None else None)
    wall = resolve(session.ticked_inputs, session.runs, there, session.look, running=session.running)
    return reading(wall, channel, cell, session.ticked_inputs)


def reading(
    wall: WallState, channel: int, cell: tuple[int, int] | None, items: Sequence[InputItem]
) -> tuple[str, ...]:
    """Return the read-out from its longest to its shortest version; nothing where there is no such cell."""
    shown = [column for column in wall.columns if _holds(column, channel, cell)]
    if cell is None or not shown:
        return ()
    row, place = cell
    first = wall.path if wall.shown is Shown.GRAD_CAM else f"c {channel}"
    where = f"{first}  y {row}  x {place}"
    if len(shown) == 1:
        values = f"= {value(shown[0], channel, cell)}"
    else:
        values = GAP.join(f"{name_of(column)} {value(column, channel, cell)}" for column in shown)
    short = f"{where}  {values}"
    position = input_position(shown[0], cell, items)
    return (f"{short}{GAP}input ≈ {position}", short) if position else (short,)


def name_of(column: Column) -> str:
    """Return what a column is called in the read-out: its letter, or `A − B`."""
    return column.title if column.number is None else column.letter


def value(column: Column, channel: int, cell: tuple[int, int]) -> str:
    """Return the value of a cell as it is written."""
    assert column.maps is not None
    return numbers.number(float(column.maps.values[channel, cell[0], cell[1]]))


def input_position(column: Column, cell: tuple[int, int], items: Sequence[InputItem]) -> str:
    """Return the middle of a cell in pixels of the input's picture, `(row, column)`; empty without one."""
    item = next((one for one in items if one.number == column.number), None)
    if item is None or item.input.image is None or column.maps is None:
        return ""
    height, width = column.maps.values.shape[1:]
    if height < 2 or width < 2:
        return ""
    row = int((cell[0] + 0.5) * item.input.image.height / height)
    place = int((cell[1] + 0.5) * item.input.image.width / width)
    return f"({row}, {place})"


def _holds(column: Column, channel: int, cell: tuple[int, int] | None) -> bool:
    if column.maps is None or cell is None:
        return False
    count, height, width = column.maps.values.shape
    return bool(0 <= channel < count and 0 <= cell[0] < height and 0 <= cell[1] < width)
