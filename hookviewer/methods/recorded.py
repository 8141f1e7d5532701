"""Attributions from what a run has recorded already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from hookviewer.arrays import Hints
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.methods.notes import notes_on
from hookviewer.methods.places import HintsOf, channels_first, hints_of, leading_tokens
from hookviewer.plan import HookPlan
from hookviewer.recording import Call, Record, Recording

if TYPE_CHECKING:
    from hookviewer.methods.method import Answer, LayerMethod, Method
    from hookviewer.methods.question import Question


def from_records(
    recording: Recording, method: LayerMethod, path: str, call: int, hints_for: HintsOf
) -> Record:
    """Return the attribution of one call of a layer, computed from what was recorded of it.

    Raises `HookViewerError` with the reason, and the nearest layer that suits, where there can be none.
    """
    output = suited_output(recording, method, path, call, hints_for)
    hints = hints_for(output.key.path)
    values = channels_first(_wide(output.tensor()), hints)
    if Kind.GRAD_OUTPUT in method.kinds:
        found = _wide(_needed(recording, output.key._replace(kind=Kind.GRAD_OUTPUT)).tensor())
        gradient, leftover = channels_first(found, hints), leading_tokens(found, hints)
    else:
        gradient = leftover = values.new_zeros(0)
    computed = method.compute(values, gradient).unsqueeze(1)
    notes = (*which_leaf(recording, output.key), *notes_on(computed, gradient, leftover))
    return attributed(output.key.path, call, method.name, computed, notes, output.device)


def attributed(
    path: str,
    call: int,
    leaf: str,
    values: torch.Tensor,
    notes: Sequence[str] = (),
    device: torch.device | None = None,
) -> Record:
    """Return the record of an attribution."""
    key = Key(path, Kind.ATTRIBUTION, call, leaf)
    own = values.detach().cpu().contiguous()
    return Record(key, tuple(own.shape), own.dtype, device or own.device, tuple(notes), kept=own)


def suited_output(recording: Recording, method: Method, path: str, call: int, hints_for: HintsOf) -> Record:
    """Return the first output of a call that the method suits; raise `HookViewerError` with the reason."""
    hints = hints_for(path)
    leaves = recording.leaves(path, Kind.OUTPUT, call)
    records = [_needed(recording, Key(path, Kind.OUTPUT, call, leaf)) for leaf in leaves or ("",)]
    for record in records:
        if record.dtype.is_floating_point and not method.unsuited(record.shape, hints):
            return record
    reason = (
        method.unsuited(records[0].shape, hints)
        or f"its output is {records[0].dtype}, which has no gradient."
    )
    near = nearest(recording, method, records[0].key.path, hints_for)
    raise HookViewerError(f"{method.title} does not suit {path or 'the model'}: {reason}{near}")


def answers_from_records(methods: Sequence[LayerMethod], question: Question) -> Iterator[Answer]:
    """Yield the maps of several methods for every call of every layer, from one run."""
    plan = layers(question, methods[0]).with_kinds(frozenset().union(*(method.kinds for method in methods)))
    total = 2 if plan.needs_target else 1
    question.tell(0, total)
    recording = question.run(plan)
    question.tell(total, total)
    hints_for = hints_of(recording, question.model)
    for path, call in calls_in_order(recording):
        for method in methods:
            yield answer(recording, method, path, call, hints_for)


def layers(question: Question, method: Method) -> HookPlan:
    """Return the plan of the layers that are asked about; raise `HookViewerError` where there are none."""
    if not question.plan.paths and not question.plan.ops:
        raise HookViewerError(f"Choose a layer: {method.title} makes a map of a layer's output.")
    return question.plan


def answer(recording: Recording, method: LayerMethod, path: str, call: int, hints_for: HintsOf) -> Answer:
    """Return the key of an attribution with its record, or with the reason why there is none."""
    key = Key(recording.aliases.get(path, path), Kind.ATTRIBUTION, call, method.name)
    try:
        return key, from_records(recording, method, path, call, hints_for)
    except HookViewerError as error:
        return key, str(error)


def calls_in_order(recording: Recording) -> list[tuple[str, int]]:
    """Return (path, number) of every call of the recorded layers, in the order in which the network runs.

    Layers that were never called have their call 0 at the end.
    """
    starts = {path: calls[0].order for path, calls in recording.module_calls.items() if calls}
    paths = {key.path for key in (*recording, *recording.absent)}
    ordered = sorted(paths, key=lambda path: (starts.get(path, len(starts)), path))
    return [(path, call) for path in ordered for call in range(max(1, len(recording.calls(path))))]


def nearest(recording: Recording, method: Method, path: str, hints_for: HintsOf) -> str:
    """Return a sentence that names the nearest layer that the method suits; nothing where none is known."""
    own = recording.calls(path)
    if not own:
        return ""
    first = [calls[0] for calls in recording.module_calls.values() if calls]
    suited = [call for call in first if _suits(method, call, hints_for(call.path))]
    found = min(suited, key=lambda call: (abs(call.order - own[0].order), call.order), default=None)
    return f" The nearest layer that suits is {found.path}." if found else ""


def _suits(method: Method, call: Call, hints: Hints) -> bool:
    return call.path != "" and any(not method.unsuited(shape, hints) for shape in call.output_shapes)


def _needed(recording: Recording, key: Key) -> Record:
    if key not in recording:
        raise HookViewerError(recording.reason(key))
    return recording[key]


def which_leaf(recording: Recording, key: Key) -> tuple[str, ...]:
    """Return a sentence that names the tensor that a map is of, where the layer returns several."""
    count = len(recording.leaves(key.path, Kind.OUTPUT, key.call))
    return (f"Of the {count} tensors that the layer returns this is {key.leaf}.",) if count > 1 else ()


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.dtype == torch.float64 else tensor.to(torch.float32)
