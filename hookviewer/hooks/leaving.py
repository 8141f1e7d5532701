"""What happens to the output of a call after the module has run."""

from __future__ import annotations

from typing import Any

import torch

from hookviewer import torch_private
from hookviewer.hooks.calls import Frame, Leaves, Lent, shapes
from hookviewer.hooks.gradients import Geometry, Gradients
from hookviewer.hooks.request import Wanted
from hookviewer.hooks.state import State, applying
from hookviewer.kinds import Key, Kind
from hookviewer.leaves import MAXIMUM_LEAVES, leaves, mapped, replaced, take_back
from hookviewer.targets import unit

IN_PLACE = "The module overwrites its input in place: this is the gradient of the values that went in."
PASSED_ON = "The module returns its input itself: the gradient counts all uses of this tensor."


def left(state: State, frame: Frame, wanted: Wanted, output: Any) -> Any:
    """Record what comes out of a call; return another output only where edits or gradients need it."""
    state.overwrites.check(frame.path, frame.begins)
    if state.starts_gradients or not wanted.simple:
        output = _changed_output(state, frame, wanted, output)
    found = leaves(output)
    frame.output_leaves = tuple([leaf for leaf, _ in found])
    frame.output_shapes = shapes(found)
    if len(found) == MAXIMUM_LEAVES:
        state.journal.note(
            f"Only the first {MAXIMUM_LEAVES} tensors of the output of {frame.path!r} are listed."
        )
    if state.request.unit is not None:
        _take_unit(state, frame, state.request.unit, output)
    if Kind.OUTPUT in wanted.kinds:
        state.record(frame, Kind.OUTPUT, found)
    if state.gradients is not None and wanted.has(Kind.GRAD_OUTPUT):
        _watch_outputs(state, state.gradients, frame, wanted, found)
    return output


def _changed_output(state: State, frame: Frame, wanted: Wanted, output: Any) -> Any:
    take_back(frame.loans)
    output = _handed_back(state, frame, output)
    if state.starts_gradients and frame.module is not None and torch.is_grad_enabled():
        output = mapped(output, _started)
    return edited_output(state, frame, wanted, output)


def edited_output(state: State, frame: Frame, wanted: Wanted, output: Any) -> Any:
    """Return the output as the edits make it."""
    edits = wanted.edits_of(Kind.OUTPUT)
    if not edits:
        return output
    found = leaves(output)
    written = {id(given) for given, version in frame.versions if torch_private.version(given) != version}
    if any(id(tensor) in written for _, tensor in found):
        state.journal.note(
            f"{frame.path or 'The model'} works in place: where the model ignores what it returns, "
            "an edit of its output has no effect."
        )
    return replaced(output, state.edited(frame, Kind.OUTPUT, edits, found))


def _handed_back(state: State, frame: Frame, output: Any) -> Any:
    """Give the model its own tensor where the module returns an alias; settle the gradients of inputs."""
    if not frame.lent or state.gradients is None:
        return output
    returned = {id(tensor) for _, tensor in leaves(output)}
    for loan in frame.lent:
        if loan.written:
            _overwritten_input(state.gradients, loan)
        elif id(loan.alias) in returned:
            for key in loan.keys:
                state.gradients.watch_total(key, state.original(loan.original)[0], PASSED_ON)
    state.keep_strays(frame)
    return replaced(output, {id(loan.alias): loan.original for loan in frame.lent})


def _overwritten_input(gradients: Gradients, loan: Lent) -> None:
    base = torch_private.base_of(loan.alias)
    if base is None or loan.base_edge is None:
        return
    for key in loan.keys:
        gradients.through_overwrite(key, base, loan.base_edge, Geometry.of(loan.alias, base), IN_PLACE)


def _started(tensor: torch.Tensor) -> torch.Tensor:
    """Return `tensor` as the start of a graph; not a leaf, so that the model may change it in place."""
    if tensor.requires_grad or not tensor.is_floating_point():
        return tensor
    return tensor.detach().requires_grad_().clone()


def _take_unit(state: State, frame: Frame, unit: unit, output: Any) -> None:
    if (unit.path, unit.call) == (frame.path, frame.number):
        state.unit_value = unit(output)
        state.unit_started = len(state.calls.frames)
        around = {(one.path, one.number) for one in state.calls.stack if one is not frame}
        state.unit_around = frozenset(around)


def _watch_outputs(state: State, gradients: Gradients, frame: Frame, wanted: Wanted, found: Leaves) -> None:
    if not torch.is_grad_enabled():
        frame.fingerprint = fingerprint(found)
    for leaf, tensor in found:
        key = Key(frame.path, Kind.GRAD_OUTPUT, frame.number, leaf)
        if not state.differentiable(key, tensor):
            continue
        edits = applying(wanted.edits_of(Kind.GRAD_OUTPUT), frame, leaf, tensor)
        original, beside = state.original(tensor)
        if Kind.GRAD_OUTPUT not in wanted.kinds:
            gradients.edit(key, original, edits)
        elif _changed_inside(frame, tensor):
            gradients.watch_memory(key, original, edits)
        else:
            gradients.watch(key, original, edits, beside)


def _changed_inside(frame: Frame, tensor: torch.Tensor) -> bool:
    """Return whether the memory of `tensor` was given to the module, which has written into it."""
    memory = torch_private.root(tensor)
    return any(
        torch_private.root(given) is memory and torch_private.version(given) != version
        for given, version in frame.versions
    )


def fingerprint(found: Leaves) -> tuple[object, ...]:
    """Return what tells one call from another when a checkpointed block runs again."""
    return tuple((leaf, tuple(tensor.shape), _sum(tensor)) for leaf, tensor in found)


def _sum(tensor: torch.Tensor) -> float:
    return float(tensor.detach().double().abs().sum()) if tensor.is_floating_point() else 0.0


def repeated(state: State, frame: Frame, wanted: Wanted, output: Any) -> Any:
    """In the second run of a checkpointed block: make the same edits, and watch what has no graph otherwise.

    With `use_reentrant=True` the first run is made without a graph, and the gradients flow in the second.
    """
    take_back(frame.loans)
    output = edited_output(state, frame, wanted, output)
    if state.gradients is None or Kind.GRAD_OUTPUT not in wanted.kinds:
        return output
    found = leaves(output)
    first = _first_run(state, frame, found)
    if first is None:
        return output
    first.repeated = True
    for leaf, tensor in found:
        if tensor.requires_grad:
            key = Key(frame.path, Kind.GRAD_OUTPUT, first.number, leaf)
            edits = applying(wanted.edits_of(Kind.GRAD_OUTPUT), first, leaf, tensor)
            state.gradients.watch_object(key, tensor, edits)
    return output


def _first_run(state: State, frame: Frame, found: Leaves) -> Frame | None:
    """Return the call that is run again now: the one of the same values, else the last one."""
    calls = state.calls.by_path.get(frame.path, [])
    open_calls = [call for call in calls if call.fingerprint and not call.repeated]
    same = fingerprint(found) if open_calls else ()
    return next(
        (call for call in open_calls if call.fingerprint == same), open_calls[-1] if open_calls else None
    )
