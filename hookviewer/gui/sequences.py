"""Sequences of unequal lengths: packed ones laid out in rows again, padded ones with their lengths. Pure."""

from __future__ import annotations

import dataclasses

import numpy as np
import torch

from hookviewer.arrays import Hints
from hookviewer.gui.remembered import remembered
from hookviewer.kinds import Kind
from hookviewer.recording import Record, Recording

_DATA, _SIZES, _UNSORTED = ".data", ".batch_sizes", ".unsorted_indices"
_NESTED = "Nested tensor, padded"


@dataclasses.dataclass(frozen=True, eq=False)
class PaddedRecord(Record):
    """Sequences [T, N, …] of a packed one, padded with empty cells; `lengths` says where each one ends."""

    lengths: tuple[int, ...] = ()


def padded(recording: Recording, record: Record) -> Record:
    """Return a record whose sequences stand in rows where it is the data of a packed one, else itself."""
    if not record.key.leaf.endswith(_DATA) or record.kept is None:
        return record
    key = record.key._replace(kind=_side(record.key.kind))
    stem = key.leaf.removesuffix(_DATA)
    sizes = recording.get(key._replace(leaf=stem + _SIZES))
    if sizes is None or sizes.kept is None or not sizes.kept.numel():
        return record
    unsorted = recording.get(key._replace(leaf=stem + _UNSORTED))
    return _laid_out(record, sizes, unsorted)


def lengths(record: Record) -> tuple[int, ...]:
    """Return how long each padded sequence of a record is; nothing where none is padded."""
    if isinstance(record, PaddedRecord):
        return record.lengths
    return _lengths_of_nested(record) if _is_nested(record) and not record.parts else ()


def hinted(record: Record, hints: Hints) -> Hints:
    """Return the hints for a record: time is first in a packed one, and behind the sample in a nested one."""
    if isinstance(record, PaddedRecord):
        return dataclasses.replace(hints, module="RNN", details="", leaf="")
    if _is_nested(record):
        return dataclasses.replace(hints, module="RNN", details="batch_first=True", leaf="")
    return hints


def _side(kind: Kind) -> Kind:
    """Return the kind whose leaves have the integers: their gradients do not exist."""
    return {
        Kind.GRAD_OUTPUT: Kind.OUTPUT,
        Kind.GRAD_INPUT: Kind.INPUT,
        Kind.GRAD_INPUT_TOTAL: Kind.INPUT,
    }.get(kind, kind)


@remembered(4)
def _laid_out(record: Record, sizes: Record, unsorted: Record | None) -> Record:
    """Return [time, sample, …]: each step of the data holds those that are that long, the longest first."""
    assert record.kept is not None
    counts = sizes.tensor().tolist()
    empty = torch.nan if record.kept.is_floating_point() or record.kept.is_complex() else 0
    laid = record.kept.new_full((len(counts), counts[0], *record.kept.shape[1:]), empty)
    start = 0
    for step, count in enumerate(counts):
        laid[step, :count] = record.kept[start : start + count]
        start += count
    long = [sum(count > place for count in counts) for place in range(counts[0])]
    if unsorted is not None and unsorted.kept is not None:
        order = unsorted.tensor().tolist()
        laid, long = laid[:, order].contiguous(), [long[place] for place in order]
    note = "Packed sequence, laid out as time × sample and padded with empty cells."
    return PaddedRecord(
        record.key,
        tuple(laid.shape),
        record.dtype,
        record.device,
        (*record.notes, note),
        record.overwritten_by,
        kept=laid,
        lengths=tuple(long),
    )


def _is_nested(record: Record) -> bool:
    return record.kept is not None and any(note.startswith(_NESTED) for note in record.notes)


@remembered(1)
def _lengths_of_nested(record: Record) -> tuple[int, ...]:
    values = record.array()
    if values.ndim < 3 or values.dtype.kind != "f":
        return ()
    there = ~np.isnan(values).reshape(*values.shape[:2], -1).all(axis=2)
    ends = values.shape[1] - np.argmax(there[:, ::-1], axis=1)
    return tuple(np.where(there.any(axis=1), ends, 0).tolist())
