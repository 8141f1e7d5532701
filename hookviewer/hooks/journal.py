"""What a run has recorded so far, and why the rest is missing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import torch

from hookviewer.kinds import Key
from hookviewer.recording import Record
from hookviewer.snapshot import Budget, snapshot

OnRecord = Callable[[Record], object]


class Journal:
    """Collects the records of one run in the order in which they are made."""

    def __init__(self, budget: int, on_record: OnRecord | None, notes: tuple[str, ...] = ()) -> None:
        self.budget = Budget(budget)
        self.on_record = on_record
        self.records: dict[Key, Record] = {}
        self.reasons: dict[Key, str] = {}
        self.notes = list(notes)

    def take(
        self,
        key: Key,
        tensor: torch.Tensor,
        *,
        notes: tuple[str, ...] = (),
        before_edit: Record | None = None,
    ) -> None:
        """Copy `tensor` now and keep it as the record of `key`."""
        record = snapshot(key, tensor, self.budget)
        if notes or before_edit is not None:
            record = dataclasses.replace(record, notes=record.notes + notes, before_edit=before_edit)
        self.records[key] = record
        if self.on_record is not None:
            self.on_record(record)

    def revise(self, key: Key, *, overwritten_by: str) -> None:
        """Say of a record what overwrote its tensor later."""
        self.records[key] = dataclasses.replace(self.records[key], overwritten_by=overwritten_by)

    def note(self, sentence: str) -> None:
        """Keep a sentence about the run, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)
