"""The models of variants: made on the model thread, kept there while a variant needs them, then dropped."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from hookviewer.differences import matched
from hookviewer.gui.renaming import Renaming
from hookviewer.gui.state import Settings
from hookviewer.hooks import capture
from hookviewer.inputs import Input
from hookviewer.modules import module_tree
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording
from hookviewer.variants import Change, Made, made

Matches = tuple[tuple[str, str], ...]


def change_of(settings: Settings) -> Change:
    """Return in what a model has to differ from the open one; the device, mode and seed are its runs'."""
    return Change(
        weights=settings.weights or None,
        spec=settings.spec or None,
        dtype=dtype_of(settings.dtype),
        autocast=dtype_of(settings.autocast),
    )


def dtype_of(name: str) -> torch.dtype | None:
    """Return the torch type of this name, None for no name."""
    found = getattr(torch, name) if name else None
    assert found is None or isinstance(found, torch.dtype)
    return found


@dataclasses.dataclass(frozen=True, eq=False)
class Runnable:
    """What a run takes: a model, and how inputs and the run itself are made ready for it.

    `renaming` gives the open model's paths to the layers of another model.
    """

    model: nn.Module
    made: Made | None = None
    renaming: Renaming | None = None

    def capture(self, given: Input, plan: HookPlan, **options: Any) -> Recording:
        """Run it once on an input, as `hooks.capture` does."""
        if self.made is None:
            return capture(self.model, given.args, plan, kwargs=given.kwargs, **options)
        return self.made.capture(given.args, plan, kwargs=given.kwargs, **options)


class VariantModels:
    """Holds the models of variants beside the open one; all but making it runs on the model thread."""

    def __init__(self) -> None:
        self._open: nn.Module | None = None
        self._made: dict[Change, Made] = {}
        self._renamings: dict[tuple[Change, Matches], Renaming] = {}

    def keep(self, model: nn.Module | None, needed: Iterable[Change]) -> None:
        """Drop the models that none of the changes needs, and all of them where another model is open."""
        wanted = set(needed) if model is self._open else set()
        self._open = model
        self._made = {change: one for change, one in self._made.items() if change in wanted}
        self._renamings = {key: one for key, one in self._renamings.items() if key[0] in wanted}

    @property
    def count(self) -> int:
        """How many models there are beside the open one."""
        return len(self._made)

    def runnable(self, model: nn.Module, settings: Settings, given: Input) -> Runnable:
        """Return what to run for these settings; raise `HookViewerError` where it cannot be made."""
        change = change_of(settings)
        if change == Change() and not settings.matches:
            return Runnable(model)
        if change not in self._made:
            self._made[change] = made(model, change)
        found = self._made[change]
        if change.spec is None and not settings.matches:
            return Runnable(found.model, found)
        return Runnable(found.model, found, self._renaming(model, found, settings, given))

    def _renaming(self, model: nn.Module, other: Made, settings: Settings, given: Input) -> Renaming:
        key = other.change, settings.matches
        if key not in self._renamings:
            trees = module_tree(model), module_tree(other.model)
            seen = [one.capture(given, HookPlan()) for one in (Runnable(model), Runnable(other.model, other))]
            by_hand = {one: two or None for one, two in settings.matches}
            matching = matched(trees[0], seen[0], trees[1], seen[1], by_hand=by_hand)
            self._renamings[key] = Renaming(
                MappingProxyType(dict(matching)),
                MappingProxyType(dict(matching.how)),
                tuple(node.path for node in trees[1].walk()),
                MappingProxyType({node.path: node.alias_of for node in trees[0].walk() if node.alias_of}),
            )
        return self._renamings[key]
