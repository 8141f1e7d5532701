"""Targets for several variants of one input that run as one batch."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from hookviewer.leaves import mapped
from hookviewer.targets import Deferred, Target, class_score, dot, picked, top_class, top_classes, total, unit


@dataclasses.dataclass(frozen=True)
class Winners:
    """The scores of the classes that won in an earlier run: one of each sample, summed."""

    classes: tuple[int, ...]
    leaf: str = ""

    def __call__(self, output: Any) -> torch.Tensor:
        scores = picked(output, self.leaf)
        if scores.dim() < 2:
            return scores.reshape(-1)[self.classes[0]]
        rows = torch.arange(len(scores), device=scores.device)
        return scores[rows, torch.tensor(self.classes, device=scores.device)].sum()

    def __str__(self) -> str:
        return f"top class ({', '.join(map(str, self.classes))})"


def settled(target: Target, output: Any) -> Target:
    """Return the target with its class made sure of: a changed input must not change what is asked."""
    if isinstance(target, Deferred):
        target = target.resolved(output)
    if not isinstance(target, top_class):
        return target
    scores = picked(output, target.leaf)
    winners = [int(scores.argmax())] if scores.dim() < 2 else top_classes(scores).tolist()
    return Winners(tuple(winners), target.leaf)


def adds_up_samples(target: Target) -> bool:
    """Return whether the target is known to be a sum over the samples of a batch."""
    if isinstance(target, unit):
        return isinstance(target.index, int)
    return isinstance(target, (Winners, class_score, total, dot))


def of_sample(target: Target, sample: int, samples: int) -> Target:
    """Return the target for one sample alone of a batch."""
    if isinstance(target, Winners) and len(target.classes) == samples:
        return Winners(target.classes[sample : sample + 1], target.leaf)
    if isinstance(target, dot) and target.tensor.dim() and len(target.tensor) == samples:
        return dataclasses.replace(target, tensor=target.tensor[sample : sample + 1])
    return target


class Stacked:
    """The sum of a target over variants that make one batch; it keeps the value of each in `values`."""

    def __init__(self, target: Target, count: int) -> None:
        self.target = target
        self.count = count
        self.values: list[float] = []

    def __call__(self, output: Any) -> torch.Tensor:
        return summed(self.target, output, self.count, self.values)

    def __str__(self) -> str:
        return str(self.target)


@dataclasses.dataclass(frozen=True)
class StackedUnit(unit):
    """The same for a unit inside the model, whose value is taken while the model runs."""

    count: int = 1
    values: list[float] = dataclasses.field(default_factory=list, compare=False)

    def __call__(self, output: Any) -> torch.Tensor:
        return summed(super().__call__, output, self.count, self.values)


def stacked(target: Target, count: int) -> Stacked | StackedUnit:
    """Return the target for `count` variants in one batch."""
    if isinstance(target, unit):
        return StackedUnit(target.path, target.index, target.call, target.leaf, count=count)
    return Stacked(target, count)


def summed(target: Target, output: Any, count: int, values: list[float]) -> torch.Tensor:
    """Return the sum of `target` over the rows of `output`, and append each value to `values`."""
    each = [target(_row(output, index, count)) for index in range(count)]
    values += [float(value.detach()) for value in each]
    return torch.stack([value.reshape(()) for value in each]).sum()


def _row(output: Any, index: int, count: int) -> Any:
    if count == 1:
        return output
    return mapped(output, lambda tensor: tensor[index : index + 1] if _is_batch(tensor, count) else tensor)


def _is_batch(tensor: torch.Tensor, count: int) -> bool:
    return tensor.dim() > 0 and len(tensor) == count
