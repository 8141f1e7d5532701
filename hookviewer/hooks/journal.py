"""What a run has recorded so far, and why the rest is missing."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Set

import torch

from hookviewer import torch_private
from hookviewer.kinds import Key
from hookviewer.recording import Record
from hookviewer.snapshot import Budget, snapshot, summarised

OnRecord = Callable[[Record], object]


class Journal:
    """Collects the records of one run in the order in which they are made."""

    def __init__(
        self,
        budget: int,
        on_record: OnRecord | None,
        notes: tuple[str, ...] = (),
        summarised: Set[str] = frozenset(),
    ) -> None:
        self.budget = Budget(budget)
        self.summarised = summarised
        self._latest: tuple[weakref.ref[torch.Tensor], int, Record] | None = None
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
        if key.path in self.summarised:
            record = self._summary(key, tensor)
        else:
            record = snapshot(key, tensor, self.budget)
        if notes or before_edit is not None:
            record = dataclasses.replace(record, notes=record.notes + notes, before_edit=before_edit)
        self.records[key] = record
        if self.on_record is not None:
            self.on_record(record)

    def _summary(self, key: Key, tensor: torch.Tensor) -> Record:
        """Return the statistics; a container returns the very tensor that was the last one's."""
        if self._latest is not None:
            known, version, record = self._latest
            if known() is tensor and 0 <= version == torch_private.version(tensor):
                return dataclasses.replace(record, key=key)
        record = summarised(key, tensor)
        self._latest = (weakref.ref(tensor), torch_private.version(tensor), record)
        return record

    def revise(self, key: Key, *, overwritten_by: str) -> None:
        """Say of a record what overwrote its tensor later."""
        self.records[key] = dataclasses.replace(self.records[key], overwritten_by=overwritten_by)

    def note(self, sentence: str) -> None:
        """Keep a sentence about the run, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)
