"""What the hooks of one run share."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import torch

from hookviewer import torch_private
from hookviewer.edits import Edit, edited, same
from hookviewer.errors import HookViewerError
from hookviewer.hooks.calls import Calls, Frame, Leaves
from hookviewer.hooks.gradients import Gradients
from hookviewer.hooks.journal import Journal
from hookviewer.hooks.overwrites import Overwrites
from hookviewer.hooks.reasons import obstacle
from hookviewer.hooks.request import Request
from hookviewer.kinds import Key, Kind


class Halt(BaseException):
    """A mistake of the user that a hook found; a `BaseException`, so that the model cannot swallow it."""

    def __init__(self, mistake: HookViewerError, path: str) -> None:
        super().__init__(str(mistake))
        self.mistake = mistake
        self.path = path


@dataclasses.dataclass(eq=False)
class State:
    """The state of one run while the model runs."""

    request: Request
    journal: Journal
    gradients: Gradients | None
    starts_gradients: bool = False
    """Whether nothing requires grad by itself, so that gradients start at the first outputs."""
    origins: dict[int, torch.Tensor] = dataclasses.field(default_factory=dict)
    """The leaves of the graph behind the model's inputs, by the `id` of what the model is given."""
    calls: Calls = dataclasses.field(default_factory=Calls)
    strays: list[tuple[torch.Tensor, torch.Tensor, int]] = dataclasses.field(default_factory=list)
    unit_value: torch.Tensor | None = None
    unit_started: int | None = None
    """How many calls had started when the unit that is the target was taken."""
    unit_around: frozenset[tuple[str, int]] = frozenset()
    """The calls that were still running then, by path and number: what they return comes later."""
    overwrites: Overwrites = dataclasses.field(init=False)
    refused: set[int] = dataclasses.field(default_factory=set)
    """The edits (by `id`) that could not be made, and whose note says why."""
    effects: dict[int, bool] = dataclasses.field(default_factory=dict)
    """The edits (by `id`) that were applied, and whether any of them has changed a value."""

    def __post_init__(self) -> None:
        self.overwrites = Overwrites(self.journal)

    def record(self, frame: Frame, kind: Kind, found: Leaves) -> None:
        """Copy tensors of a call, and watch for what overwrites them."""
        for leaf, tensor in found:
            key = Key(frame.path, kind, frame.number, leaf)
            self.journal.take(key, tensor)
            self.overwrites.watch(key, tensor)

    def edited(self, frame: Frame, kind: Kind, edits: list[Edit], found: Leaves) -> dict[int, torch.Tensor]:
        """Return what `edits` make of the tensors of a call, by the `id` of the original."""
        new: dict[int, torch.Tensor] = {}
        for leaf, tensor in found:
            value = tensor
            for edit in applying(edits, frame, leaf, tensor):
                value = self._apply(edit, value, Key(frame.path, kind, frame.number, leaf))
            if value is not tensor:
                new[id(tensor)] = value
        return new

    def _apply(self, edit: Edit, tensor: torch.Tensor, key: Key) -> torch.Tensor:
        if torch_private.in_functorch(tensor):
            self.refused.add(id(edit))
            self.journal.note(f"The edit {edit} did not run inside a vmap or grad transform.")
            return tensor
        try:
            new = edited(tensor, edit, key)
        except HookViewerError as mistake:
            raise Halt(mistake, edit.path) from None
        if not self.effects.get(id(edit)):
            self.effects[id(edit)] = not same(new, tensor)
        return new

    def differentiable(self, key: Key, tensor: torch.Tensor) -> bool:
        """Return whether `tensor` can have a gradient, and keep the reason where it cannot."""
        reason = obstacle(tensor)
        if reason:
            self.journal.reasons[key] = reason
        return not reason

    def origin(self, frame: Frame, tensor: torch.Tensor) -> torch.Tensor | None:
        """Return the leaf behind an input of the model itself: nothing else has a gradient through it."""
        return self.origins.get(id(tensor)) if (frame.path, frame.number) == ("", 0) else None

    def original(self, tensor: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Return the model's own tensor for one that is lent to the running modules, else `tensor` itself.

        The second are lent ones whose memory was written while they were lent: they have become views of the
        memory beside the model's own view, so that their uses do not go through it.
        """
        beside: list[torch.Tensor] = []
        for frame in reversed(self.calls.stack):
            for lent in frame.lent:
                if lent.alias is tensor:
                    if lent.written:
                        beside.append(tensor)
                    tensor = lent.original
        if torch_private.base_of(tensor) is None:
            return tensor, []
        strays = [stray for held in (*beside, tensor) for stray in self._strays_of(held)]
        return tensor, beside + strays

    def keep_strays(self, frame: Frame) -> None:
        """Remember what was lent to a call that wrote into it, as long as nobody writes again."""
        for lent in frame.lent:
            if lent.written and torch_private.base_of(lent.original) is not None:
                self.strays.append((lent.original, lent.alias, torch_private.version(lent.alias)))

    def _strays_of(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        found = [
            alias
            for original, alias, version in self.strays
            if original is tensor and version == torch_private.version(tensor)
        ]
        return [*found, *(other for alias in found for other in self._strays_of(alias))]


def applying(edits: Iterable[Edit], frame: Frame, leaf: str, tensor: torch.Tensor) -> list[Edit]:
    """Return the edits for one tensor; an edit of all leaves leaves integers (lengths, ids) alone."""
    floats = tensor.is_floating_point() or tensor.is_complex()
    return [edit for edit in edits if edit.meets(frame.number, leaf) and (floats or edit.leaf == leaf)]
