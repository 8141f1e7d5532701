"""How alike maps look: PSNR and SSIM, channel by channel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer.differences import numbers

Array = npt.NDArray[Any]

_WINDOW = 7
_SMALLEST = 3
_K1, _K2 = 0.01, 0.03
_AT_ONCE = 1 << 16
"""Values whose windows are summed at a time."""


def psnr(a: npt.ArrayLike, b: npt.ArrayLike, *, data_range: float | None = None) -> Array:
    """Return the peak signal-to-noise ratio in dB of every channel [C] of maps [C, H, W].

    10·log10(data_range² / mean (A − B)²), infinite where A equals B. `data_range` is by itself the largest
    minus the smallest finite value of A in all channels; where A is constant, the ratio is NaN (infinite
    where equal). Places where either is not finite are left out.
    """
    first, second = numbers.alike(np.asarray(a), np.asarray(b))
    flat = (len(first), math.prod(first.shape[1:]))
    sums = numbers.row_sums(first.reshape(flat), second.reshape(flat), None)
    return ratio(numbers.mean(sums, sums.squares), range_of(first) if data_range is None else data_range)


def ratio(mean_squares: Array, data_range: float) -> Array:
    """Return the peak signal-to-noise ratio in dB for mean squared differences [C]."""
    if not data_range > 0:
        return np.where(mean_squares == 0, np.inf, np.nan)
    with np.errstate(divide="ignore"):
        return np.asarray(20 * math.log10(data_range) - 10 * np.log10(mean_squares))


def range_of(maps: Array) -> float:
    """Return the largest minus the smallest finite value (of complex numbers: magnitude), NaN without any."""
    real = np.abs(maps) if maps.dtype.kind == "c" else maps
    values = real if real.dtype.kind in "biu" else real[np.isfinite(real)]
    return float(values.max()) - float(values.min()) if values.size else math.nan


def ssim(a: npt.ArrayLike, b: npt.ArrayLike, *, data_range: float | None = None) -> Array:
    """Return the mean structural similarity of every channel [C] of maps [C, H, W], −1 to 1.

    Wang, Bovik, Sheikh and Simoncelli 2004, with a uniform window of 7 × 7 and K = (0.01, 0.03), over the
    windows that lie inside. Maps under 7 cells have the largest odd window that fits. NaN for maps under 3
    cells, for constant A without a `data_range`, and for a channel with a value that is not finite.
    """
    first, second = numbers.alike(np.asarray(a), np.asarray(b))
    window = min(_WINDOW, *(size - 1 + size % 2 for size in first.shape[-2:]))
    reach = range_of(first) if data_range is None else data_range
    if window < _SMALLEST or not reach > 0:
        return np.full(len(first), np.nan)
    step = max(1, _AT_ONCE // math.prod(first.shape[1:]))
    parts = [
        _ssim(first[start : start + step], second[start : start + step], window, reach)
        for start in range(0, max(len(first), 1), step)
    ]
    return np.concatenate(parts)


def _ssim(a: Array, b: Array, window: int, reach: float) -> Array:
    usable = np.all(np.isfinite(a) & np.isfinite(b), axis=(1, 2))
    a, b = (np.where(usable[:, None, None], values, 0.0).astype(np.float64) for values in (a, b))
    # sums of squares keep their digits only around 0: A's centre is taken off, and put back for the means
    centre = a.mean(axis=(1, 2), keepdims=True)
    a, b = a - centre, b - centre
    count = window * window
    mean_a, mean_b = _box(a, window) / count, _box(b, window) / count
    sample = count / (count - 1)
    spread_a = sample * (_box(a * a, window) / count - mean_a**2)
    spread_b = sample * (_box(b * b, window) / count - mean_b**2)
    shared = sample * (_box(a * b, window) / count - mean_a * mean_b)
    mean_a, mean_b = mean_a + centre, mean_b + centre
    c1, c2 = (_K1 * reach) ** 2, (_K2 * reach) ** 2
    top: Array = (2 * mean_a * mean_b + c1) * (2 * shared + c2)
    found = top / ((mean_a**2 + mean_b**2 + c1) * (spread_a + spread_b + c2))
    return np.where(usable, found.mean(axis=(1, 2)), np.nan)


def _box(maps: Array, window: int) -> Array:
    """Return the sums over all windows that lie inside, [C, H − window + 1, W − window + 1]."""
    for axis in (1, 2):
        sums = np.cumsum(maps, axis=axis)
        sums = np.concatenate([np.zeros_like(sums.take([0], axis)), sums], axis=axis)
        size = sums.shape[axis]
        maps = sums.take(range(window, size), axis) - sums.take(range(size - window), axis)
    return maps
