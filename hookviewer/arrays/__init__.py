"""Numbers about arrays, without torch or Qt: statistics, axis roles, levels, likeness."""

from hookviewer.arrays.layout import LAYOUTS, MAXIMUM, PARTS, Maps, Slider, as_maps
from hookviewer.arrays.likeness import CHANNEL_ORDERS, channel_order, similar
from hookviewer.arrays.roles import NOTHING, Hints, looks_channels_last, readings
from hookviewer.arrays.scale import SCALES, finite, histogram, levels, quantile, shared_levels
from hookviewer.arrays.summary import ChannelStatistics, Statistics, channel_statistics, statistics

__all__ = [
    "CHANNEL_ORDERS",
    "LAYOUTS",
    "MAXIMUM",
    "NOTHING",
    "PARTS",
    "SCALES",
    "ChannelStatistics",
    "Hints",
    "Maps",
    "Slider",
    "Statistics",
    "as_maps",
    "channel_order",
    "channel_statistics",
    "finite",
    "histogram",
    "levels",
    "looks_channels_last",
    "quantile",
    "readings",
    "shared_levels",
    "similar",
    "statistics",
]
