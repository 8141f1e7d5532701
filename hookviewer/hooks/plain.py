"""What a plain hook would have shown: it keeps the tensor itself, which later operations may overwrite."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from hookviewer.kinds import Key
from hookviewer.leaves import leaves
from hookviewer.recording import Record
from hookviewer.targets import unit

NOT_CALLED = "It was not called in the run that keeps the tensor itself."


@dataclasses.dataclass(frozen=True, eq=False)
class reference(unit):  # noqa: N801 - used like a target
    """Keeps the output of one call as a plain hook does, without a copy; used as the target of a run.

    Works for functional calls too. The run must ask for no gradient.
    """

    index: int = 0
    kept: list[tuple[str, torch.Tensor]] = dataclasses.field(default_factory=list)

    def __call__(self, output: Any) -> torch.Tensor:
        self.kept[:] = [(leaf, tensor.detach()) for leaf, tensor in leaves(output)]
        return torch.zeros(())

    def record(self, record: Record) -> Record:
        """Return what the tensor of `record` holds now that the run has ended."""
        found = dict(self.kept).get(record.key.leaf)
        if found is None:
            return missing(record, NOT_CALLED)
        kept = found.to("cpu", copy=True).contiguous()
        return dataclasses.replace(record, kept=kept, overwritten_by=None, notes=(), missing="")


def reference_to(key: Key) -> reference:
    """Return the target that keeps the tensor of `key`."""
    return reference(key.path, 0, key.call, key.leaf)


def missing(record: Record, reason: str) -> Record:
    """Return the record without values, for a reason."""
    return dataclasses.replace(record, kept=None, overwritten_by=None, missing=reason)
