"""What the read-out says about a cell: its place, its value in every column, and its place in the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookviewer.gui import cam_choice, cams, cell_words, linking, method_words, numbers
from hookviewer.gui.attention_records import is_attention
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.field_lane import FieldLane, Seen
from hookviewer.gui.field_words import field_words
from hookviewer.gui.present import present_wall
from hookviewer.gui.state import InputItem, Shown

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

GAP = "   "


def read_out(session: Session) -> tuple[str, ...]:
    """Return the read-out of the cell under the pointer, else of the selected one; longest version first."""
    selection, spot = session.selection, session.pointed
    channel, cell = (selection.channel, selection.cell) if spot is None else (spot.channel, spot.cell)
    there = selection if spot is None else cams.at(selection, spot.path, spot.cam)
    wall = present_wall(session, there)
    number = selection.input if spot is None else spot.input or selection.input
    seen = seen_at(session, wall, channel, cell, number)
    return reading(wall, channel, cell, session.ticked_inputs, seen, number, session.fields)


def seen_at(
    session: Session, wall: WallState, channel: int, cell: tuple[int, int] | None, number: int = 0
) -> Seen | None:
    """Return what a cell of the input `number` sees of the picture, where that is known."""
    column = next(iter(_alike(wall, channel, cell, number)), None)
    if column is None or column.record is None or column.maps is None or cell is None:
        return None
    item = next((one for one in session.items if one.number == column.number), None)
    if item is None or column.maps.layout != "maps":
        return None
    sizes = column.maps.values.shape[1], column.maps.values.shape[2]
    return session.fields.seen(item, column.record, sizes, cell, session.look.sample)


def reading(
    wall: WallState,
    channel: int,
    cell: tuple[int, int] | None,
    items: Sequence[InputItem],
    seen: Seen | None = None,
    number: int = 0,
    fields: FieldLane | None = None,
) -> tuple[str, ...]:
    """Return the read-out from its longest to its shortest version; nothing where there is no such cell.

    The cell is one of the input `number`; of columns with maps of another size it is the one at the same
    place, which is told.
    """
    alike = _alike(wall, channel, cell, number)
    if cell is None or not alike:
        return ()
    home = linking.home_of(wall, number)
    cells = [cell if one in alike else linking.cell_in(one, home, cell, fields) for one in wall.columns]
    pairs = list(zip(wall.columns, cells, strict=True))
    shown = [(column, there) for column, there in pairs if _holds(column, channel, there)]
    where = _where(wall, alike[0], channel, cell)
    if len(shown) == 1:
        values = f"= {value(shown[0][0], channel, cell)}"
    else:
        values = GAP.join(
            f"{name_of(column)} {_elsewhere(there, cell)}{value(column, channel, there)}"
            for column, there in shown
        )
    short = f"{where}  {values}" if where else values
    position = input_position(alike[0], cell, items, seen)
    if not position:
        return (short,)
    longer = f"{short}{GAP}{position}"
    return (longer, short) if seen is None else (f"{longer}{GAP}{field_words(seen)}", longer, short)


def _alike(wall: WallState, channel: int, cell: tuple[int, int] | None, number: int) -> list[Column]:
    """Return the columns that have this very cell: those whose maps are as large as the input's."""
    home = linking.home_of(wall, number)
    held = [column for column in wall.columns if _holds(column, channel, cell)]
    if home is None or not linking.spatial(home):
        return held
    sizes = linking.sizes_of(home)
    return [one for one in held if not linking.spatial(one) or linking.sizes_of(one) == sizes]


def _elsewhere(there: tuple[int, int], cell: tuple[int, int]) -> str:
    return "" if there == cell else f"({there[0]}, {there[1]}) "


def _map_name(path: str, column: Column) -> str:
    """Return what a map of importance is of: its layer, and its method where that is not Grad-CAM."""
    leaf = column.record.key.leaf if column.record is not None else ""
    if leaf == "grad_cam" or not cam_choice.is_cam(leaf):
        return path
    title = method_words.title_of(leaf)
    return title if column.record is not None and not column.record.key.path else f"{path}  {title}"


def _where(wall: WallState, column: Column, channel: int, cell: tuple[int, int]) -> str:
    """Return the place of a cell in the words of its axes."""
    assert column.maps is not None
    if wall.shown is Shown.GRAD_CAM:
        return f"{_map_name(wall.path, column)}  {cell_words.place_words(column.maps, cell)}"
    if column.record is not None and is_attention(column.record.key):
        return f"head {channel}  query {cell[0]}  key {cell[1]}"
    return cell_words.cell_words(column.maps, channel, cell)


def name_of(column: Column) -> str:
    """Return what a column is called in the read-out: its letter, or `A − B`."""
    return column.title if column.number is None else column.letter or column.title


def value(column: Column, channel: int, cell: tuple[int, int]) -> str:
    """Return the value of a cell as it is written."""
    maps = column.maps
    assert maps is not None
    if maps.colours is not None:
        light = maps.colours[channel, cell[0], cell[1]]
        return "  ".join(
            f"{name} {numbers.number(float(one))}" for name, one in zip("rgb", light, strict=True)
        )
    return cell_words.value_words(maps.values[channel, cell[0], cell[1]], whole=maps.whole)


def input_position(
    column: Column, cell: tuple[int, int], items: Sequence[InputItem], seen: Seen | None = None
) -> str:
    """Return `input (row, column)`, the middle of what a cell sees, in pixels of the input's picture.

    Where that is not known it is `input ≈ (…)`, the middle of the cell on a picture as large as the map;
    nothing without a picture or rows and columns of cells.
    """
    item = next((one for one in items if one.number == column.number), None)
    if item is None or item.input.image is None or column.maps is None:
        return ""
    if not linking.spatial(column):
        return ""  # rows and columns are tokens, units or weights
    if seen is not None:
        row, place = seen.middle_in(item.input.image.height, item.input.image.width)
        return f"input ({row}, {place})"
    height, width = column.maps.values.shape[1:]
    if height < 2 or width < 2:
        return ""
    row = int((cell[0] + 0.5) * item.input.image.height / height)
    place = int((cell[1] + 0.5) * item.input.image.width / width)
    return f"input ≈ ({row}, {place})"


def _holds(column: Column, channel: int, cell: tuple[int, int] | None) -> bool:
    if column.maps is None or cell is None:
        return False
    count, height, width = column.maps.values.shape
    return bool(0 <= channel < count and 0 <= cell[0] < height and 0 <= cell[1] < width)
