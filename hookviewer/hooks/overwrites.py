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


class Overwrites:
    """Compares the version counters of recorded tensors after each module."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.recent: list[Watched] = []
        self.older: list[Watched] = []
        self.hollow: dict[tuple[torch.dtype, torch.device], torch.Tensor] = {}

    def watch(self, key: Key, tensor: torch.Tensor) -> None:
        """Remember the version that `tensor` has now."""
        if type(tensor) not in (torch.Tensor, nn.Parameter) or tensor.layout is not torch.strided:
            return
        if tensor.is_inference() or tensor.is_nested or torch_private.in_functorch(tensor):
            return
        counter = tensor.detach()
        counter.data = self._hollow(tensor)
        self.recent.append(Watched(key, counter, tensor._version))
        if len(self.recent) > 2 * WINDOW:
            self.older += self.recent[:WINDOW]
            del self.recent[:WINDOW]

    def check(self, culprit: str) -> None:
        """Blame `culprit` for every tensor that was written since the last check."""
        hit = [watched for watched in self.recent if watched.counter._version != watched.version]
        if hit:
            self.recent = [watched for watched in self.recent if watched.counter._version == watched.version]
            self._blame(hit, culprit)

    def finish(self) -> None:
        """Look at all tensors once more, when the run has ended."""
        self.check("an operation later in the run")
        self._blame(
            [watched for watched in self.older if watched.counter._version != watched.version],
            "an operation later in the run",
        )
        self.recent = []
        self.older = []

    def _blame(self, hit: list[Watched], culprit: str) -> None:
        for watched in hit:
            self.journal.revise(watched.key, overwritten_by=culprit)

    def _hollow(self, tensor: torch.Tensor) -> torch.Tensor:
        kind = (tensor.dtype, tensor.device)
        if kind not in self.hollow:
            self.hollow[kind] = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return self.hollow[kind]
