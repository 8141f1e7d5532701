"""What to record: modules and kinds."""

from __future__ import annotations

import dataclasses
import difflib
import fnmatch
import re
from collections.abc import Iterable

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.kinds import Functional, Kind
from hookviewer.modules import ModuleIndex, joined, module_index, unwrapped


@dataclasses.dataclass(frozen=True)
class HookPlan:
    """The modules to record, as exact paths, and the kinds to record of each.

    Of the modules in `summarised` (those that are not in `paths` too) only shape and statistics are kept; it
    may hold patterns of functional calls, too (`*:*` means all of them).
    `paths` may hold functional calls, too (`layer1.0:add#0`). `ops` are the patterns of functional calls to
    record; empty, they are only listed in the order of execution. `None` looks at those in `paths` only.
    """

    paths: frozenset[str] = frozenset()
    kinds: frozenset[Kind] = frozenset({Kind.OUTPUT})
    summarised: frozenset[str] = frozenset()
    ops: frozenset[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "paths", frozenset(self.paths))
        object.__setattr__(self, "summarised", frozenset(self.summarised))
        if self.ops is not None:
            object.__setattr__(self, "ops", frozenset(self.ops))
        object.__setattr__(self, "kinds", frozenset(Kind(kind) for kind in self.kinds))

    @classmethod
    def of(cls, model: nn.Module, *patterns: str, kinds: Iterable[Kind] = (Kind.OUTPUT,)) -> HookPlan:
        """Return the plan for all modules that match any of `patterns`.

        A pattern is an exact path, a shell glob on the whole path (`*` crosses dots and matches the model
        itself, `""`, too) or `type:ClassName`. With a colon it is one of functional calls: `layer1.0:add#0`,
        `layer1.*:add*`, `op:add` (all that are called add). Raises `HookViewerError` for one that matches
        nothing; what functional calls a model makes is known after a run, whose notes then say so.
        """
        index = module_index(unwrapped(model)[0])
        ops = {pattern for pattern in patterns if is_op_pattern(index, pattern)}
        paths = [path for pattern in patterns if pattern not in ops for path in matching(index, pattern)]
        plan = cls(frozenset(paths), frozenset(kinds))
        return plan.with_ops(*ops) if ops else plan

    @property
    def needs_target(self) -> bool:
        """Whether the plan asks for gradients."""
        return any(kind.needs_target for kind in self.kinds)

    def toggled(self, path: str, on: bool) -> HookPlan:
        """Return the plan with `path` added or taken out."""
        return dataclasses.replace(self, paths=self.paths | {path} if on else self.paths - {path})

    def with_ops(self, *patterns: str) -> HookPlan:
        """Return the plan that lists all functional calls too, and records those that match `patterns`."""
        return dataclasses.replace(self, ops=(self.ops or frozenset()) | frozenset(patterns))

    def with_kinds(self, kinds: Iterable[Kind]) -> HookPlan:
        """Return the plan for the same modules and other kinds."""
        return dataclasses.replace(self, kinds=frozenset(kinds))


def matching(index: ModuleIndex, pattern: str) -> list[str]:
    """Return the canonical paths of the modules that `pattern` matches, in the order of the tree."""
    exact = canonical(index, pattern)
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


def canonical(index: ModuleIndex, path: str) -> str | None:
    """Return the canonical form of an exact path: of a module, a functional call, or one found in a run.

    Modules in plain lists, and those that are built in `forward`, are known only after a run: their paths
    are taken when the module that holds or calls them exists.
    """
    found = index.canonical(path)
    if found is not None:
        return found
    call = Functional.of(path)
    if call is not None:
        module = canonical(index, call.module)
        return None if module is None else call._replace(module=module).path
    return _held(index, path)


def _held(index: ModuleIndex, path: str) -> str | None:
    """Return the path of a module that `encoder` holds in `encoder.blocks[0]`, or that one builds inside."""
    head, colon, rest = path.rpartition(":")
    if colon:
        caller = canonical(index, head) if re.match(r"\w+#\d+\.", rest) else None
        return None if caller is None else f"{caller}:{rest}"
    for match in re.finditer(r"(?:^|\.)(\w+)(?=[.\[])", path):
        owner = index.canonical(path[: match.start()])
        if owner is not None and match[1] in vars(index.modules[owner]):
            return joined(owner, path[match.start(1) :])
    return None


def is_op_pattern(index: ModuleIndex, pattern: str) -> bool:
    """Return whether `pattern` means functional calls; raise for one of a module that is not there."""
    if canonical(index, pattern) is not None or pattern.startswith("type:") or ":" not in pattern:
        return False
    module, _, _ = pattern.rpartition(":")
    if module not in ("op", "*") and index.canonical(module) is None:
        matching(index, module)
    return True


def op_matches(pattern: str, names: Iterable[str], call: Functional) -> bool:
    """Return whether `pattern` means this functional call of the module of these names."""
    module, _, op = pattern.rpartition(":")
    op = op if "#" in op else f"{op}#*"
    if not fnmatch.fnmatchcase(f"{call.op}#{call.number}", op):
        return False
    return module == "op" or any(name == module or fnmatch.fnmatchcase(name, module) for name in names)


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
