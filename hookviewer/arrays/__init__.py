"""Numbers about arrays, without torch or Qt: statistics, axis roles, levels, likeness."""

from hookviewer.arrays.layout import LAYOUTS, Maps, as_maps, looks_channels_last, readings
from hookviewer.arrays.likeness import CHANNEL_ORDERS, channel_order, similar
from hookviewer.arrays.scale import SCALES, histogram, levels, shared_levels
from hookviewer.arrays.summary import ChannelStatistics, Statistics, channel_statistics, statistics

__all__ = [
    "CHANNEL_ORDERS",
    "LAYOUTS",
    "SCALES",
    "ChannelStatistics",
    "Maps",
    "Statistics",
    "as_maps",
    "channel_order",
    "channel_statistics",
    "histogram",
    "levels",
    "looks_channels_last",
    "readings",
    "shared_levels",
    "similar",
    "statistics",
]
