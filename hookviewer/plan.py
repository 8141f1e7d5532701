"""What to record: modules and kinds."""

from __future__ import annotations

import dataclasses
import difflib
import fnmatch
from collections.abc import Iterable

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.kinds import Kind
from hookviewer.modules import ModuleIndex, module_index, unwrapped


@dataclasses.dataclass(frozen=True)
class HookPlan:
    """The modules to record, as exact paths, and the kinds to record of each.

    Of the modules in `summarised` (those that are not in `paths` too) only shape and statistics are kept.
    """

    paths: frozenset[str] = frozenset()
    kinds: frozenset[Kind] = frozenset({Kind.OUTPUT})
    summarised: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "paths", frozenset(self.paths))
        object.__setattr__(self, "summarised", frozenset(self.summarised))
        object.__setattr__(self, "kinds", frozenset(Kind(kind) for kind in self.kinds))

    @classmethod
    def of(cls, model: nn.Module, *patterns: str, kinds: Iterable[Kind] = (Kind.OUTPUT,)) -> HookPlan:
        """Return the plan for all modules that match any of `patterns`.

        A pattern is an exact path, a shell glob on the whole path (`*` crosses dots and matches the model
        itself, `""`, too) or `type:ClassName`. Raises `HookViewerError` for one that matches nothing.
        """
        index = module_index(unwrapped(model)[0])
        paths = [path for pattern in patterns for path in matching(index, pattern)]
        return cls(frozenset(paths), frozenset(kinds))

    @property
    def needs_target(self) -> bool:
        """Whether the plan asks for gradients."""
        return any(kind.needs_target for kind in self.kinds)

    def toggled(self, path: str, on: bool) -> HookPlan:
        """Return the plan with `path` added or taken out."""
        return dataclasses.replace(self, paths=self.paths | {path} if on else self.paths - {path})

    def with_kinds(self, kinds: Iterable[Kind]) -> HookPlan:
        """Return the plan for the same modules and other kinds."""
        return dataclasses.replace(self, kinds=frozenset(kinds))


def matching(index: ModuleIndex, pattern: str) -> list[str]:
    """Return the canonical paths of the modules that `pattern` matches, in the order of the tree."""
    exact = index.canonical(pattern)
    if exact is not None:
        return [exact]
    if pattern.startswith("type:"):
        found = [
            path
            for path, module in index.modules.items()
            if fnmatch.fnmatchcase(type(module).__name__, pattern.removeprefix("type:"))
        ]
    else:
        names = {**{path: path for path in index.modules}, **index.aliases}
        hits = {first for name, first in names.items() if fnmatch.fnmatchcase(name, pattern)}
        found = [path for path in index.modules if path in hits]
    if not found:
        raise HookViewerError(unknown(index, pattern))
    return found


def unknown(index: ModuleIndex, pattern: str) -> str:
    """Return the sentence for a pattern that matches nothing, with the names that are near."""
    if pattern.startswith("type:"):
        types = sorted({type(module).__name__ for module in index.modules.values()})
        near = difflib.get_close_matches(pattern.removeprefix("type:"), types, n=3, cutoff=0.5)
        choice = [f"type:{name}" for name in near or types[:3]]
    else:
        names = [name for name in (*index.modules, *index.aliases) if name]
        choice = difflib.get_close_matches(pattern, names, n=3, cutoff=0.5) or names[:3]
    if not choice:
        return f"No module matches {pattern!r}: this model has no modules inside, its own path is ''."
    return f"No module matches {pattern!r}: did you mean {' or '.join(repr(name) for name in choice)}?"
