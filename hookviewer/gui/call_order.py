"""What a run did, in one list: every call of a module or function, in the order in which they began. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hookviewer.modules import ModuleNode
from hookviewer.recording import Recording


class Row(NamedTuple):
    """A row of the list: the call of this number of a module or function; None where it was not called."""

    node: ModuleNode
    call: int | None = None


def in_order(tree: ModuleNode, recording: Recording | None) -> tuple[Row, ...]:
    """Return a row per call below the model itself, in order of start; last what was not called.

    Calls whose rows `tree` leaves out are left out here, too.
    """
    nodes = {node.path: node for node in tree.walk() if node.alias_of is None}
    calls = recording.in_order() if recording is not None else ()
    made = tuple(Row(nodes[call.path], call.number) for call in calls if call.path and call.path in nodes)
    called = {row.node.path for row in made}
    return (*made, *_uncalled(tree, called))


def _uncalled(tree: ModuleNode, called: set[str]) -> Iterator[Row]:
    for node in tree.walk():
        if node.path and node.alias_of is None and node.path not in called:
            yield Row(node)
