"""What of the selection goes along to another module: the channel, and the cell at the same place. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from hookviewer.errors import HookViewerError
from hookviewer.gui import shown_maps
from hookviewer.gui.cams import at
from hookviewer.gui.state import Look, Run, Selection
from hookviewer.recording import Record

Sizes = tuple[int, int, int]


class Place(TypedDict):
    """A channel and a cell, as a selection holds them."""

    channel: int
    cell: tuple[int, int] | None


def carried(selection: Selection, path: str, runs: Mapping[int, Run], look: Look) -> Place:
    """Return the channel and the cell to select in the module `path`.

    The channel stays where that module has it, else it is the first one. A chosen cell goes to the same
    place of the map, relative to its height and width. Where nothing is known of the maps, neither stays.
    """
    here = sizes_of(selection, runs, look)
    there = sizes_of(at(selection, path), runs, look)
    if there is None:
        return {"channel": 0, "cell": None}
    channel = selection.channel if selection.channel < there[0] else 0
    if selection.cell is None or here is None:
        return {"channel": channel, "cell": None}
    row, column = (_moved(*pair) for pair in zip(selection.cell, here[1:], there[1:], strict=True))
    return {"channel": channel, "cell": (row, column)}


def sizes_of(selection: Selection, runs: Mapping[int, Run], look: Look) -> Sizes | None:
    """Return channels, height and width of the selected maps; None where there are no maps, or none known."""
    ordered = sorted(runs.items(), key=lambda pair: pair[0] != selection.input)
    found = (_sizes(run, selection, look) for _, run in ordered)
    return next((sizes for sizes in found if sizes is not None), None)


def _sizes(run: Run, selection: Selection, look: Look) -> Sizes | None:
    try:
        record = shown_maps.shown_record(run.recording, selection)
        if record.kept is None:
            return _told(record)
        maps = shown_maps.maps_in(record, selection, look)
    except HookViewerError:
        return None
    count, height, width = maps.values.shape
    return (count, height, width) if maps.layout in ("maps", "lines") and maps.values.size else None


def _told(record: Record) -> Sizes | None:
    """Return the sizes of a record whose values were not kept, where its shape leaves no doubt."""
    return (record.shape[1], record.shape[2], record.shape[3]) if len(record.shape) == 4 else None


def _moved(place: int, before: int, after: int) -> int:
    return min(int((place + 0.5) * after / before), after - 1)
