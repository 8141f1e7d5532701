"""From values to the numbers at both ends of the colour bar, and to a histogram."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SCALES = ("full", "robust", "symmetric")
"""`full`: all finite values. `robust`: 0 (or the 0.5 % quantile where there are negative values) to the
99.5 % quantile. `symmetric`: ± the 98 % quantile of the absolute values."""

_LOW, _HIGH, _SYMMETRIC = 0.005, 0.995, 0.98
_FEW = 1 << 16  # below this number sorting is quicker than looking for what is worth sorting
_SAMPLE = 1 << 14


def levels(array: npt.ArrayLike, scale: str) -> tuple[float, float]:
    """Return the values that the first and the last colour stand for.

    Only finite values count, and all of them do. A constant array gives equal levels (`symmetric`: ± its
    size), one without finite values (0, 0). Where the quantiles fall together although the values differ
    (a map of zeros with a few bright cells), the extremes take their place: bright stays bright.
    """
    return shared_levels([array], scale)


def shared_levels(arrays: Sequence[npt.ArrayLike], scale: str) -> tuple[float, float]:
    """Return one pair of levels for several arrays, as if all their values were in one."""
    values = _pooled([finite(array) for array in arrays])
    if not values.size:
        return 0.0, 0.0
    low, high = float(values.min()), float(values.max())
    match scale:
        case "full":
            return low, high
        case "robust":
            return _robust(values, low, high)
        case "symmetric":
            return _symmetric(values, max(abs(low), abs(high)))
    raise ValueError(f"unknown scale {scale!r}, not one of {SCALES}")


def histogram(
    array: npt.ArrayLike, bins: int = 64, limits: tuple[float, float] | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return how many finite values lie in each of `bins` equal steps, and their `bins + 1` edges.

    Values outside `limits` are not counted. The limits are the extremes where none are given.
    """
    values = finite(array)
    if limits is None:
        limits = levels(values, "full")
    low, high = map(float, limits)
    if low == high:
        half = max(abs(low), 1.0) / 2
        low, high = low - half, high + half
    counts, _ = np.histogram(values, bins, range=(low, high))
    return counts.astype(np.int64), np.linspace(low, high, bins + 1)


def finite(array: npt.ArrayLike) -> Array:
    """Return the finite values in one row, in float32 or float64; complex ones by magnitude."""
    values = np.asarray(array)
    if values.dtype.kind == "c":
        values = np.abs(values)
    if values.dtype.kind != "f":
        return values.astype(np.float64).reshape(-1)
    values = values.astype(np.float32, copy=False) if values.dtype == np.float16 else values
    flat = values.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(flat.sum())
    return flat[np.isfinite(flat)] if suspicious else flat


def _pooled(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.float32), *parts])


def _robust(values: Array, low: float, high: float) -> tuple[float, float]:
    if low == high:
        return low, high
    bottom = 0.0 if low >= 0 else quantile(values, _LOW)
    top = quantile(values, _HIGH)
    return (bottom, top) if bottom < top else (min(low, bottom), high)


def _symmetric(values: Array, largest: float) -> tuple[float, float]:
    size = quantile(np.abs(values), _SYMMETRIC) or largest
    return -size, size


def quantile(values: Array, share: float) -> float:
    """Return the exact quantile of finite values, between two neighbours in proportion (as `np.quantile`)."""
    rank = share * (values.size - 1)
    below = int(rank)
    lower, upper = _ranked(values, below, min(below + 1, values.size - 1))
    return lower + (upper - lower) * (rank - below)


def _ranked(values: Array, first: int, second: int) -> tuple[float, float]:
    """Return the values at two neighbouring ranks; of many values only the few near them are sorted."""
    if values.size <= _FEW:
        return _sorted_out(values, first, second)
    low, high = _bracket(values, first / values.size)
    near = values[(values >= low) & (values <= high)]
    below = int(np.count_nonzero(values < low))
    if below <= first and second < below + near.size:
        return _sorted_out(near, first - below, second - below)
    return _sorted_out(values, first, second)  # the sample was an unlucky one


def _sorted_out(values: Array, first: int, second: int) -> tuple[float, float]:
    part = np.partition(values, (first, second))
    return float(part[first]), float(part[second])


def _bracket(values: Array, share: float) -> tuple[float, float]:
    """Return two values that the quantile lies between, all but surely, from a sample."""
    places = np.random.default_rng(0).integers(0, values.size, _SAMPLE)
    sample = np.sort(values[places])
    rank = round(share * _SAMPLE)
    air = round(6 * math.sqrt(_SAMPLE * share * (1 - share))) + 8
    return float(sample[max(rank - air, 0)]), float(sample[min(rank + air, _SAMPLE - 1)])
