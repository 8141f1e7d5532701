"""Attribution methods: where in a layer's maps the evidence for a target lies. One class a file."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.hooks import capture
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind
from hookviewer.methods.method import Method
from hookviewer.plan import HookPlan
from hookviewer.recording import Record, Recording
from hookviewer.registry import classes_in

__all__ = ["Method", "attribute", "attribution", "find_method", "methods"]


def methods() -> tuple[Method, ...]:
    """Return one of each attribution method."""
    found = classes_in(sys.modules[__name__], Method)  # type: ignore[type-abstract]
    return tuple(method() for method in found)


def find_method(name: str) -> Method:
    """Return the method of that name; raise `HookViewerError` with the names there are."""
    known = {method.name: method for method in methods()}
    if name not in known:
        raise HookViewerError(f"There is no method {name!r}: choose one of {', '.join(known)}.")
    return known[name]


def attribute(model: nn.Module, input: Any, method: str, paths: Iterable[str], *, target: Any) -> Recording:
    """Run `model` once on an `Input` or a tensor; return the attributions of every call of every layer.

    `paths` are paths or patterns as in `HookPlan.of`. The records have `Kind.ATTRIBUTION`, the method's name
    as leaf and the shape [N, 1, H, W]; a layer that the method does not suit is in `absent` with its reason.
    """
    chosen = find_method(method)
    patterns = (paths,) if isinstance(paths, str) else tuple(paths)
    plan = HookPlan.of(model, *patterns, kinds=chosen.kinds)
    given = input if isinstance(input, Input) else Input("input", _arguments(input))
    recording = capture(model, given.args, plan, kwargs=given.kwargs, target=target)
    return _attributions(recording, chosen, plan)


def attribution(recording: Recording, method: str, path: str, call: int = 0) -> Record:
    """Return the attribution of one call of a layer, computed from outputs and gradients already recorded.

    Raises `HookViewerError` with the reason where the method does not suit the layer, or a tensor is missing.
    """
    chosen = find_method(method)
    output = _needed(recording, path, Kind.OUTPUT, call)
    gradient = _needed(recording, path, Kind.GRAD_OUTPUT, call)
    reason = chosen.unsuited(output.shape)
    if reason:
        raise HookViewerError(f"{chosen.title} does not suit {path or 'the model'}: {reason}")
    values = chosen.compute(_wide(output.tensor()), _wide(gradient.tensor())).unsqueeze(1)
    key = Key(output.key.path, Kind.ATTRIBUTION, call, chosen.name)
    return Record(key, tuple(values.shape), values.dtype, output.device, _notes(values), kept=values)


def _attributions(recording: Recording, method: Method, plan: HookPlan) -> Recording:
    records: dict[Key, Record] = {}
    absent: dict[Key, str] = {}
    for path in _in_order(recording, plan.paths):
        for call in range(max(1, len(recording.calls(path)))):
            key = Key(path, Kind.ATTRIBUTION, call, method.name)
            try:
                records[key] = attribution(recording, method.name, path, call)
            except HookViewerError as error:
                absent[key] = str(error)
    return dataclasses.replace(recording, records=records, absent=absent)


def _in_order(recording: Recording, paths: Iterable[str]) -> list[str]:
    starts = {path: calls[0].order for path, calls in recording.module_calls.items() if calls}
    return sorted(paths, key=lambda path: (starts.get(path, len(starts)), path))


def _needed(recording: Recording, path: str, kind: Kind, call: int) -> Record:
    leaves = recording.leaves(path, Kind.OUTPUT, call)
    key = Key(path, kind, call, leaves[0] if leaves else "")
    if key not in recording:
        raise HookViewerError(recording.reason(key))
    return recording[key]


def _arguments(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.dtype == torch.float64 else tensor.to(torch.float32)


def _notes(values: torch.Tensor) -> tuple[str, ...]:
    low, high = float(values.min()), float(values.max())
    if low == high == 0:
        return ("The map is zero everywhere: nothing in this layer speaks for the target.",)
    if low == high:
        return (f"The map has the value {high:.4g} everywhere: it does not tell places apart.",)
    return ()
