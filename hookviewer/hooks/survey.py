"""A look at the autograd graph before the backward pass."""

from __future__ import annotations

from typing import NamedTuple

from torch.autograd.graph import Node


class Survey(NamedTuple):
    """`reached`: all nodes behind the target. `frontier`: wanted ones with no other wanted one behind."""

    reached: set[Node]
    frontier: set[Node]
    reentrant: bool
    """Whether a block is checkpointed with `use_reentrant=True`: such a graph allows `.backward()` only."""


def survey(start: Node, wanted: set[Node]) -> Survey:
    """Walk the graph from `start`."""
    consumers: dict[Node, list[Node]] = {start: []}
    reentrant = False
    todo = [start]
    while todo:
        node = todo.pop()
        reentrant = reentrant or node.name().endswith("CheckpointFunctionBackward")
        for following, _ in node.next_functions:
            if following is None:
                continue
            if following not in consumers:
                consumers[following] = []
                todo.append(following)
            consumers[following].append(node)
    reached = set(consumers)
    return Survey(reached, (wanted & reached) - _leading_to(wanted & reached, consumers), reentrant)


def _leading_to(nodes: set[Node], consumers: dict[Node, list[Node]]) -> set[Node]:
    """Return all nodes that have one of `nodes` behind them."""
    leading: set[Node] = set()
    todo = list(nodes)
    while todo:
        for consumer in consumers[todo.pop()]:
            if consumer not in leading:
                leading.add(consumer)
                todo.append(consumer)
    return leading
