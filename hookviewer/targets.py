"""The one number that a gradient starts from, as a function of what the model returned."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional

from hookviewer.errors import HookViewerError
from hookviewer.leaves import leaves

Target = Callable[[Any], torch.Tensor]
"""What the model returned → a tensor of one element."""

LOSSES = (
    "cross_entropy",
    "nll_loss",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
)
OF_CLASSES = ("cross_entropy", "nll_loss")
"""Losses whose label is a class."""


class Deferred(ABC):
    """A target that is known only once the output is there.

    One that gives way leaves a run without gradients where it cannot be had; others end the run by an error.
    """

    gives_way = False

    @abstractmethod
    def resolved(self, output: Any) -> Target:
        """Return the target for this output."""

    def __call__(self, output: Any) -> torch.Tensor:
        return self.resolved(output)(output)


def picked(output: Any, leaf: str = "") -> torch.Tensor:
    """Return the tensor of `output` at `leaf`; without a leaf the only floating point tensor there is."""
    found = dict(leaves(output))
    if leaf in found:
        return found[leaf]
    floats = {place: tensor for place, tensor in found.items() if tensor.is_floating_point()}
    if leaf == "" and len(floats) == 1:
        return next(iter(floats.values()))
    if list(floats) == [""]:
        raise HookViewerError(f"The model's output is one tensor, with nothing at {leaf!r}: leave that away.")
    names = ", ".join(repr(place) for place in floats) or "none with floating point numbers"
    asked = f"has no tensor at {leaf!r}" if leaf else "holds several tensors"
    raise HookViewerError(f"The model's output {asked}: choose leaf= from {names}.")


@dataclasses.dataclass(frozen=True)
class class_score:  # noqa: N801 - reads as a function: target=class_score(285)
    """The score of one class: axis 1 (axis 0 of a vector), summed over all other axes."""

    index: int
    leaf: str = ""

    def __call__(self, output: Any) -> torch.Tensor:
        scores = picked(output, self.leaf)
        axis = _class_axis(scores)
        if not -scores.shape[axis] <= self.index < scores.shape[axis]:
            raise HookViewerError(
                f"There is no class {self.index}: choose one of 0 to {scores.shape[axis] - 1}, "
                f"the output has the shape {list(scores.shape)}."
            )
        return scores.select(axis, self.index).sum()

    def __str__(self) -> str:
        return f"class {self.index}{_at(self.leaf)}"


@dataclasses.dataclass(frozen=True)
class top_class:  # noqa: N801
    """The highest score, each sample's own; of score maps the class with the highest mean."""

    leaf: str = ""

    def __call__(self, output: Any) -> torch.Tensor:
        scores = picked(output, self.leaf)
        if not scores.numel():
            raise HookViewerError(
                f"The output {list(scores.shape)}{_at(self.leaf)} is empty, nothing was found: "
                "choose another input, or another target."
            )
        if scores.dim() < 2:
            return scores.reshape(-1).max()
        winners = top_classes(scores)
        return scores[torch.arange(len(scores), device=scores.device), winners].sum()

    def __str__(self) -> str:
        return f"top class{_at(self.leaf)}"


def top_classes(scores: torch.Tensor) -> torch.Tensor:
    """Return the winning class of each sample of `scores` [N, C, …]."""
    return scores.detach().flatten(2).mean(2).argmax(1) if scores.dim() > 2 else scores.detach().argmax(1)


@dataclasses.dataclass(frozen=True)
class total:  # noqa: N801
    """The sum of all elements."""

    leaf: str = ""

    def __call__(self, output: Any) -> torch.Tensor:
        return picked(output, self.leaf).sum()

    def __str__(self) -> str:
        return f"sum{_at(self.leaf)}"


@dataclasses.dataclass(frozen=True, eq=False)
class dot:  # noqa: N801
    """The sum of all elements, each weighted by `tensor`."""

    tensor: torch.Tensor
    leaf: str = ""

    def __call__(self, output: Any) -> torch.Tensor:
        value = picked(output, self.leaf)
        try:
            return (value * self.tensor.detach().to(value).expand_as(value)).sum()
        except RuntimeError:
            raise HookViewerError(
                f"The tensor of dot() is {list(self.tensor.shape)}, the output {list(value.shape)}: "
                "give it the output's shape."
            ) from None

    def __str__(self) -> str:
        return f"dot with tensor {list(self.tensor.shape)}{_at(self.leaf)}"


@dataclasses.dataclass(frozen=True)
class element:  # noqa: N801
    """One number of the output; axes that `index` leaves out, or for which it has None, are summed."""

    index: tuple[int | None, ...]
    leaf: str = ""

    def __call__(self, output: Any) -> torch.Tensor:
        value = picked(output, self.leaf)
        try:
            return value[as_index(self.index)].sum()
        except IndexError:
            where = f"out{self.leaf}" if self.leaf else "the output"
            raise HookViewerError(
                f"[{index_words(self.index)}] is not in {where}, which is {list(value.shape)} in this run: "
                "choose an index inside of it."
            ) from None

    def __str__(self) -> str:
        return f"out{self.leaf}[{index_words(self.index)}]"


def as_index(place: Sequence[int | None]) -> tuple[int | slice, ...]:
    """Return a place as an index of a tensor: None stands for a whole axis."""
    return tuple(slice(None) if one is None else one for one in place)


def index_words(place: Any) -> str:
    """Return an index as text: `0,37,:,:`."""
    parts = place if isinstance(place, Sequence) else (place,)
    return ",".join(":" if one is None or one == slice(None) else str(one) for one in parts)


@dataclasses.dataclass(frozen=True)
class unit:  # noqa: N801
    """One unit inside the model: `index` is a channel (summed over the rest) or a tuple into the tensor.

    The number is taken at the moment the module returns, so that later in-place operations do not reach it.
    """

    path: str
    index: int | tuple[Any, ...]
    call: int = 0
    leaf: str = ""

    def __call__(self, output: Any) -> torch.Tensor:
        value = picked(output, self.leaf)
        place = (slice(None), self.index) if isinstance(self.index, int) and value.dim() > 1 else self.index
        try:
            return value[place].sum()
        except IndexError as error:
            raise HookViewerError(
                f"The index {index_words(self.index)} does not fit {self.path or 'the output'} "
                f"{list(value.shape)}: {error}."
            ) from None

    def __str__(self) -> str:
        call = f"@{self.call}" if self.call or self.leaf else ""
        return f"unit:{self.path}{call}{self.leaf}:{index_words(self.index)}"


@dataclasses.dataclass(frozen=True, eq=False)
class loss:  # noqa: N801
    """A loss of torch by its name (see `LOSSES`) against `label`: a class, classes, or a tensor of values."""

    name: str
    label: int | float | Sequence[int] | torch.Tensor
    leaf: str = ""

    def __post_init__(self) -> None:
        if self.name not in LOSSES:
            raise HookViewerError(f"There is no loss {self.name!r}: choose one of {', '.join(LOSSES)}.")

    def __call__(self, output: Any) -> torch.Tensor:
        value = picked(output, self.leaf)
        label = torch.as_tensor(self.label, device=value.device)
        of_classes = self.name in OF_CLASSES
        label = _class_label(label, value) if of_classes else label.to(value.dtype)
        try:
            label = label if of_classes else label.expand_as(value)
            result: torch.Tensor = getattr(functional, self.name)(value, label)
        except (RuntimeError, IndexError, ValueError) as error:
            raise HookViewerError(
                f"The label {self._label()} does not suit the output {list(value.shape)}{_at(self.leaf)}: "
                f"{error}."
            ) from None
        return result

    def __str__(self) -> str:
        return f"loss:{self.name}:{self._label()}{_at(self.leaf)}"

    def _label(self) -> str:
        label = self.label
        if isinstance(label, torch.Tensor):
            label = label.tolist() if label.dim() == 1 and len(label) < 9 else list(label.shape)
        return ",".join(f"{one:g}" for one in label) if isinstance(label, Sequence) else f"{label:g}"


def described(target: Target | None, output: Any) -> str:
    """Return the target in words; for the top class, which one it was."""
    if target is None:
        return ""
    if isinstance(target, Deferred):
        target = target.resolved(output)
    if not isinstance(target, top_class):
        return getattr(target, "__name__", None) or str(target)
    scores = picked(output, target.leaf)
    winners = top_classes(scores).tolist() if scores.dim() > 1 else [int(scores.argmax())]
    return f"{target} ({', '.join(map(str, winners))})"


def _class_axis(scores: torch.Tensor) -> int:
    if scores.dim() == 0:
        raise HookViewerError("The output is a single number: use total() as the target.")
    return min(1, scores.dim() - 1)


def _class_label(label: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Return a label that fits `value`: one class counts for every sample and place."""
    if label.is_floating_point() or label.dim() > 0 or value.dim() < 2:
        return label
    return label.expand(value.shape[:1] + value.shape[2:])


def _at(leaf: str) -> str:
    return f" of {leaf}" if leaf else ""
