"""The numbers of a lesson in words: where they stand in the window, and what torch gives. Pure."""

from __future__ import annotations

import dataclasses

import torch
from PySide6.QtCore import QCoreApplication

from hookviewer.errors import HookViewerError
from hookviewer.gui.numbers import number, shape
from hookviewer.kinds import Kind
from hookviewer.recording import Recording
from hookviewer.tutorials import BEFORE, CHANGED, Evaluated, Lesson, Number, equal, found

MOST = 12
"""So many values are written out."""
EXACT = 1e6
"""Whole numbers below are written with all of their digits."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Lesson", text)


@dataclasses.dataclass(frozen=True)
class Line:
    """A number of a lesson; `same` is None as long as one of both is not there, and `reason` says why."""

    number: Number
    place: str
    here: str = ""
    torch: str = ""
    same: bool | None = None
    reason: str = ""


def lines(
    lesson: Lesson, plain: Recording | None, changed: Recording | None, given: Evaluated | None, waits: str
) -> list[Line]:
    """Return the numbers of a lesson; `waits` is said where no run has them yet."""
    return [_line(one, plain, changed, given, waits) for one in lesson.numbers]


def _line(
    one: Number, plain: Recording | None, changed: Recording | None, given: Evaluated | None, waits: str
) -> Line:
    place = place_of(one)
    theirs = given.values[one.torch] if given is not None else None
    said = "" if theirs is None else written(theirs)
    try:
        own = found(one, plain, changed)
    except HookViewerError:
        return Line(one, place, torch=said, reason=waits)
    same = None if theirs is None else equal(own, theirs)
    return Line(one, place, written(own), said, same)


def place_of(one: Number) -> str:
    """Return where a number stands in the window: `a · gradient, before the edit`."""
    kinds = {
        Kind.OUTPUT: _tr("output"),
        Kind.GRAD_OUTPUT: _tr("gradient"),
        Kind.GRAD_INPUT: _tr("gradient at the input"),
        Kind.ATTRIBUTION: _tr("Grad-CAM"),
    }
    place = f"{one.path or _tr('the model')} · {kinds[one.kind]}"
    if one.where == CHANGED:
        return _tr("{}, edited").format(place)
    return _tr("{}, before the edit").format(place) if one.where == BEFORE else place


def written(tensor: torch.Tensor) -> str:
    """Return a small tensor with all its numbers, a larger one with its shape and range."""
    if tensor.numel() <= MOST:
        return _nested(tensor.tolist())
    low, high = number(float(tensor.min())), number(float(tensor.max()))
    return f"{shape(tuple(tensor.shape))}   {low} … {high}"


def _nested(values: object) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_nested, values))}]"
    assert isinstance(values, float | int)
    whole = abs(values) < EXACT and float(values).is_integer()
    return f"{values:.0f}".replace("-", "−") if whole else number(float(values))
