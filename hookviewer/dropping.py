"""Which records to give up when many runs are kept: those that nobody has looked at for longest."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

from hookviewer.kinds import Key
from hookviewer.recording import Recording

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
    raise NotImplementedError


def dropped(recording: Recording, keys: Collection[Key], why: str = AGAIN) -> Recording:
    """Return the recording without the values of `keys`: shapes and statistics stay, `missing` is `why`."""
    raise NotImplementedError
