"""What is said of maps without a shape, and of values that are no numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer.gui.columns import Column
from hookviewer.gui.numbers import number
from hookviewer.gui.wall.words import tr
from hookviewer.kinds import Kind


def zero_words(column: Column) -> str:
    """Return what a map is that is zero everywhere: dead for an output, without a gradient, or just zero."""
    kind = column.record.key.kind if column.record is not None else None
    if column.number is None or kind is None:
        return "= 0"  # a difference of zero is no defect
    if kind is Kind.OUTPUT:
        return tr("dead")
    return tr("no gradient") if kind in (Kind.GRAD_OUTPUT, Kind.GRAD_INPUT, Kind.PARAM_GRAD) else "= 0"


def flat_words(column: Column, value: float) -> str:
    """Return what stands in a map that has one value everywhere."""
    return f"= {number(value)}" if value else zero_words(column)


def odd_words(values: npt.NDArray[np.floating[Any]]) -> str:
    """Return how many values are NaN, +inf and −inf; nothing where all are numbers."""
    counts = (
        ("NaN", int(np.isnan(values).sum())),
        ("+inf", int(np.isposinf(values).sum())),
        ("−inf", int(np.isneginf(values).sum())),
    )
    return "  ".join(f"{word} {count}" for word, count in counts if count)
