"""Maps made smaller: every pixel is the mean of all the area it covers, so that no cell is skipped."""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]

BAND = 32  # pixels that are averaged together: few weights outside the band are zero
CACHED_VALUES = 1 << 17  # maps of this many values go together, so that they stay in the processor's cache
MUCH = 1 << 20  # values from which several processors share the work
MOST_WORKERS = 4


class Band(NamedTuple):
    """The weights [pixels, cells] of some neighbouring pixels, and which pixels and cells they join."""

    pixels: slice
    cells: slice
    weights: npt.NDArray[np.float32]


def shrunk(maps: Values, height: int, width: int) -> Values:
    """Return maps [C, H, W] as float32 [C, height, width], each value the mean of the area it covers.

    An axis that has fewer cells than pixels wanted stays as it is. A value is NaN where NaN lies under it,
    and infinite where an infinity does; other values are not touched by either.
    """
    height, width = min(height, maps.shape[1]), min(width, maps.shape[2])
    if (height, width) == maps.shape[1:]:
        return np.asarray(maps, np.float32)
    means = _means(maps, height, width)
    rough = np.flatnonzero(~np.isfinite(means.reshape(len(means), -1).sum(axis=1)))
    if rough.size:
        means[rough] = _marked(np.asarray(maps)[rough], height, width)
    return means


@functools.lru_cache(maxsize=32)
def bands(cells: int, pixels: int) -> tuple[Band, ...]:
    """Return the weights with which `cells` in a row become fewer `pixels`."""
    return tuple(_band(start, min(start + BAND, pixels), cells, pixels) for start in range(0, pixels, BAND))


def _band(start: int, stop: int, cells: int, pixels: int) -> Band:
    edges = np.arange(start, stop + 1) * cells / pixels
    first, last = int(edges[0] + 1e-9), min(int(np.ceil(edges[-1] - 1e-9)), cells)
    cell = np.arange(first, last)
    shared = np.minimum(edges[1:, None], cell + 1) - np.maximum(edges[:-1, None], cell)
    weights = (np.clip(shared, 0, None) * pixels / cells).astype(np.float32)
    return Band(slice(start, stop), slice(first, last), weights)


def _means(maps: Values, height: int, width: int) -> Values:
    result = np.empty((len(maps), height, width), np.float32)
    workers = min(os.cpu_count() or 1, MOST_WORKERS, len(maps)) if maps.size >= MUCH else 1
    parts = [slice(len(maps) * part // workers, len(maps) * (part + 1) // workers) for part in range(workers)]
    if workers == 1:
        _write_means(maps, result)
    else:
        list(_workers().map(lambda part: _write_means(maps[part], result[part]), parts))
    return result


@functools.cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_WORKERS, "shrink")


def _write_means(maps: Values, result: Values) -> None:
    count, rows, columns = maps.shape
    together = max(1, CACHED_VALUES // (rows * columns))
    between = np.empty((min(together, count), result.shape[1], columns), np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        for first in range(0, count, together):
            some = np.asarray(maps[first : first + together], np.float32)
            _along_columns(_along_rows(some, between[: len(some)]), result[first : first + len(some)])


def _along_rows(maps: Values, out: Values) -> Values:
    if maps.shape[1] == out.shape[1]:
        return maps
    for band in bands(maps.shape[1], out.shape[1]):
        np.matmul(band.weights, maps[:, band.cells], out=out[:, band.pixels])
    return out


def _along_columns(maps: Values, out: Values) -> None:
    if maps.shape[2] == out.shape[2]:
        out[:] = maps
        return
    flat, flat_out = maps.reshape(-1, maps.shape[2]), out.reshape(-1, out.shape[2])
    for band in bands(maps.shape[2], out.shape[2]):
        np.matmul(flat[:, band.cells], band.weights.T, out=flat_out[:, band.pixels])


def _marked(maps: Values, height: int, width: int) -> Values:
    """Return the means of the finite values, with NaN and the infinities wherever they lie."""
    finite = np.isfinite(maps)
    share = _means(finite, height, width)
    means = _means(np.where(finite, maps, 0), height, width) / np.maximum(share, 1e-6)
    for kind in (-np.inf, np.inf, np.nan):
        found = np.isnan(maps) if np.isnan(kind) else maps == kind
        means[_means(found, height, width) > 0] = kind
    return means
