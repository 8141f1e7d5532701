"""How hooks work: lessons to try, each with the lines of torch that do the same."""

from hookviewer.tutorials import beyond, on_modules, on_tensors
from hookviewer.tutorials.lesson import (
    BEFORE,
    CHANGED,
    PLAIN,
    Change,
    Evaluated,
    Lesson,
    Number,
    equal,
    evaluated,
    found,
)

__all__ = [
    "BEFORE",
    "CHANGED",
    "LESSONS",
    "PLAIN",
    "Change",
    "Evaluated",
    "Lesson",
    "Number",
    "equal",
    "evaluated",
    "found",
]

LESSONS: tuple[Lesson, ...] = (
    on_tensors.READ,
    on_tensors.CHANGE,
    on_tensors.ORDER,
    on_tensors.RETAIN,
    on_modules.PRE,
    on_modules.READ,
    on_modules.CHANGE,
    on_modules.BACKWARD,
    on_modules.REMOVAL,
    beyond.IN_PLACE,
    beyond.GRAD_CAM,
)
"""The lessons in the order in which they are best read."""
