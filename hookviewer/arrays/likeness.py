"""Which channels come first, and which are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer.arrays.layout import Maps
from hookviewer.arrays.summary import ChannelStatistics

Indices = npt.NDArray[np.intp]

CHANNEL_ORDERS = ("channel", "mean", "max", "std", "zeros")
"""The ways to sort channels: by number, or by a statistic, the largest first."""


def channel_order(statistics: ChannelStatistics, key: str) -> Indices:
    """Return the channels in order: by number, or the largest `key` first and NaN last."""
    if key == "channel":
        return np.arange(len(statistics.count))
    if key not in CHANNEL_ORDERS:
        raise ValueError(f"unknown order {key!r}, not one of {CHANNEL_ORDERS}")
    return _largest_first(np.asarray(getattr(statistics, key), np.float64))


def similar(maps: Maps | npt.ArrayLike, channel: int) -> tuple[Indices, npt.NDArray[np.float64]]:
    """Return the other channels, the most similar first, and the correlation of every channel with `channel`.

    The correlation (Pearson's, −1 to 1) has one entry per channel of `maps` [C, H, W], 1 for the channel
    itself. It is NaN for a constant channel and for one with NaN or infinite values; those come last.
    """
    values = np.asarray(maps.values if isinstance(maps, Maps) else maps)
    correlations = _correlations(values.reshape(len(values), -1), channel)
    order = _largest_first(correlations)
    return order[order != channel], correlations


def _largest_first(numbers: npt.NDArray[np.float64]) -> Indices:
    return np.argsort(np.where(np.isnan(numbers), np.inf, -numbers), kind="stable")


def _correlations(rows: npt.NDArray[Any], channel: int) -> npt.NDArray[np.float64]:
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        centred = rows - rows.mean(axis=1, dtype=np.float64, keepdims=True).astype(rows.dtype)
        sizes = np.sqrt(np.einsum("ij,ij->i", centred, centred, dtype=np.float64))
        sizes[np.ptp(rows, axis=1) == 0] = np.nan
        products = (centred @ centred[channel]).astype(np.float64)
        correlations: npt.NDArray[np.float64] = np.clip(products / sizes / sizes[channel], -1, 1)
    correlations[~np.isfinite(correlations)] = np.nan
    return correlations
