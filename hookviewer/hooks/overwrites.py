"""Which recorded tensors are overwritten in place later: there a plain hook shows wrong values."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn

from hookviewer import torch_private
from hookviewer.hooks.journal import Journal
from hookviewer.kinds import Key

WINDOW = 32
"""How many of the newest tensors are looked at after every module; all of them when the run ends."""


class Watched(NamedTuple):
    """A tensor without memory, which shares the version counter of a recorded one and keeps nothing alive."""

    key: Key
    counter: torch.Tensor
    serial: int


class Overwrites:
    """Compares the version counters of recorded tensors after each module."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.count = 0
        self.watched: list[Watched] = []
        self.recent: list[torch.Tensor] = []
        """The counters of `watched`, and `versions` what they showed then."""
        self.versions: list[int] = []
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
        self.watched.append(Watched(key, counter, self.count))
        self.recent.append(counter)
        self.versions.append(tensor._version)

    def check(self, path: str, begins: int) -> None:
        """Blame the module at `path`, which is running, for every tensor written since the last check.

        A tensor from before it began is one that it was given (so the module overwrote it); a later one was
        made by a module inside it, and overwritten by code in between.
        """
        now = [counter._version for counter in self.recent[-WINDOW:]]
        if now != self.versions[-WINDOW:]:
            name = path or "the model"
            for watched in self._written(len(self.recent) - len(now)):
                given = watched.serial <= begins
                self.journal.revise(watched.key, overwritten_by=name if given else f"an operation in {name}")

    def finish(self) -> None:
        """Look at all tensors once more, when the run has ended."""
        for watched in self._written(0):
            self.journal.revise(watched.key, overwritten_by="an operation later in the run")
        for held in (self.watched, self.recent, self.versions):
            held.clear()

    def _written(self, start: int) -> list[Watched]:
        """Return those from `start` on that have been written, and watch them no longer: the first counts."""
        places = [
            place
            for place in range(start, len(self.recent))
            if self.recent[place]._version != self.versions[place]
        ]
        return [self._forget(place) for place in reversed(places)][::-1]

    def _forget(self, place: int) -> Watched:
        del self.recent[place], self.versions[place]
        return self.watched.pop(place)

    def _hollow(self, tensor: torch.Tensor) -> torch.Tensor:
        kind = (tensor.dtype, tensor.device)
        hollow = self.hollow.get(kind)
        if hollow is None:
            hollow = self.hollow[kind] = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return hollow
