"""The module tree with what a run found: functional calls, and modules that no module holds. Pure."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from hookviewer.kinds import Functional
from hookviewer.modules import ModuleNode
from hookviewer.recording import Call, Recording

CALL = "call"
"""What stands in the place of a functional call's type."""


@dataclasses.dataclass(frozen=True)
class CallNode(ModuleNode):
    """A row that only a run knows: a functional call, or else a module that no module holds.

    `parent` is the path of what it stands under.
    """

    parent: str = ""
    functional: bool = True

    @property
    def name(self) -> str:
        """What follows the path of the parent."""
        return self.path[len(self.parent) :].lstrip(".:")

    @property
    def op(self) -> str:
        """The name of the function that is called; empty for a module."""
        call = Functional.of(self.path) if self.functional else None
        return "" if call is None else call.op

    @property
    def built(self) -> bool:
        """Whether it is a module that was built in `forward`, or came from elsewhere."""
        return not self.functional and Functional.of(self.path) is not None


def with_calls(
    tree: ModuleNode, recording: Recording, wanted: Iterable[str] = (), *, functional: bool
) -> ModuleNode:
    """Return the tree with the rows that a run has found, in order of execution among the others.

    `wanted` are paths that are listed even where the run made no such call. Functional calls are left out
    unless `functional`.
    """
    known = {node.path for node in tree.walk()}
    made = {
        path: calls
        for path, calls in recording.module_calls.items()
        if path not in known and path not in recording.aliases and (functional or not calls[0].functional)
    }
    more = {
        path: ()
        for path in sorted(wanted)
        if path not in known and path not in made and (functional or Functional.of(path) is None)
    }
    found: Mapping[str, Sequence[Call]] = {**made, **more}
    if not found:
        return tree
    below: dict[str, list[str]] = defaultdict(list)
    for path in found:
        below[_parent(path, known | found.keys())].append(path)
    return _Merging(recording, found, below).merged(tree)


def _parent(path: str, known: set[str]) -> str:
    """Return the longest path in `known` that `path` continues."""
    ends = [place for place, sign in enumerate(path) if sign in ".[:" and path[:place] in known]
    return path[: ends[-1]] if ends else ""


@dataclasses.dataclass(frozen=True)
class _Merging:
    recording: Recording
    found: Mapping[str, Sequence[Call]]
    below: Mapping[str, Sequence[str]]

    def merged(self, node: ModuleNode) -> ModuleNode:
        if node.alias_of is not None:  # its calls are told under its first name
            return node
        children = tuple(self.merged(child) for child in node.children)
        new = [self._node(path, node.path) for path in self.below.get(node.path, ())]
        if not new and children == node.children:
            return node
        return dataclasses.replace(node, children=self._arranged(children, new))

    def _node(self, path: str, parent: str) -> ModuleNode:
        calls = self.found[path]
        functional = calls[0].functional if calls else Functional.of(path) is not None
        kind = CALL if functional else (calls[0].type if calls else "")
        return self.merged(CallNode(path, kind, parent=parent, functional=functional))

    def _arranged(self, children: Sequence[ModuleNode], new: Sequence[ModuleNode]) -> tuple[ModuleNode, ...]:
        """Put each new row behind the child that was called last before it."""
        behind: dict[int, list[ModuleNode]] = defaultdict(list)
        for node in sorted(new, key=self._first):
            behind[self._latest(children, self._first(node))].append(node)
        return tuple(
            one
            for place in range(-1, len(children))
            for one in (*children[max(place, 0) : place + 1], *behind.get(place, ()))
        )

    def _first(self, node: ModuleNode) -> float:
        calls = self.recording.calls(node.path)
        return calls[0].order if calls else float("inf")

    def _latest(self, children: Sequence[ModuleNode], order: float) -> int:
        starts = [
            (call.order, place)
            for place, child in enumerate(children)
            for call in self.recording.calls(child.path)
            if call.order < order
        ]
        return max(starts)[1] if starts else -1
