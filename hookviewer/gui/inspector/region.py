"""The statistics of a rectangle of a map, for every input that is compared. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from hookviewer import arrays
from hookviewer.gui.cell_words import value_words
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.inspector.focus import Focus
from hookviewer.gui.inspector.over_map import Region

MOST_COMPARED = 3
"""Columns of numbers that have room beside each other."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Region", text)


def region_in(region: Region | None, sizes: tuple[int, int]) -> Region | None:
    """Return the part of a region that lies on a map of these sizes; None where there is none."""
    if region is None:
        return None
    top, left = max(region[0], 0), max(region[1], 0)
    bottom, right = min(region[2], sizes[0]), min(region[3], sizes[1])
    return (top, left, bottom, right) if top < bottom and left < right else None


def region_words(region: Region) -> str:
    """Return how large a region is and where."""
    top, left, bottom, right = region
    return _tr("{} × {} cells, y {} to {}, x {} to {}").format(
        bottom - top, right - left, top, bottom - 1, left, right - 1
    )


def compared(wall: WallState, focus: Focus) -> list[Column]:
    """Return the focus's column and the others with a map of the same sizes, in the order of the wall."""
    sizes = focus.maps.values.shape
    found = [
        one
        for one in wall.columns
        if one.maps is not None and one.maps.values.shape == sizes and one.maps.layout == "maps"
    ]
    others = [one for one in found if one is not focus.column][: MOST_COMPARED - 1]
    return [one for one in found if one is focus.column or one in others]


def region_table(
    columns: Sequence[Column], channel: int, region: Region
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the heads of a table, and its rows: what is told, then a number for every column."""
    top, left, bottom, right = region
    found = [
        arrays.statistics(one.maps.values[channel, top:bottom, left:right])
        for one in columns
        if one.maps is not None
    ]
    names, whole = (
        ("mean", "std", "min", "max"),
        all(one.maps.whole for one in columns if one.maps is not None),
    )
    words = (_tr("mean"), _tr("std"), _tr("min"), _tr("max"))
    rows = [
        (
            word,
            *(
                value_words(float(getattr(one, name)), whole=whole and name in ("min", "max"))
                for one in found
            ),
        )
        for name, word in zip(names, words, strict=True)
    ]
    rows.append((_tr("zeros"), *(f"{100 * one.zero_share:.1f} %" for one in found)))
    rows.append((_tr("count"), *(str(one.count) for one in found)))
    rows.append((_tr("NaN, inf"), *(str(one.nan + one.pos_inf + one.neg_inf) for one in found)))
    heads = tuple(one.letter if one.number is not None and one.letter else one.title for one in columns)
    return heads, rows
