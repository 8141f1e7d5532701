"""What is to be known of every channel before it is painted: its extremes, odd values, and spikes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer import arrays
from hookviewer.gui.remembered import remembered

Array = npt.NDArray[Any]

CACHED = 1 << 15  # values looked at together, so that the second look finds them in the processor's cache
SPIKE = 16.0
"""Standard deviations from a map's mean at which a value is a spike: 1 in 256 values at the most."""


@dataclasses.dataclass(frozen=True, eq=False)
class Spread:
    """The least and the greatest value of each channel, and how many values are no numbers or infinite.

    `spikes` holds for the channels that have spikes, by number, the mean and how far from it a spike begins.
    """

    low: Array
    high: Array
    odd: Array
    spikes: dict[int, tuple[float, float]] = dataclasses.field(default_factory=dict)

    @property
    def flat(self) -> Array:
        """Which channels have one value only, everywhere."""
        flat: Array = (self.low == self.high) & (self.odd == 0)
        return flat


@remembered()
def spread(maps: arrays.Maps) -> Spread:
    """Return the spread of each channel of maps [C, H, W]; NaN where a channel has NaN."""
    rows = maps.values.reshape(len(maps.values), -1)
    low, high = np.empty(len(rows), rows.dtype), np.empty(len(rows), rows.dtype)
    suspect = np.zeros(len(rows), bool)
    together = max(1, CACHED // max(rows.shape[1], 1))
    for first in range(0, len(rows), together):
        some = slice(first, first + together)
        low[some], high[some] = rows[some].min(axis=1), rows[some].max(axis=1)
        suspect[some] = _may_have_spikes(rows[some], low[some], high[some])
    odd = np.zeros(len(rows), np.intp)
    rough = np.flatnonzero(~np.isfinite(low) | ~np.isfinite(high))
    odd[rough] = np.count_nonzero(~np.isfinite(rows[rough]), axis=1)
    return Spread(low, high, odd, _spikes(rows, np.flatnonzero(suspect)))


def flat_channels(maps: arrays.Maps) -> Array:
    """Return which channels are drawn hatched: those without a shape. A map of one cell has none to lack."""
    if maps.values[0].size == 1:
        return np.zeros(len(maps.values), bool)
    return spread(maps).flat


def _may_have_spikes(rows: Array, low: Array, high: Array) -> Array:
    """Return which rows are to be looked at closely: a rough estimate, with air."""
    count = rows.shape[1]
    if count <= SPIKE**2 or rows.dtype.kind != "f":
        return np.full(len(rows), count > SPIKE**2)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = (rows @ np.ones(count, rows.dtype)) / count
        squares = np.einsum("ij,ij->i", rows, rows) / count
        variance = squares - mean * mean
        far = np.maximum(high - mean, mean - low)
        sure = variance > 1e-3 * squares  # else too few digits are left to tell
        result: Array = ~(sure & (far * far < (SPIKE / 2) ** 2 * variance)) & (low != high)
    return result


def _spikes(rows: Array, suspects: Array) -> dict[int, tuple[float, float]]:
    found = {}
    for channel in suspects:
        values = rows[channel].astype(np.float64)
        finite = values[np.isfinite(values)]
        if finite.size <= SPIKE**2:
            continue
        with np.errstate(over="ignore"):
            mean, reach = float(finite.mean()), SPIKE * float(finite.std())
        if max(float(finite.max()) - mean, mean - float(finite.min())) > reach > 0:
            found[int(channel)] = (mean, reach)
    return found
