"""Which records to give up when many runs are kept: those that nobody has looked at for longest."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

from hookviewer.kinds import Key
from hookviewer.recording import Record, Recording, statistics

Name = TypeVar("Name", bound=Hashable)

AGAIN = "Not kept: the records of other runs took its room. It is recorded again when it is looked at."
"""Why a record that was dropped has no values."""


def to_drop(
    sizes: Mapping[Name, int],
    last_looked: Mapping[Name, float],
    budget: int,
    *,
    in_use: Collection[Name] = (),
) -> tuple[Name, ...]:
    """Return what to drop so that the rest fits into `budget` bytes, the least recently looked at first.

    `sizes` are bytes by name (for example (run, key)), `last_looked` the time of the last look: what has none
    goes first, in the order of `sizes`. Those `in_use` stay, even where they alone are too much.
    """
    excess = sum(sizes.values()) - budget
    kept = frozenset(in_use)
    free = [name for name, size in sizes.items() if size > 0 and name not in kept]
    chosen: list[Name] = []
    for name in sorted(free, key=lambda name: last_looked.get(name, -math.inf)):
        if excess <= 0:
            break
        chosen.append(name)
        excess -= sizes[name]
    return tuple(chosen)


def dropped(recording: Recording, keys: Collection[Key], why: str = AGAIN) -> Recording:
    """Return the recording without the values of `keys`: shapes and statistics stay, `missing` is `why`.

    A run that records them anew brings them back with `recording.merged(newer)`.
    """
    gone = frozenset(keys)
    records = {key: _emptied(one, why) if key in gone else one for key, one in recording.records.items()}
    return dataclasses.replace(recording, records=records)


def _emptied(record: Record, why: str) -> Record:
    if record.kept is None:
        return record
    return dataclasses.replace(record, kept=None, before_edit=None, missing=why, summary=statistics(record))
