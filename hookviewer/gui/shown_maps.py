"""What is selected, as a record and as the maps that a look asks for."""

from __future__ import annotations

import dataclasses
from typing import Any

from PySide6.QtCore import QCoreApplication

from hookviewer import arrays
from hookviewer.arrays.roles import MAPS
from hookviewer.errors import HookViewerError
from hookviewer.gui import cam_choice, sequences
from hookviewer.gui.attention_records import READING, is_attention, record_at
from hookviewer.gui.cam_records import cam_record
from hookviewer.gui.hinting import AxisHints
from hookviewer.gui.remembered import remembered
from hookviewer.gui.state import Look, Selection, Shown
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record, Recording


def _tr(text: str) -> str:
    return QCoreApplication.translate("Wall", text)


def shown_record(recording: Recording, selection: Selection, hints: AxisHints | None = None) -> Record:
    """Return the record of what is selected; raise `HookViewerError` with the reason where there is none."""
    path, call, leaf = selection.path, selection.call, selection.leaf
    if selection.shown is Shown.GRAD_CAM:
        return cam_record(recording, path, call, selection.cam or "grad_cam", hints)
    if selection.shown is Shown.ATTENTION:
        return record_at(recording, path, call, leaf)
    found = [_leaf_record(recording, path, kind, call, leaf) for kind in selection.kinds]
    if selection.shown is Shown.PRODUCT:
        return _product(*found)
    if selection.shown is Shown.MAGNITUDE:
        return _magnitude(found[0])
    return found[0]


def _leaf_record(recording: Recording, path: str, kind: Kind, call: int, leaf: str) -> Record:
    leaves = recording.leaves(path, kind, call)
    chosen = leaf if leaf in leaves or not leaves else leaves[0]
    key = Key(path, kind, call, chosen)
    if key not in recording:
        raise HookViewerError(recording.reason(key))
    return sequences.padded(recording, recording[key])


@remembered(4)
def _magnitude(gradient: Record) -> Record:
    kept = gradient.tensor().abs()
    key = gradient.key._replace(kind=Kind.ATTRIBUTION, leaf="|gradient|")
    return dataclasses.replace(gradient, key=key, dtype=kept.dtype, kept=kept, summary=None)


@remembered(4)
def _product(value: Record, gradient: Record) -> Record:
    product = value.tensor() * gradient.tensor()
    key = value.key._replace(kind=Kind.ATTRIBUTION, leaf=f"{value.key.kind} × gradient")
    return Record(
        key,
        tuple(product.shape),
        product.dtype,
        value.device,
        (*value.notes, *gradient.notes),
        kept=product,
        parts=value.parts,
    )


def readings_of(record: Record, look: Look) -> tuple[str, ...]:
    """Return what the axes of a record may mean, the guess first."""
    return arrays.readings(record.shape, _hints(record, look))


def reading_of(record: Record, selection: Selection, look: Look) -> str | None:
    """Return how the axes are to be read: as chosen where that is possible, else None for the guess."""
    chosen = look.readings.get(selection.path)
    possible = selection.shown is not Shown.GRAD_CAM and chosen in readings_of(record, look)
    return chosen if possible else None


def maps_in(record: Record, selection: Selection, look: Look) -> arrays.Maps:
    """Return a record as the maps that a look asks for; raise `HookViewerError` where there are none."""
    if selection.shown is Shown.GRAD_CAM and len(record.shape) == 4:
        maps = maps_of(record, look.sample, MAPS)  # made so, whatever the axes of the layer are
        named = record.key.kind is Kind.ATTRIBUTION  # the gradient beside a map is of the layer itself
        return cam_choice.in_sign(maps, record.key.leaf, look.cam.sign) if named else maps
    if is_attention(record.key) and len(record.shape) == 4:
        return maps_of(record, look.sample, READING)
    reading = reading_of(record, selection, look)
    sliding = set((reading or readings_of(record, look)[0]).split(" × "))
    places = tuple(sorted((role, place) for role, place in look.places.items() if role in sliding))
    part = look.part if record.dtype.is_complex else arrays.PARTS[0]
    return maps_of(record, look.sample, reading, _hints(record, look), places, part)


def _hints(record: Record, look: Look) -> arrays.Hints:
    key = record.key
    hints = look.hints.of(key.path, key.leaf, weight=key.kind in (Kind.PARAM, Kind.PARAM_GRAD))
    return sequences.hinted(record, hints)


@remembered()
def maps_of(
    record: Record,
    sample: int,
    reading: str | None,
    hints: arrays.Hints = arrays.NOTHING,
    places: tuple[tuple[str, int], ...] = (),
    part: str = arrays.PARTS[0],
) -> arrays.Maps:
    """Return a record as channel maps; the same ones every time, since a record never changes.

    Of a batch of one, its only sample. Raises `HookViewerError` where a batch has no such sample.
    """
    asked: dict[str, Any] = {"reading": reading, "hints": hints, "places": dict(places), "part": part}
    asked["lengths"], asked["parts"] = sequences.lengths(record), record.parts
    first = arrays.as_maps(record.array(), **asked)
    if not sample or first.samples == 1:  # a lone sample is shown whatever another input has
        return first
    if sample >= first.samples:
        words = _tr("There is no sample {} here, the batch has {}: choose another one.")
        raise HookViewerError(words.format(sample, first.samples))
    return arrays.as_maps(record.array(), sample=sample, **asked)
