"""A and B in each other's place."""

from __future__ import annotations

import dataclasses

from hookviewer.gui.cams import Cams
from hookviewer.gui.columns import WallState


def blinked(wall: WallState, strips: Cams | None) -> tuple[WallState, Cams | None]:
    """Return the columns, and the strips beside them, with the first two in each other's place."""
    if len(wall.columns) < 2 or wall.columns[1].number is None:
        return wall, strips
    first, second, *others = wall.columns
    wall = dataclasses.replace(wall, columns=(second, first, *others))
    if strips is None:
        return wall, None
    one, other, *rest = strips.strips
    return wall, dataclasses.replace(strips, strips=(other, one, *rest))
