"""Which recorded tensors are overwritten in place later: there a plain hook shows wrong values."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn

from hookviewer import torch_private
from hookviewer.hooks.journal import Journal
from hookviewer.kinds import Key

WINDOW = 48
"""How many of the newest tensors are looked at after every module; all of them when the run ends."""


class Watched(NamedTuple):
    """A tensor without memory, which shares the version counter of a recorded one and keeps nothing alive."""

    key: Key
    counter: torch.Tensor
    version: int
    serial: int


class Overwrites:
    """Compares the version counters of recorded tensors after each module."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.count = 0
        self.recent: list[Watched] = []
        self.older: list[Watched] = []
        self.hollow: dict[tuple[torch.dtype, torch.device], torch.Tensor] = {}

    def watch(self, key: Key, tensor: torch.Tensor) -> None:
        """Remember the version that `tensor` has now."""
        self.count += 1
        if type(tensor) not in (torch.Tensor, nn.Parameter) or tensor.layout is not torch.strided:
            return
        if tensor.is_inference() or tensor.is_nested or torch_private.in_functorch(tensor):
            return
        counter = tensor.detach()
        counter.data = self._hollow(tensor)
        self.recent.append(Watched(key, counter, tensor._version, self.count))
        if len(self.recent) > 2 * WINDOW:
            self.older += self.recent[:WINDOW]
            del self.recent[:WINDOW]

    def check(self, path: str, begins: int) -> None:
        """Blame the module at `path`, which is running, for every tensor written since the last check.

        A tensor from before it began is one that it was given (so the module overwrote it); a later one was
        made by a module inside it, and overwritten by code in between.
        """
        hit = [watched for watched in self.recent if watched.counter._version != watched.version]
        if not hit:
            return
        self.recent = [watched for watched in self.recent if watched.counter._version == watched.version]
        name = path or "the model"
        for watched in hit:
            given = watched.serial <= begins
            self.journal.revise(watched.key, overwritten_by=name if given else f"an operation in {name}")

    def finish(self) -> None:
        """Look at all tensors once more, when the run has ended."""
        for watched in (*self.older, *self.recent):
            if watched.counter._version != watched.version:
                self.journal.revise(watched.key, overwritten_by="an operation later in the run")
        self.recent = []
        self.older = []

    def _hollow(self, tensor: torch.Tensor) -> torch.Tensor:
        kind = (tensor.dtype, tensor.device)
        hollow = self.hollow.get(kind)
        if hollow is None:
            hollow = self.hollow[kind] = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return hollow
