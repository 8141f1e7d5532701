"""Walking torch's graph from a layer back to the picture, and the field of every tensor on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch.autograd.graph import Node

from hookviewer import torch_private
from hookviewer.receptive import rules
from hookviewer.receptive.field import Field
from hookviewer.receptive.rules import SPREAD, Known, UnknownError


class Uncomputed(NamedTuple):
    """An operation on the way whose geometry is not known: `name` is torch's for it."""

    name: str


class Walk:
    """Finds fields, each operation of the graph once."""

    def __init__(self, picture: Node, field: Field) -> None:
        self._found: dict[Node, Known | Uncomputed] = {picture: field}

    def field_of(self, node: Node | None) -> Field | Uncomputed | None:
        """Return the field of what `node` made; None where nothing of the picture comes in.

        `Uncomputed` where the cells see what no rule tells.
        """
        if node is None:
            return None
        found = self._walked(node)
        return Uncomputed("every place") if found is SPREAD else found

    def _walked(self, start: Node) -> Any:
        todo = [start]
        while todo:
            node = todo[-1]
            if node in self._found:
                todo.pop()
                continue
            before = [one for one, _ in node.next_functions if one is not None]
            missing = [one for one in before if one not in self._found]
            todo.extend(missing)
            if not missing:
                self._found[node] = self._made(node)
        return self._found[start]

    def _made(self, node: Node) -> Known | Uncomputed:
        given = [None if one is None else self._found[one] for one, _ in node.next_functions]
        lost = next((one for one in given if isinstance(one, Uncomputed)), None)
        if lost is not None:
            return lost
        return _ruled(node, [one for one in given if not isinstance(one, Uncomputed)])


def _ruled(node: Node, given: Sequence[Known]) -> Known | Uncomputed:
    known = [one for one in given if one is not None]
    if not known:
        return None
    if all(one is SPREAD for one in known):
        return SPREAD
    name = torch_private.operation(node)
    try:
        return rules.field(name, node, given, torch_private.made_shape(node))
    except UnknownError:
        return Uncomputed(name)
