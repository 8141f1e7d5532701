"""What happens to the inputs of a call before the module runs."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge

from hookviewer import torch_private
from hookviewer.edits import Edit
from hookviewer.hooks.calls import Frame, Leaves, Lent, shapes
from hookviewer.hooks.gradients import Gradients
from hookviewer.hooks.request import Wanted
from hookviewer.hooks.state import State, applying
from hookviewer.kinds import Key, Kind
from hookviewer.leaves import input_leaves, lend

ALL_USES = "The gradient counts all uses of this tensor, also those outside of the module."
SEVERAL = "The module got this very tensor in several places: the gradient counts all of them."

Inputs = tuple[tuple[Any, ...], dict[str, Any]]


def entered(state: State, frame: Frame, wanted: Wanted, inputs: Inputs) -> Inputs | None:
    """Record what goes into a call; return other inputs where edits or gradients need them."""
    changed = None if wanted.simple else edited_inputs(state, frame, wanted, inputs)
    found = input_leaves(*(changed or inputs))
    frame.input_leaves = tuple([leaf for leaf, _ in found])
    frame.input_shapes = shapes(found)
    frame.begins = state.overwrites.count
    if wanted.simple:
        return None
    if Kind.INPUT in wanted.kinds:
        state.record(frame, Kind.INPUT, found)
    frame.begins = state.overwrites.count
    frame.inputs = found
    frame.versions = [(tensor, torch_private.version(tensor)) for _, tensor in found]
    if state.gradients is None:
        return changed
    if Kind.GRAD_INPUT_TOTAL in wanted.kinds:
        _watch_totals(state, state.gradients, frame, found)
    if wanted.has(Kind.GRAD_INPUT):
        aliases = _watch_inputs(state, state.gradients, frame, wanted, found)
        if aliases:
            return _lent_inputs(changed or inputs, aliases, frame)
    return changed


def edited_inputs(state: State, frame: Frame, wanted: Wanted, inputs: Inputs) -> Inputs | None:
    """Return the inputs as the edits make them, or `None` where there are none."""
    edits = wanted.edits_of(Kind.INPUT)
    new = state.edited(frame, Kind.INPUT, edits, input_leaves(*inputs)) if edits else {}
    return _lent_inputs(inputs, new, frame) if new else None


def _lent_inputs(inputs: Inputs, new: dict[int, torch.Tensor], frame: Frame) -> Inputs:
    args, kwargs = inputs
    return lend(args, new, frame.loans), lend(kwargs, new, frame.loans)


def _watch_totals(state: State, gradients: Gradients, frame: Frame, found: Leaves) -> None:
    for leaf, tensor in found:
        key = Key(frame.path, Kind.GRAD_INPUT_TOTAL, frame.number, leaf)
        if state.differentiable(key, tensor):
            own, beside = state.original(tensor)
            origin = state.origin(frame, tensor)
            gradients.watch(key, own if origin is None else origin, beside=beside)


def _watch_inputs(
    state: State, gradients: Gradients, frame: Frame, wanted: Wanted, found: Leaves
) -> dict[int, torch.Tensor]:
    """Give the module an alias of each input, whose gradient is that through this module alone."""
    lent: dict[int, Lent] = {}
    for leaf, tensor in found:
        key = Key(frame.path, Kind.GRAD_INPUT, frame.number, leaf)
        if not state.differentiable(key, tensor):
            continue
        edits = applying(wanted.edits_of(Kind.GRAD_INPUT), frame, leaf, tensor)
        origin = state.origin(frame, tensor)
        if origin is not None or not can_alias(tensor):
            _watch(gradients, wanted, key, tensor if origin is None else origin, edits)
            gradients.notes[key] = () if origin is not None else (ALL_USES,)
            continue
        if id(tensor) not in lent:
            lent[id(tensor)] = _lent(tensor)
        loan = lent[id(tensor)]
        _watch(gradients, wanted, key, loan.alias, [edit for edit in edits if edit not in loan.edits])
        loan.edits += edits
        loan.keys.append(key)
    for loan in lent.values():
        if len(loan.keys) > 1:
            gradients.notes.update({key: (SEVERAL,) for key in loan.keys})
    frame.lent = list(lent.values())
    return {place: loan.alias for place, loan in lent.items()}


def _watch(gradients: Gradients, wanted: Wanted, key: Key, tensor: torch.Tensor, edits: list[Edit]) -> None:
    if key.kind in wanted.kinds:
        gradients.watch_object(key, tensor, edits)
    else:
        gradients.edit(key, tensor, edits)


def can_alias(tensor: torch.Tensor) -> bool:
    """Return whether a second object for the same memory behaves exactly as `tensor` does."""
    return (
        type(tensor) in (torch.Tensor, nn.Parameter)
        and tensor.layout is torch.strided
        and not tensor.is_nested
    )


def _lent(tensor: torch.Tensor) -> Lent:
    alias = torch_private.alias(tensor)
    base = torch_private.base_of(alias)
    edge = get_gradient_edge(base) if base is not None and base.requires_grad else None
    return Lent(alias, tensor, torch_private.version(alias), edge)
