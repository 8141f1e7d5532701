"""What a run was asked for, checked against the model before anything runs."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence

from torch import nn
from torch.nn.parameter import is_lazy

from hookviewer.edits import Edit
from hookviewer.errors import HookViewerError
from hookviewer.kinds import GRADIENTS, Functional, Kind
from hookviewer.modules import ModuleIndex
from hookviewer.plan import HookPlan, canonical, is_op_pattern, op_matches, unknown
from hookviewer.targets import Target, unit

CALL_KINDS = frozenset(Kind) - {Kind.PARAM, Kind.PARAM_GRAD}
"""What a pattern asks of functional calls, which have no parameters of their own."""


@dataclasses.dataclass(frozen=True, eq=False)
class Wanted:
    """What is asked of one module, or of one functional call."""

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
    kinds: frozenset[Kind]
    others: Wanted
    """What is asked of modules that are found during the run."""
    target: Target | None
    edits: tuple[Edit, ...]
    gradients: bool
    summarised: set[str] = dataclasses.field(default_factory=set)
    """Paths of which only statistics are kept; functional calls that `brief` means join them as they come."""
    brief: frozenset[str] = frozenset()
    """Patterns of the functional calls of which only statistics are kept."""
    ops: frozenset[str] | None = None
    """Patterns of the functional calls to record; `None` where nobody asks for functional calls at all."""
    names: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    """All names of every module, by its canonical one."""
    matched: dict[str, Wanted] = dataclasses.field(default_factory=dict)
    """What is asked of the functional calls that came by."""

    def wanted(self, path: str) -> Wanted:
        """Return what is asked of the module at `path`."""
        found = self.modules.get(path)
        if found is None:
            return NOTHING if path in self.names else self.others
        return found

    def wanted_call(self, path: str) -> Wanted:
        """Return what is asked of the functional call at `path`."""
        if path not in self.matched:
            self.matched[path] = self._of_call(path)
        return self.matched[path]

    def unmatched(self, paths: Iterable[str]) -> set[str]:
        """Return the patterns that match none of these functional calls."""
        calls = [call for call in map(Functional.of, paths) if call is not None]
        return {
            pattern
            for pattern in self.ops or ()
            if not any(op_matches(pattern, self._names_of(call), call) for call in calls)
        }

    def _names_of(self, call: Functional) -> Sequence[str]:
        return self.names.get(call.module, (call.module,))

    def _of_call(self, path: str) -> Wanted:
        exact = self.modules.get(path, NOTHING)
        call = Functional.of(path)
        if call is None or exact.kinds or not (self.ops or self.brief):
            return exact
        wanted = self._means(self.ops or (), call)
        if not wanted and self._means(self.brief, call):
            wanted = True
            self.summarised.add(path)
        return Wanted(self.kinds & CALL_KINDS, exact.edits) if wanted else exact

    def _means(self, patterns: Iterable[str], call: Functional) -> bool:
        return any(op_matches(pattern, self._names_of(call), call) for pattern in patterns)

    @functools.cached_property
    def unit(self) -> unit | None:
        """The target, where it is a unit inside the model."""
        return self.target if isinstance(self.target, unit) else None


def checked(index: ModuleIndex, plan: HookPlan, *, target: Target | None, edits: Sequence[Edit]) -> Request:
    """Return the request in canonical paths; raise `HookViewerError` for what cannot be done."""
    if not isinstance(plan, HookPlan):
        raise HookViewerError(
            f"A plan is a HookPlan, not a {type(plan).__name__}: write HookPlan.of(model, 'a pattern')."
        )
    kept = {_canonical(index, path) for path in plan.paths}
    brief = frozenset(pattern for pattern in plan.summarised if is_op_pattern(index, pattern))
    summarised = {_canonical(index, path) for path in plan.summarised - brief} - kept
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
    asked = {*modules, target.path} if isinstance(target, unit) else modules
    seen = bool(brief) or any(map(Functional.of, asked))
    ops = frozenset() if plan.ops is None and seen else plan.ops
    names = {path: tuple(index.names[id(module)]) for path, module in index.modules.items()}
    return Request(
        modules,
        plan.kinds,
        others,
        target,
        edits,
        plan.needs_target,
        summarised,
        brief=brief,
        ops=ops,
        names=names,
    )


def _canonical(index: ModuleIndex, path: str) -> str:
    found = canonical(index, path)
    if found is None:
        raise HookViewerError(unknown(index, path))
    return found


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
