"""Edits in the words of the window: `zero channels 2, 7 of features.4 output`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from PySide6.QtCore import QCoreApplication

from hookviewer import edits
from hookviewer.edits import Edit, Operation
from hookviewer.kinds import Kind

AXES = ("sample", "channel", "row", "column")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Edits", text)


def words(edit: Edit) -> str:
    """Return an edit as one line."""
    where = place_words(edit.path, edit.kind, edit.call, edit.leaf, edit.index)
    return operation_words(edit.operation).format(where)


def all_words(made: Iterable[Edit]) -> str:
    """Return edits in the order in which they apply, as one line."""
    return "; ".join(map(words, made))


def operation_words(operation: Operation) -> str:
    """Return what is done as a sentence with `{}` in place of what it is done to."""
    if isinstance(operation, edits.same_as):
        return patch_words(operation.name or _tr("another run"))
    if isinstance(operation, edits.mean_of):
        return mean_words(operation.names)
    if isinstance(operation, edits.function_of):
        return function_words(operation.file, operation.name)
    if isinstance(operation, edits.noise):
        return noise_words(operation.deviation, operation.seed)
    return _plain(operation)


def _plain(operation: Any) -> str:
    name = type(operation).__name__
    if name == "zero":
        return _tr("zero {}")
    if name == "reverse":
        return _tr("reverse {}")
    if name == "scale":
        return _of(_tr("scale {} by %s"), operation.factor)
    if name == "add":
        return _of(_tr("add %s to {}"), operation.value)
    if name == "clamp":
        return clamp_words(operation.low, operation.high)
    if name == "replace":
        return _of(_tr("set {} to %s"), operation.tensor)
    if name == "clip":
        return _of(_tr("clip {} to ±%s"), operation.limit)
    if name == "clip_norm":
        return _of(_tr("limit the norm of {} to %s"), operation.limit)
    return _of(_tr("pass {} through %s"), getattr(operation, "__name__", "a function"))


def number(value: float) -> str:
    """Return a number as it was written, with a true minus."""
    return f"{value:g}".replace("-", "−")


def _of(text: str, value: Any) -> str:
    return text.replace("%s", _literal(_value(value)))


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _value(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return _tr("a tensor {}").format("×".join(map(str, value.shape)) or _tr("of one number"))
    return number(value) if isinstance(value, float | int) else str(value)


def clamp_words(low: float | None, high: float | None) -> str:
    """Return a limit on one side or on both."""
    if high is None:
        return _of(_tr("limit {} to at least %s"), low if low is not None else 0.0)
    if low is None:
        return _of(_tr("limit {} to at most %s"), high)
    return _of(_tr("limit {} to %s"), f"{number(low)} … {number(high)}")


def patch_words(name: str) -> str:
    """Return the patching with the tensor of another input."""
    return _of(_tr("put that of %s in place of {}"), name)


def mean_words(names: Sequence[str]) -> str:
    """Return the replacement by a mean over inputs."""
    return _of(_tr("put the mean over %s in place of {}"), ", ".join(names))


def noise_words(deviation: float | None, seed: int) -> str:
    """Return the replacement by noise."""
    size = "" if deviation is None else _tr("deviation {}, ").format(number(deviation))
    return _of(_tr("put noise (%s) in place of {}"), size + _tr("seed {}").format(seed))


def function_words(file: str, name: str) -> str:
    """Return the call of a function from a file."""
    return _of(_tr("pass {} through %s"), f"{Path(file).name}:{name}")


def place_words(path: str, kind: Kind, call: int | None, leaf: str | None, index: Any) -> str:
    """Return what is changed: `channels 2, 7 of features.4 output, call 1`."""
    part = index_words(index, kind)
    whole = _whole(path or _tr("the model"), kind, leaf)
    said = _tr("{} of {}").format(part, whole) if part else whole
    return said if call is None else _tr("{}, call {}").format(said, call + 1)


def _whole(path: str, kind: Kind, leaf: str | None) -> str:
    if kind is Kind.PARAM_GRAD:
        return (
            _tr("the gradients of the parameters of {}").format(path)
            if leaf is None
            else _tr("the gradient of {} {}").format(path, leaf)
        )
    texts = {
        Kind.INPUT: _tr("{} input"),
        Kind.OUTPUT: _tr("{} output"),
        Kind.GRAD_INPUT: _tr("the gradient at {} input"),
        Kind.GRAD_OUTPUT: _tr("the gradient at {} output"),
    }
    said = texts[kind].format(path)
    return f"{said} {leaf}" if leaf else said


def index_words(index: Any, kind: Kind = Kind.OUTPUT) -> str:
    """Return the part of a tensor in words; nothing for all of it."""
    if index is None:
        return ""
    if isinstance(index, int | list):
        return counted(_tr("row") if kind is Kind.PARAM_GRAD else _tr("channel"), _numbers(index))
    places = index if isinstance(index, tuple) else (index,)
    if len(places) > len(AXES):
        return _axes_words(places)
    if len(places) == len(AXES):
        named = [counted(_tr(axis), _numbers(one)) for axis, one in zip(AXES, places, strict=True)]
        return ", ".join(filter(None, named))
    return _axes_words(places)


def _axes_words(places: Sequence[Any]) -> str:
    """Return the part of a tensor whose axes have no names."""
    given = (_numbers(one) for one in places)
    text = ", ".join(":" if one is None else ranges(one) for one in given)
    return f"[{text}]" if text.strip(": ,") else ""


def _numbers(place: Any) -> tuple[int, ...] | None:
    """Return the places on an axis; None for all of them."""
    if isinstance(place, slice):
        if place.start is None and place.stop is None:
            return None
        return tuple(range(place.start or 0, place.stop or 0, place.step or 1))
    return (place,) if isinstance(place, int) else tuple(place)


def counted(axis: str, places: Sequence[int] | None) -> str:
    """Return `channel 2` or `channels 2, 7–12`; nothing for all of them."""
    if places is None:
        return ""
    return f"{axis}{'s' if len(places) != 1 else ''} {ranges(places)}"


def ranges(places: Sequence[int]) -> str:
    """Return numbers with those that follow each other as ranges: `2, 7–12`."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return ", ".join(", ".join(map(str, run)) if len(run) < 3 else f"{run[0]}–{run[-1]}" for run in runs)
