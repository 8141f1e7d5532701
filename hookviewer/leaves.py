"""The tensors inside any value that a module takes or returns, each with its place (its leaf)."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

MAXIMUM_LEAVES = 4096
MAXIMUM_DEPTH = 12
"""Values nested deeper are not searched: they are programs' own graphs of objects, not outputs."""

_OPAQUE = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type,
    nn.Module,
    np.ndarray,
    np.generic,
    torch.Size,
    types.FunctionType,
    types.MethodType,
    types.ModuleType,
    types.GeneratorType,
)


def leaves(value: object, prefix: str = "") -> list[tuple[str, torch.Tensor]]:
    """Return (leaf, tensor) for every tensor in `value`, at most `MAXIMUM_LEAVES`.

    Sequences give `[0]`, mappings `['logits']`, named tuples, dataclasses and objects `.data`; nested
    ones join.
    """
    if isinstance(value, torch.Tensor):
        return [(prefix, value)]
    if type(value) is tuple and len(value) == 1 and isinstance(value[0], torch.Tensor):
        return [(f"{prefix}[0]", value[0])]
    return list(itertools.islice(_walk(value, prefix, ()), MAXIMUM_LEAVES))


def input_leaves(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[tuple[str, torch.Tensor]]:
    """Return (leaf, tensor) for the inputs of a call: `[0]`, `[0][1]` positional, `['mask']` keyword."""
    return leaves(args) + leaves(kwargs) if kwargs else leaves(args)


def _walk(value: object, place: str, above: tuple[int, ...]) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield place, value
    elif id(value) not in above and len(above) <= MAXIMUM_DEPTH:
        for name, child in _children(value):
            yield from _walk(child, place + name, (*above, id(value)))


def _children(value: object) -> list[tuple[str, Any]]:
    if isinstance(value, _OPAQUE):
        return []
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", getattr(value, name)) for name in value._fields]
    if isinstance(value, (tuple, list, deque)):
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    return [(f".{name}", getattr(value, name, None)) for name in _attributes(value)]


def _attributes(value: object) -> list[str]:
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    return list(getattr(value, "__dict__", ()))


Change = Callable[[torch.Tensor], torch.Tensor]


def mapped(value: Any, change: Change, depth: int = 0) -> Any:
    """Return `value` with `change` applied to its tensors; containers that change are copies."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if depth > MAXIMUM_DEPTH or isinstance(value, _OPAQUE):
        return value
    if isinstance(value, tuple):
        return _rebuilt(value, [mapped(item, change, depth + 1) for item in value])
    slots = _slots(value)
    new = {place: mapped(item, change, depth + 1) for place, item in slots.items()}
    if all(new[place] is item for place, item in slots.items()):
        return value
    twin = copy.copy(value)
    for place, item in new.items():
        _put(twin, place, item)
    return twin


def replaced(value: Any, new: Mapping[int, torch.Tensor]) -> Any:
    """Return `value` with the tensors whose `id` is in `new` replaced; containers that change are copies."""
    return mapped(value, lambda tensor: new.get(id(tensor), tensor))


class Loan(NamedTuple):
    """A tensor lent in the place of another, inside a container that belongs to the model."""

    container: Any
    place: Any
    own: torch.Tensor
    lent: torch.Tensor


def lend(value: Any, new: Mapping[int, torch.Tensor], loans: list[Loan], depth: int = 0) -> Any:
    """Return `value` with tensors replaced, lists and other mutable containers being changed in place.

    A module may append to a list that it is given, so it must get the list itself. `loans` collects what
    `take_back` needs to put the containers right again.
    """
    if isinstance(value, torch.Tensor):
        return new.get(id(value), value)
    if depth > MAXIMUM_DEPTH or isinstance(value, _OPAQUE):
        return value
    if isinstance(value, tuple):
        return _rebuilt(value, [lend(item, new, loans, depth + 1) for item in value])
    for place, item in _slots(value).items():
        other = lend(item, new, loans, depth + 1)
        if other is not item:
            _put(value, place, other)
            loans.append(Loan(value, place, item, other))
    return value


def take_back(loans: list[Loan]) -> None:
    """Put the model's own tensors back where a loan is still in place."""
    for container, place, own, lent in reversed(loans):
        if _slots(container).get(place) is lent:
            _put(container, place, own)
    loans.clear()


def _rebuilt(value: tuple[Any, ...], items: list[Any]) -> tuple[Any, ...]:
    if all(new is old for new, old in zip(items, value, strict=True)):
        return value
    if hasattr(value, "_fields"):
        return type(value)(*items)
    return type(value)(items)


def _slots(value: Any) -> dict[Any, Any]:
    """Return the places of a mutable container and what is in them."""
    if isinstance(value, MutableMapping):
        return dict(value)
    if isinstance(value, (list, deque)):
        return dict(enumerate(value))
    if isinstance(value, Mapping):
        return {}
    return {name: getattr(value, name, None) for name in _attributes(value)}


def _put(container: Any, place: Any, item: Any) -> None:
    if isinstance(container, (MutableMapping, list, deque)):
        container[place] = item
    else:
        object.__setattr__(container, place, item)
