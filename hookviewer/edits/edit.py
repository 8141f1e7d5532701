"""One change of one tensor of a run, and how it is made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import torch

from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind

Operation = Callable[[torch.Tensor], torch.Tensor]
Index = int | list[int] | tuple[Any, ...] | slice | None


@runtime_checkable
class Placed(Protocol):
    """An operation whose values depend on which tensor it changes: it takes them from a recording."""

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        """Raise: what the tensor is must be known."""

    def at(self, key: Key) -> Operation:
        """Return the operation for the tensor that `key` means."""


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


def edited(tensor: torch.Tensor, edit: Edit, key: Key | None = None) -> torch.Tensor:
    """Return `tensor` as `edit` makes it: a new tensor like it, still in the graph.

    `key` is what the tensor is, for operations that take their values from a recording.
    """
    own = tensor.clone()
    if isinstance(edit.operation, Placed):
        whole = edit.operation.at(Key(edit.path, edit.kind) if key is None else key)
        return _joined_to(tensor, _within(own, edit, _checked(edit, whole(own.clone()), tensor)))
    if edit.index is None:
        return _joined_to(tensor, _checked(edit, edit.operation(own), tensor))
    place = _place(edit, tensor)
    region = _region(own, edit, place).clone()
    own[place] = _checked(edit, edit.operation(region), region)
    return own


def _within(own: torch.Tensor, edit: Edit, new: torch.Tensor) -> torch.Tensor:
    """Return `own` with the region of `edit` taken from `new`."""
    if edit.index is None:
        return new
    place = _place(edit, own)
    own[place] = _region(new, edit, place)
    return own


def _region(tensor: torch.Tensor, edit: Edit, place: Any) -> torch.Tensor:
    try:
        return tensor[place]
    except IndexError as error:
        raise HookViewerError(
            f"The index of the edit of {edit.path or 'the model'} does not fit {list(tensor.shape)}: {error}."
        ) from None


def same(new: torch.Tensor, old: torch.Tensor) -> bool:
    """Return whether two tensors of one shape hold the same values, NaN counting as itself."""
    if new.layout is not torch.strided or new.is_nested or new.is_quantized:
        return False
    if new.dtype.is_floating_point and new.dtype.itemsize == 1:  # fp8 cannot be compared
        new, old = new.float(), old.float()
    return bool(((new == old) | ((new != new) & (old != old))).all())


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
