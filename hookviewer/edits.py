"""Interventions: what a run changes on purpose, out of place and for that run only."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from hookviewer.errors import HookViewerError
from hookviewer.kinds import Kind

Operation = Callable[[torch.Tensor], torch.Tensor]
Index = int | list[int] | tuple[Any, ...] | slice | None

EDITABLE = frozenset({Kind.INPUT, Kind.OUTPUT, Kind.GRAD_OUTPUT, Kind.GRAD_INPUT, Kind.PARAM_GRAD})


@dataclasses.dataclass(frozen=True, eq=False)
class Edit:
    """A change of one tensor of the forward or backward pass; several on one tensor apply in the order given.

    `kind` `INPUT` changes what goes into the module, `OUTPUT` what comes out; `GRAD_OUTPUT` the gradient at
    the output (so this module's weight gradients change too), `GRAD_INPUT` only what flows further back,
    `PARAM_GRAD` the gradient of a parameter. `call` and `leaf` of `None` mean all of them. `index`: an int or
    a list are channels (axis 1, or 0 of a vector or a parameter), a tuple of slices is any region. A callable
    `operation` gets its own copy of the region and returns one of the same shape.
    """

    path: str
    operation: Operation
    kind: Kind = Kind.OUTPUT
    call: int | None = None
    leaf: str | None = None
    index: Index = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", Kind(self.kind))
        if self.kind not in EDITABLE:
            names = ", ".join(sorted(EDITABLE))
            raise HookViewerError(f"A tensor of kind {self.kind} cannot be edited: choose one of {names}.")
        if not callable(self.operation):
            raise HookViewerError(
                "An edit needs an operation: zero(), scale(f), or a function tensor → tensor."
            )

    def __str__(self) -> str:
        where = "" if self.index is None else f"[{self.index}]"
        call = "" if self.call is None else f" call {self.call}"
        name = getattr(self.operation, "__name__", None) or str(self.operation)
        return f"{name} on {self.kind} of {self.path or 'the model'}{self.leaf or ''}{where}{call}"

    def meets(self, call: int, leaf: str) -> bool:
        """Return whether this edit is for that call and leaf."""
        return self.call in (None, call) and self.leaf in (None, leaf)


def edited(tensor: torch.Tensor, edit: Edit) -> torch.Tensor:
    """Return `tensor` as `edit` makes it: a new tensor like it, still in the graph."""
    own = tensor.clone()
    if edit.index is None:
        return _joined_to(tensor, _checked(edit, edit.operation(own), tensor))
    place = _place(edit, tensor)
    try:
        region = own[place].clone()
    except IndexError as error:
        raise HookViewerError(
            f"The index of the edit of {edit.path or 'the model'} does not fit {list(tensor.shape)}: {error}."
        ) from None
    own[place] = _checked(edit, edit.operation(region), region)
    return own


def _place(edit: Edit, tensor: torch.Tensor) -> Any:
    if isinstance(edit.index, (int, list)) and tensor.dim() > 1 and edit.kind is not Kind.PARAM_GRAD:
        return (slice(None), edit.index)
    return edit.index


def _checked(edit: Edit, new: Any, old: torch.Tensor) -> torch.Tensor:
    if not isinstance(new, torch.Tensor):
        raise HookViewerError(
            f"The edit of {edit.path or 'the model'} returned {type(new).__name__}: it must return a tensor."
        )
    if (new.shape, new.dtype, new.device) == (old.shape, old.dtype, old.device):
        return new
    raise HookViewerError(
        f"The edit of {edit.path or 'the model'} returned {list(new.shape)} {new.dtype} on {new.device}: "
        f"it must return {list(old.shape)} {old.dtype} on {old.device}."
    )


def _joined_to(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """Return `new`, in the graph where `old` was: a constant then gets a gradient, and passes zeros on."""
    if new.requires_grad or not (old.requires_grad and torch.is_grad_enabled()):
        return new
    always = torch.ones((), dtype=torch.bool, device=old.device)
    return torch.where(always, new, old)


@dataclasses.dataclass(frozen=True)
class zero:  # noqa: N801 - reads as a verb in Edit("layer4", zero())
    """Set everything to zero."""

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(tensor)

    def __str__(self) -> str:
        return "zero()"


@dataclasses.dataclass(frozen=True)
class scale:  # noqa: N801
    """Multiply by `factor`."""

    factor: float

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor * self.factor

    def __str__(self) -> str:
        return f"scale({self.factor:g})"


@dataclasses.dataclass(frozen=True, eq=False)
class add:  # noqa: N801
    """Add a number, or a tensor that broadcasts."""

    value: float | torch.Tensor

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor + _beside(self.value, tensor)

    def __str__(self) -> str:
        return f"add({_brief(self.value)})"


@dataclasses.dataclass(frozen=True)
class clamp:  # noqa: N801
    """Limit to `low` … `high`; `None` leaves a side open."""

    low: float | None = None
    high: float | None = None

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clamp(self.low, self.high)

    def __str__(self) -> str:
        return f"clamp({self.low}, {self.high})"


@dataclasses.dataclass(frozen=True, eq=False)
class replace:  # noqa: N801
    """Put another tensor (or number) in its place; it broadcasts, and takes dtype and device from there."""

    tensor: float | torch.Tensor

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        new = torch.as_tensor(_beside(self.tensor, tensor), dtype=tensor.dtype, device=tensor.device)
        try:
            return new.detach().expand_as(tensor).clone()
        except RuntimeError:
            raise HookViewerError(
                f"A tensor {list(new.shape)} cannot replace one of {list(tensor.shape)}: give it that shape."
            ) from None

    def __str__(self) -> str:
        return f"replace({_brief(self.tensor)})"


def _beside(value: float | torch.Tensor, tensor: torch.Tensor) -> float | torch.Tensor:
    return value.to(tensor) if isinstance(value, torch.Tensor) else value


def _brief(value: float | torch.Tensor) -> str:
    return f"tensor {list(value.shape)}" if isinstance(value, torch.Tensor) else f"{value:g}"
