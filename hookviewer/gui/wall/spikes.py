"""A single hot cell stays visible when its map is made smaller: the mean of an area would hide it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer.arrays import Maps
from hookviewer.gui.wall.spreads import spread

Array = npt.NDArray[Any]


def kept_in(means: Array, maps: Maps, channels: Array) -> Array:
    """Return the smaller maps `means` [n, h, w] of these channels with the spikes of the maps in them.

    The pixel over a spike has the value of the spike in place of the mean, of several the farthest from the
    mean of its map. `means` is written to; pixels that are NaN or infinite stay as they are.
    """
    spikes = spread(maps).spikes
    if not spikes or means.shape[1:] == maps.values.shape[1:]:
        return means
    for place, channel in enumerate(channels):
        if int(channel) in spikes:
            _keep(means[place], maps.values[channel], *spikes[int(channel)])
    return means


def _keep(small: Array, values: Array, mean: float, reach: float) -> None:
    with np.errstate(invalid="ignore"):
        far = np.abs(values.astype(np.float64) - mean)
        rows, columns = np.nonzero((far > reach) & np.isfinite(values))
    order = np.argsort(far[rows, columns], kind="stable")
    rows, columns = rows[order], columns[order]  # the farthest is written last
    down = (2 * rows + 1) * small.shape[0] // (2 * values.shape[0])
    across = (2 * columns + 1) * small.shape[1] // (2 * values.shape[1])
    good = np.isfinite(small[down, across])
    small[down[good], across[good]] = values[rows[good], columns[good]]
