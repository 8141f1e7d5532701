"""What the read-out says about a cell: its place, its value in every column, and its place in the input."""

from __future__ import annotations

from collections.abc import Sequence

from hookviewer.gui import numbers
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.state import InputItem

GAP = "   "


def reading(
    wall: WallState, channel: int, cell: tuple[int, int] | None, items: Sequence[InputItem]
) -> tuple[str, ...]:
    """Return the read-out from its longest to its shortest version; nothing where there is no such cell."""
    shown = [column for column in wall.columns if _holds(column, channel, cell)]
    if cell is None or not shown:
        return ()
    row, place = cell
    where = f"c {channel}  y {row}  x {place}"
    if len(shown) == 1:
        values = f"= {value(shown[0], channel, cell)}"
    else:
        values = GAP.join(f"{column.letter} {value(column, channel, cell)}" for column in shown)
    short = f"{where}  {values}"
    position = input_position(shown[0], cell, items)
    return (f"{short}{GAP}input {position}", short) if position else (short,)


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
