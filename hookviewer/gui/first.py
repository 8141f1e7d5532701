"""What is ticked and selected when a model has just been opened: enough to see something at once. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from hookviewer.gui.module_facts import family_of
from hookviewer.modules import ModuleNode

DEMO = "demo:mobilenet_v2"
MOST = 12
_WEIGHTED = ("conv", "linear", "attention")
_DEMO_TICKS = (
    "features.0.0",
    "features.0.2",
    "features.1",
    "features.2.conv.0",
    "features.2.conv.1",
    "features.2",
    "features.3.conv.1",
    "features.4.conv.1.0",
    "features.7",
    "features.14",
    "features.18",
    "classifier.1",
)


@dataclasses.dataclass(frozen=True)
class Start:
    """The modules to tick, and the module, channel and cell to look at."""

    ticks: frozenset[str]
    path: str
    channel: int = 0
    cell: tuple[int, int] | None = None


def start_of(tree: ModuleNode, spec: str = "") -> Start:
    """Return what to tick and to look at first: layers with weights, evenly over the depth."""
    if spec.partition("?")[0] == DEMO:
        return Start(frozenset(_DEMO_TICKS), "features.2.conv.0", 3, (66, 92))
    chosen = _spread([node.path for node in _outside_attention(tree) if _shown_first(node)], MOST)
    if not chosen:
        chosen = _spread([node.path for node in tree.walk() if not node.children], MOST)
    return Start(frozenset(chosen), chosen[0] if chosen else "")


def _outside_attention(node: ModuleNode) -> Iterator[ModuleNode]:
    """Return the nodes of the tree without what is inside of attention: its parts are often not called."""
    yield node
    if family_of(node) != "attention":
        for child in node.children:
            yield from _outside_attention(child)


def _shown_first(node: ModuleNode) -> bool:
    attention = family_of(node) == "attention"
    return node.alias_of is None and (attention or not node.children) and family_of(node) in _WEIGHTED


def _spread(paths: list[str], most: int) -> list[str]:
    if len(paths) <= most:
        return paths
    last = len(paths) - 1
    return [paths[round(place * last / (most - 1))] for place in range(most)]
