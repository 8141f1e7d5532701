"""Bars narrower than a pixel: each pixel shows the least and the greatest of all bars it covers. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def covered(count: int, pixels: int, start: float, pitch: float) -> tuple[Array, Array]:
    """Return for each pixel the first bar it covers and the one behind the last; equal where there is none.

    Bars are `pitch` pixels wide; the view begins `start` pixels into them.
    """
    edges = (np.arange(pixels + 1) + start) / pitch
    first = np.floor(edges[:-1] + 1e-9).astype(np.intp)
    last = np.ceil(edges[1:] - 1e-9).astype(np.intp)
    return np.clip(first, 0, count), np.clip(np.maximum(last, first + 1), 0, count)


def extents(values: Array, first: Array, last: Array) -> tuple[Array, Array]:
    """Return the least and the greatest value of the bars `first` to `last` of every pixel; NaN for none.

    A pixel that covers a value that is no number is NaN.
    """
    low, high = np.full(len(first), np.nan), np.full(len(first), np.nan)
    there = np.flatnonzero(last > first)
    for pixel in there:
        bars = values[first[pixel] : last[pixel]]
        low[pixel], high[pixel] = bars.min(), bars.max()
    return low, high


def rows_of(values: Array, limits: tuple[float, float], height: int) -> Array:
    """Return the row of pixels at which each value stands, 0 at the top; −1 where it is no number."""
    low, high = limits
    span = high - low if high > low else 1.0
    with np.errstate(invalid="ignore", over="ignore"):
        rows = np.round((high - values) / span * (height - 1))
    return np.where(np.isnan(rows), -1, np.clip(np.nan_to_num(rows), 0, height - 1)).astype(np.intp)


def around_zero(levels: tuple[float, float]) -> tuple[float, float]:
    """Return levels with zero between them, so that every bar starts at zero."""
    low, high = min(levels[0], 0.0), max(levels[1], 0.0)
    return (low, high) if high > low else (0.0, 1.0)
