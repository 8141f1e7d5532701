"""Which part of a tensor channels and a rectangle of the wall are. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from PySide6.QtCore import QCoreApplication

from hookviewer.arrays import Maps
from hookviewer.errors import HookViewerError
from hookviewer.gui.edit_words import ranges
from hookviewer.gui.shown_maps import maps_in, readings_of
from hookviewer.gui.state import Look, Selection, Shown
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record, Recording

Region = tuple[int, int, int, int]
MAPS = "sample × channel × row × column"
VECTOR = "sample × feature"


def _tr(text: str) -> str:
    return QCoreApplication.translate("Edits", text)


def shapes(recording: Recording, path: str, kind: Kind, call: int | None) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors of a call by their leaves; none where it was not called."""
    calls = recording.calls(path)
    if not (call or 0) < len(calls):
        return {}
    one = calls[call or 0]
    if kind in (Kind.INPUT, Kind.GRAD_INPUT):
        return dict(zip(one.input_leaves, one.input_shapes, strict=False))
    return dict(zip(one.output_leaves, one.output_shapes, strict=False))


def index_of(
    key: Key, shape: tuple[int, ...], look: Look, channels: Sequence[int], region: Region | None
) -> Any:
    """Return the index of an edit for channels and a rectangle of the maps in which the wall shows a tensor.

    Both empty mean all of it: `None`. Raises `HookViewerError` where there are no such places, or where they
    are no block of the tensor.
    """
    if not channels and region is None:
        return None
    if key.kind is Kind.PARAM_GRAD:
        return _row_index(shape, channels)
    record = _blank(key, shape, 0)
    look = dataclasses.replace(look, sample=0)
    reading = look.readings.get(key.path)
    possible = readings_of(record, look)
    reading = reading if reading in possible else possible[0]
    if reading == MAPS:
        _check(shape[1], shape[2:4], channels, region)
        return map_index(channels, region)
    if reading == VECTOR and region is None:
        _check(shape[1], (1, 1), channels, None)
        return list(channels)
    return _any_index(key, shape, look, channels, region, reading)


def _row_index(shape: tuple[int, ...], channels: Sequence[int]) -> list[int]:
    if not shape:
        raise HookViewerError(_tr("This parameter is one number: leave the channels empty."))
    _check(shape[0], (1, 1), channels, None)
    return list(channels)


def map_index(channels: Sequence[int], region: Region | None) -> Any:
    """Return the index of channels and a rectangle in a batch of maps; None for all of it."""
    if not channels and region is None:
        return None
    if region is None:
        return list(channels)
    top, left, bottom, right = region
    chosen = list(channels) if channels else slice(None)
    return (slice(None), chosen, slice(top, bottom), slice(left, right))


def _check(count: int, room: Sequence[int], channels: Sequence[int], region: Region | None) -> None:
    beyond = [one for one in channels if not 0 <= one < count]
    if beyond:
        words = _tr("There is no channel {} here: they go from 0 to {}.")
        raise HookViewerError(words.format(ranges(beyond[:4]), count - 1))
    if region is None:
        return
    top, left, bottom, right = region
    if not (0 <= top < bottom <= room[0] and 0 <= left < right <= room[1]):
        words = _tr("The rectangle does not lie in the maps: they have rows 0 to {} and columns 0 to {}.")
        raise HookViewerError(words.format(room[0] - 1, room[1] - 1))


def _any_index(
    key: Key, shape: tuple[int, ...], look: Look, channels: Sequence[int], region: Region | None, reading: str
) -> Any:
    """Find the places by where every cell of the wall comes from, whatever way the tensor is read."""
    selection = Selection(key.path, Shown.OUTPUT, key.call, key.leaf)
    maps = [maps_in(_blank(key, shape, axis), selection, look) for axis in range(len(shape))]
    values = maps[0].values
    _check(len(values), values.shape[1:3], channels, region)
    roles = reading.split(" × ")
    found = [_places(one, channels, region) for one in maps]
    if region is None:  # a whole channel has all of what slides, not only the slice in sight
        whole = [len(one) == len(np.unique(every.values)) for one, every in zip(found, maps, strict=True)]
        cells = len(channels)
    else:
        whole = [len(roles) == len(shape) and role == "sample" for role in (*roles, *[""] * len(shape))]
        cells = len(channels or values) * _area(region)
    parts = [one for one, every in zip(found, whole, strict=False) if not every]
    if not parts:
        return None
    if math.prod(map(len, parts)) != cells:
        raise HookViewerError(
            _tr("As this tensor is read, that is no block of it: choose whole channels, or all of it.")
        )
    return _joined([None if every else one for one, every in zip(found, whole, strict=False)])


def _area(region: Region) -> int:
    top, left, bottom, right = region
    return (bottom - top) * (right - left)


def _places(maps: Maps, channels: Sequence[int], region: Region | None) -> npt.NDArray[np.intp]:
    values = maps.values[list(channels)] if channels else maps.values
    if region is not None:
        top, left, bottom, right = region
        values = values[:, top:bottom, left:right]
    return np.unique(values).astype(np.intp)


def _joined(axes: Sequence[npt.NDArray[np.intp] | None]) -> Any:
    """Return the index: slices where that is possible, at most one axis may be a list; None is all of one."""
    made = [_place(one) for one in axes]
    if sum(isinstance(one, list) for one in made) > 1:
        raise HookViewerError(_tr("That is no block of the tensor: choose channels that follow each other."))
    last = max(place for place, one in enumerate(axes) if one is not None)
    return tuple(made[: last + 1])


def _place(found: npt.NDArray[np.intp] | None) -> slice | list[int]:
    if found is None:
        return slice(None)
    first, last = int(found[0]), int(found[-1])
    return slice(first, last + 1) if len(found) == last - first + 1 else [int(one) for one in found]


def _blank(key: Key, shape: tuple[int, ...], axis: int) -> Record:
    """Return a record of a shape that holds, everywhere, the place on one axis."""
    if not shape:
        return Record(key, shape, torch.float32, kept=torch.zeros(()))
    sizes = [-1 if one == axis else 1 for one in range(len(shape))]
    places = torch.arange(shape[axis], dtype=torch.float32).reshape(sizes).expand(shape)
    return Record(key, shape, torch.float32, kept=places)
