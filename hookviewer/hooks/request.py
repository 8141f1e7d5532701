"""What a run was asked for, checked against the model before anything runs."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Sequence

from torch import nn
from torch.nn.parameter import is_lazy

from hookviewer.edits import Edit
from hookviewer.errors import HookViewerError
from hookviewer.kinds import GRADIENTS, Kind
from hookviewer.modules import ModuleIndex
from hookviewer.plan import HookPlan, unknown
from hookviewer.targets import Target, unit

UNREGISTERED = re.compile(r"<unregistered \w+ #\d+>")
"""The path of a module that the model calls but does not hold as a submodule."""


@dataclasses.dataclass(frozen=True, eq=False)
class Wanted:
    """What is asked of one module."""

    kinds: frozenset[Kind] = frozenset()
    edits: tuple[Edit, ...] = ()
    simple: bool = dataclasses.field(init=False)
    """Whether there is nothing to do but to copy outputs: by far the most calls are like that."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "simple", not self.edits and self.kinds <= {Kind.OUTPUT, Kind.PARAM})

    def edits_of(self, kind: Kind) -> list[Edit]:
        """Return the edits of one kind, in the order given."""
        return [edit for edit in self.edits if edit.kind is kind]

    def has(self, kind: Kind) -> bool:
        """Return whether a tensor of this kind is recorded or edited."""
        return kind in self.kinds or any(edit.kind is kind for edit in self.edits)


NOTHING = Wanted()


@dataclasses.dataclass(frozen=True, eq=False)
class Request:
    """A plan, edits and a target in canonical paths."""

    modules: dict[str, Wanted]
    others: Wanted
    """What is asked of modules that are found during the run."""
    target: Target | None
    edits: tuple[Edit, ...]
    gradients: bool
    summarised: frozenset[str] = frozenset()

    def wanted(self, path: str) -> Wanted:
        """Return what is asked of the module at `path`."""
        found = self.modules.get(path)
        if found is None:
            return self.others if path.startswith("<unregistered ") else NOTHING
        return found

    @functools.cached_property
    def unit(self) -> unit | None:
        """The target, where it is a unit inside the model."""
        return self.target if isinstance(self.target, unit) else None


def checked(index: ModuleIndex, plan: HookPlan, *, target: Target | None, edits: Sequence[Edit]) -> Request:
    """Return the request in canonical paths; raise `HookViewerError` for what cannot be done."""
    kept = {_canonical(index, path) for path in plan.paths}
    summarised = frozenset(_canonical(index, path) for path in plan.summarised) - kept
    paths = kept | summarised
    edits = tuple(dataclasses.replace(edit, path=_canonical(index, edit.path)) for edit in edits)
    if isinstance(target, unit):
        target = dataclasses.replace(target, path=_canonical(index, target.path))
    _check_target(plan, target, edits)
    _check_inference(index, plan)
    modules = {
        path: Wanted(plan.kinds if path in paths else frozenset(), _edits_at(edits, path))
        for path in sorted({*paths, *(edit.path for edit in edits)})
    }
    everything = kept.issuperset(index.modules)
    others = Wanted(plan.kinds) if everything else NOTHING
    return Request(modules, others, target, edits, plan.needs_target, summarised)


def _canonical(index: ModuleIndex, path: str) -> str:
    canonical = index.canonical(path)
    if canonical is None and UNREGISTERED.fullmatch(path):
        return path
    if canonical is None:
        raise HookViewerError(unknown(index, path))
    return canonical


def _edits_at(edits: tuple[Edit, ...], path: str) -> tuple[Edit, ...]:
    return tuple(edit for edit in edits if edit.path == path)


def _check_inference(index: ModuleIndex, plan: HookPlan) -> None:
    values = (value for module in index.modules.values() for value in module._parameters.values())
    if plan.needs_target and any(_is_inference(value) for value in values):
        raise HookViewerError(
            "This model was built under torch.inference_mode, where nothing ever has a gradient: "
            "build or load it outside."
        )


def _is_inference(value: nn.Parameter | None) -> bool:
    return value is not None and not is_lazy(value) and value.is_inference()


def _check_target(plan: HookPlan, target: Target | None, edits: tuple[Edit, ...]) -> None:
    if target is not None and not callable(target):
        raise HookViewerError(
            "A target is a function output → number: use class_score(i), top_class(), total(), or your own."
        )
    if plan.needs_target and target is None:
        raise HookViewerError("Choose a target: a gradient needs one number to start from.")
    if not plan.needs_target and any(edit.kind in GRADIENTS for edit in edits):
        raise HookViewerError(
            "An edit of a gradient shows only in gradients: ask for a gradient kind in the plan."
        )
