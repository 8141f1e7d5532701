"""Receptive fields: which part of the picture a cell of a map depends on, and how that was found."""

from hookviewer.receptive.axes import Axis, Scale
from hookviewer.receptive.field import COMPUTED, MEASURED, Box, Field
from hookviewer.receptive.graph import Uncomputed
from hookviewer.receptive.measure import Fields, fields, support

__all__ = [
    "COMPUTED",
    "MEASURED",
    "Axis",
    "Box",
    "Field",
    "Fields",
    "Scale",
    "Uncomputed",
    "fields",
    "support",
]
