"""A cell or a channel that is seen on the wall as a target. Pure."""

from __future__ import annotations

import dataclasses

import numpy as np
import torch

from hookviewer.arrays import MAXIMUM, Maps
from hookviewer.errors import HookViewerError
from hookviewer.gui.shown_maps import maps_in, shown_record
from hookviewer.gui.state import Look, Pointed, Selection, Shown
from hookviewer.recording import Record, Recording
from hookviewer.target_choice import TargetChoice

SEEN = (Shown.OUTPUT, Shown.GRADIENT, Shown.PRODUCT)
"""What is shown cell by cell as the module has returned it."""


def cell_target(recording: Recording, selection: Selection, look: Look, spot: Pointed) -> TargetChoice | None:
    """Return the unit under a cell of the wall; None where a cell is no single number of an output."""
    record, maps = _coordinates(recording, selection, look)
    if record is None:
        return None
    row, column = spot.cell
    return _unit(record, tuple(int(one.values[spot.channel, row, column]) for one in maps))


def channel_target(
    recording: Recording, selection: Selection, look: Look, channel: int
) -> TargetChoice | None:
    """Return the whole channel as a target, over all samples; None where there is none."""
    record, maps = _coordinates(recording, selection, look)
    if record is None:
        return None
    seen = [np.unique(one.values[channel]) for one in maps]
    sample = _sample_axis(maps[0], len(maps))
    place = tuple(
        int(values[0]) if len(values) == 1 and axis != sample and record.shape[axis] > 1 else None
        for axis, values in enumerate(seen)
    )
    of_one_axis = len(place) > 1 and place[1] is not None and place.count(None) == len(place) - 1
    return _unit(record, place[1:2] if of_one_axis else place)


def _unit(record: Record, place: tuple[int | None, ...]) -> TargetChoice:
    key = record.key
    return TargetChoice("unit", leaf=key.leaf or None, path=key.path, call=key.call, place=place)


def _sample_axis(maps: Maps, axes: int) -> int | None:
    roles = maps.reading.split(" × ")
    return roles.index("sample") if "sample" in roles and len(roles) == axes else None


def _coordinates(
    recording: Recording, selection: Selection, look: Look
) -> tuple[Record | None, tuple[Maps, ...]]:
    """Return an output and, for each of its axes, maps of where on that axis every cell of the wall lies.

    They are made in the very way in which the wall reads the record, so that no way of reading is left out.
    """
    if selection.shown not in SEEN:
        return None, ()
    chosen = dataclasses.replace(selection, shown=Shown.OUTPUT)
    try:
        record = shown_record(recording, chosen)
        found = tuple(maps_in(_along(record, axis), chosen, look) for axis in range(len(record.shape)))
    except HookViewerError:  # the wall says why there is nothing
        return None, ()
    at_maximum = any(slider.place == MAXIMUM for one in found for slider in one.sliders)
    same = record.key in recording and recording[record.key].shape == record.shape
    return (record, found) if found and same and not at_maximum else (None, ())


def _along(record: Record, axis: int) -> Record:
    """Return a record of the same shape that holds, everywhere, the place on one axis."""
    sizes = [-1 if one == axis else 1 for one in range(len(record.shape))]
    places = torch.arange(record.shape[axis], dtype=torch.float32).reshape(sizes).expand(record.shape)
    return Record(record.key, record.shape, torch.float32, record.device, kept=places)
