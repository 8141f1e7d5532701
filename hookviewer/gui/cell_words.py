"""A cell in words: which tile it is in, where in it, and its value. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from hookviewer.arrays import Maps
from hookviewer.gui.numbers import number

NOOP = QT_TRANSLATE_NOOP
NAMES = {
    "row": "y",
    "column": "x",
    "time": "t",
    "token": str(NOOP("Cell", "token")),
    "feature": str(NOOP("Cell", "feature")),
    "query": str(NOOP("Cell", "query")),
    "key": str(NOOP("Cell", "key")),
    "output": str(NOOP("Cell", "output")),
    "input": str(NOOP("Cell", "input")),
    "layer": str(NOOP("Cell", "layer")),
    "unit": str(NOOP("Cell", "unit")),
    "head": str(NOOP("Cell", "head")),
}
"""What axes are called beside a place on them."""
EXACT = 1 << 24
"""Integers below it are exact in float32."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Cell", text)


def axis_names(maps: Maps) -> tuple[str, str]:
    """Return what the rows and the columns of a map are called: `y` and `x`, `token` and `feature`, …"""
    rows, columns = maps.axes_along
    return _tr(NAMES.get(rows, rows)), _tr(NAMES.get(columns, columns))


def tile_words(maps: Maps, channel: int) -> str:
    """Return the name of a tile: `c 37`, `head 3`, `o3 i1`; nothing where there is only one of its kind."""
    if maps.layout not in ("maps", "lines"):
        return ""
    if channel < len(maps.titles):
        return maps.titles[channel]
    if maps.tile_role == "head":
        return f"{_tr(NAMES['head'])} {channel}"
    return f"c {channel}" if maps.tile_role else ""


def place_words(maps: Maps, cell: Sequence[int]) -> str:
    """Return where a cell is in its tile, in the words of its axes; nothing for a lone number."""
    row, place = cell
    if maps.layout == "number":
        return ""
    if maps.layout == "table":
        return _tr("row {}  column {}").format(row, place)
    if maps.layout == "bars":
        return f"i {place}"
    if maps.layout == "lines":
        return f"t {place}"
    first, second = axis_names(maps)
    return f"{first} {row}  {second} {place}" if second else f"{first} {row}"


def cell_words(maps: Maps, channel: int, cell: Sequence[int]) -> str:
    """Return the tile of a cell and where in it the cell is."""
    return "  ".join(filter(None, (tile_words(maps, channel), place_words(maps, cell))))


def value_words(value: object, *, whole: bool) -> str:
    """Return a value of maps as it is written: integers in full, as far as they are exact in float32."""
    plain = value.item() if isinstance(value, np.generic) else value
    if whole and isinstance(plain, float) and abs(plain) < EXACT:
        plain = int(plain)
    return written(plain)


def written(value: object) -> str:
    """Return any number in words: bools and integers in full, four digits of others."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool | int):
        return str(plain).replace("-", "−")
    if isinstance(plain, complex):
        sign = "−" if plain.imag < 0 else "+"
        return f"{number(plain.real)} {sign} {number(abs(plain.imag))}i"
    return number(plain) if isinstance(plain, float) else str(plain)
