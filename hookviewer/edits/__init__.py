"""Interventions: what a run changes on purpose, out of place and for that run only."""

from hookviewer.edits.edit import Edit, Operation, Placed, edited, same
from hookviewer.edits.operations import (
    add,
    clamp,
    clip,
    clip_norm,
    noise,
    replace,
    reverse,
    scale,
    zero,
)
from hookviewer.edits.recorded import mean_of, same_as
from hookviewer.edits.user_function import function_of
from hookviewer.edits.words import describe, edit_of, script_of

__all__ = [
    "Edit",
    "Operation",
    "Placed",
    "add",
    "clamp",
    "clip",
    "clip_norm",
    "describe",
    "edit_of",
    "edited",
    "function_of",
    "mean_of",
    "noise",
    "replace",
    "reverse",
    "same",
    "same_as",
    "scale",
    "script_of",
    "zero",
]
