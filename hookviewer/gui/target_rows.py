"""The entries of a tensor of the last run's output, to pick a target from. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import torch

from hookviewer.gui.numbers import number
from hookviewer.gui.target_names import class_name
from hookviewer.leaves import leaves

MOST = 1000
"""Rows that are listed; further entries are reached by writing their index."""
_SIBLINGS = ("labels", "boxes")


@dataclasses.dataclass(frozen=True)
class Row:
    """One entry: the index that picks it, what it is called, and its value in words."""

    place: tuple[int, ...]
    name: str
    value: str


def rows(output: Any, leaf: str, names: Sequence[str]) -> tuple[Row, ...]:
    """Return entries of `output` at `leaf`: detections with their class and box, classes, or channels.

    Of a tensor with more than two axes an entry is a channel, summed. At most `MOST` are given.
    """
    found = dict(leaves(output))
    tensor = found[leaf].detach()
    if tensor.ndim < 2:
        beside = _beside(found, leaf, len(tensor) if tensor.ndim else 0)
        return tuple(islice(_vector(tensor, beside, names), MOST))
    return tuple(islice(_matrix(tensor, names), MOST))


def _beside(found: Mapping[str, torch.Tensor], leaf: str, count: int) -> dict[str, torch.Tensor]:
    """Return labels and boxes that belong to the entries of a tensor, by their name."""
    place = leaf.rpartition("[")[0]
    beside = {name: found.get(f"{place}[{name!r}]") for name in _SIBLINGS}
    return {name: one for name, one in beside.items() if one is not None and len(one) == count}


def _vector(tensor: torch.Tensor, beside: Mapping[str, torch.Tensor], names: Sequence[str]) -> Iterator[Row]:
    if not tensor.ndim:
        yield Row((), "", number(float(tensor)))
        return
    classes = names if len(names) == len(tensor) and not beside else ()
    for place, value in enumerate(tensor.tolist()):
        said = [class_name(place, classes)] if classes else []
        if "labels" in beside:
            said.append(class_name(int(beside["labels"][place]), names))
        if "boxes" in beside:
            said.append(_box(beside["boxes"][place]))
        yield Row((place,), "  ".join(said), number(value))


def _box(box: torch.Tensor) -> str:
    left, top, right, bottom = (round(float(one)) for one in box[:4])
    return f"({left}, {top}) to ({right}, {bottom})"


def _matrix(tensor: torch.Tensor, names: Sequence[str]) -> Iterator[Row]:
    summed = tensor.flatten(2).sum(2) if tensor.ndim > 2 else tensor
    classes = names if len(names) == summed.shape[1] else ()
    for sample, values in enumerate(summed.tolist()):
        for place, value in enumerate(values):
            yield Row((sample, place), class_name(place, classes) if classes else "", number(value))
