"""The values of a layer by sample, channel and cell, whatever its axes mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer.arrays import readings
from hookviewer.arrays.roles import NUMBER, TABLE, roles_of
from hookviewer.errors import HookViewerError

Array = npt.NDArray[Any]

_CHANNELS = ("channel", "feature", "head", "output channel")
"""The axes that count as channels, the first that there is."""


def reading_of(shape: Sequence[int]) -> str:
    """Return what the axes of a shape most likely mean."""
    return readings(shape)[0]


def by_channel(values: Array, reading: str) -> tuple[Array, tuple[int, ...]]:
    """Return the values as [samples, channels, cells], and the shape of the cells.

    An array without an axis of samples is one sample, one without channels has a single one. Raises
    `HookViewerError` where the array has other axes than `reading` says.
    """
    real = np.abs(values) if values.dtype.kind == "c" else values
    roles = list(roles_of(reading))
    if reading in (NUMBER, TABLE):
        return real.reshape(1, 1, -1), real.shape
    if len(roles) != real.ndim:
        shape = "×".join(map(str, real.shape)) or "a single number"
        raise HookViewerError(f"It is {shape} for this input, which cannot be read as {reading!r}.")
    for front, role in enumerate(_front(roles)):
        if role in roles:
            axis = roles.index(role)
            real = np.moveaxis(real, axis, front)
            roles.insert(front, roles.pop(axis))
        else:
            real = np.expand_dims(real, front)
            roles.insert(front, role)
    cells = real.shape[2:]
    return real.reshape(*real.shape[:2], math.prod(cells)), cells


def _front(roles: Sequence[str]) -> tuple[str, str]:
    return "sample", next((role for role in _CHANNELS if role in roles), "channel")
