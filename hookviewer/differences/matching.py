"""Which layer of one model stands beside which of another."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from hookviewer.errors import HookViewerError
from hookviewer.kinds import Functional
from hookviewer.modules import ModuleNode
from hookviewer.recording import Call, Recording

PATH, ORDER, SHAPE, HAND = "path", "order, type and shape", "order and shape", "hand"
"""How two layers were matched."""


@dataclasses.dataclass(frozen=True, eq=False)
class Matching(Mapping[str, str]):
    """The path in B of every path in A that has a partner, in order of execution of A.

    `how` says for each path of A how its partner was found: `"path"`, `"order, type and shape"`,
    `"order and shape"` or `"hand"`; `only_a` and `only_b` are the paths without a partner.
    """

    paths: Mapping[str, str]
    how: Mapping[str, str] = dataclasses.field(default_factory=dict)
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("paths", "how"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __getitem__(self, path: str) -> str:
        return self.paths[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def back(self) -> Mapping[str, str]:
        """The path in A of every matched path in B."""
        return MappingProxyType({b: a for a, b in self.paths.items()})


class _Layer(NamedTuple):
    path: str
    type: str
    shapes: tuple[tuple[int, ...], ...] | None
    inside: bool
    """Whether it has modules inside."""


def matched(
    tree_a: ModuleNode,
    recording_a: Recording | None,
    tree_b: ModuleNode,
    recording_b: Recording | None,
    *,
    by_hand: Mapping[str, str | None] | None = None,
) -> Matching:
    """Return which layer of A stands beside which of B.

    First what `by_hand` says (A's path → B's path, `None` for no partner), then the models themselves, then
    equal paths of equal type, then layers of equal type and output shape in order of execution, then of equal
    output shape. A layer has one partner at most. Without the recordings (`None`), the order is that of
    registration, and shapes are not compared. Raises `HookViewerError` for a path that is not there, or a
    partner that is given twice.
    """
    a, b = _layers(tree_a, recording_a), _layers(tree_b, recording_b)
    hand = dict(by_hand or {})
    _check(hand, a, b)
    found = _Pairs({one: other for one, other in hand.items() if other is not None}, set(hand))
    found.add(_by_path(a, b), PATH)
    found.add(_in_order(a, b, found, lambda layer: (layer.type, layer.shapes)), ORDER)
    if recording_a is not None and recording_b is not None:
        found.add(_in_order(a, b, found, lambda layer: (layer.inside, layer.shapes or id(layer))), SHAPE)
    return found.matching(list(a), list(b))


class _Pairs:
    """The pairs found so far; whatever has a partner keeps it."""

    def __init__(self, by_hand: dict[str, str], settled: set[str]) -> None:
        self.partners = dict(by_hand)
        self.how = dict.fromkeys(by_hand, HAND)
        self.settled = settled

    def free(self, a: str, b: str) -> bool:
        return a not in self.settled and a not in self.partners and b not in self.partners.values()

    def add(self, pairs: Sequence[tuple[str, str]], how: str) -> None:
        for a, b in pairs:
            if self.free(a, b):
                self.partners[a] = b
                self.how[a] = how

    def matching(self, a: list[str], b: list[str]) -> Matching:
        taken = set(self.partners.values())
        return Matching(
            {path: self.partners[path] for path in a if path in self.partners},
            {path: self.how[path] for path in a if path in self.how},
            tuple(path for path in a if path not in self.partners),
            tuple(path for path in b if path not in taken),
        )


def _layers(tree: ModuleNode, recording: Recording | None) -> dict[str, _Layer]:
    """Return all layers in order of their first call, those that were never called behind."""
    nodes = {node.path: node for node in tree.walk() if node.alias_of is None}
    called = {} if recording is None else {call.path: call.output_shapes for call in _first_calls(recording)}
    return {path: _layer(path, nodes.get(path), called.get(path)) for path in (*called, *nodes)}


def _first_calls(recording: Recording) -> Iterator[Call]:
    return (call for call in recording.in_order() if call.number == 0)


def _layer(path: str, node: ModuleNode | None, shapes: tuple[tuple[int, ...], ...] | None) -> _Layer:
    if node is not None:
        return _Layer(path, node.type, shapes, bool(node.children))
    call = Functional.of(path)
    return _Layer(path, call.op if call else "", shapes, False)


def _check(hand: Mapping[str, str | None], a: Mapping[str, _Layer], b: Mapping[str, _Layer]) -> None:
    partners = [path for path in hand.values() if path is not None]
    for letter, paths, layers in (("A", list(hand), a), ("B", partners, b)):
        for path in paths:
            if path not in layers:
                near = difflib.get_close_matches(path, layers, n=1, cutoff=0)
                raise HookViewerError(f"Model {letter} has no layer {path!r}: did you mean {near[0]!r}?")
    twice = next((path for path in partners if partners.count(path) > 1), None)
    if twice is not None:
        raise HookViewerError(f"{twice} of model B is the partner of two layers: choose one of them.")


def _by_path(a: Mapping[str, _Layer], b: Mapping[str, _Layer]) -> list[tuple[str, str]]:
    return [(path, path) for path in a if path in b and (not path or a[path].type == b[path].type)]


def _in_order(
    a: Mapping[str, _Layer], b: Mapping[str, _Layer], found: _Pairs, token: Callable[[_Layer], object]
) -> list[tuple[str, str]]:
    """Return pairs of equal tokens that keep the order, also between the pairs that were found before."""
    back = {other: one for one, other in found.partners.items()}
    tokens_a = [("pair", path) if path in found.partners else token(layer) for path, layer in a.items()]
    tokens_b = [("pair", back[path]) if path in back else token(layer) for path, layer in b.items()]
    paths_a, paths_b = list(a), list(b)
    blocks = difflib.SequenceMatcher(None, tokens_a, tokens_b, autojunk=False).get_matching_blocks()
    return [(paths_a[i + k], paths_b[j + k]) for i, j, count in blocks for k in range(count)]
