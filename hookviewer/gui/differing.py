"""The ways in which one column differs from another: A − B, its size, a ratio, or relative to both. Pure."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from hookviewer import arrays, render
from hookviewer.gui.comparing import difference_maps
from hookviewer.gui.remembered import remembered
from hookviewer.gui.scaling import Levels, difference_levels_of, levels_of
from hookviewer.gui.state import Shown

NOOP = QT_TRANSLATE_NOOP
WAYS = {
    "minus": str(NOOP("Wall", "A − B")),
    "absolute": str(NOOP("Wall", "|A − B|")),
    "ratio": str(NOOP("Wall", "log₂ |A ÷ B|")),
    "relative": str(NOOP("Wall", "(A − B) ÷ max(|A|, |B|)")),
}
TIPS = {
    "minus": str(NOOP("Wall", "The difference, zero in the middle of the scale")),
    "absolute": str(NOOP("Wall", "The size of the difference, from zero")),
    "ratio": str(NOOP("Wall", "1: A is twice as large as B; 0 where both are zero, infinite where one is")),
    "relative": str(NOOP("Wall", "From −2 to 2, whatever the sizes are; 0 where both are zero")),
}
_TITLES = {"minus": "{}", "absolute": "|{}|", "ratio": "log₂ |{}|"}


def way_in_force(way: str, shown: Shown) -> str:
    """Return how the difference is shown; maps of importance are subtracted only."""
    return "minus" if shown is Shown.GRAD_CAM else way


def title_of(way: str, title: str) -> str:
    """Return the name of a difference called `title` (`"A − B"`) in one of the `WAYS`."""
    if way == "relative":
        return QCoreApplication.translate("Wall", "relative {}").format(title)
    return _TITLES[way].format(title.replace(" − ", " ÷ ", 1) if way == "ratio" else title)


@remembered(4)
def differing(first: arrays.Maps, second: arrays.Maps, way: str) -> arrays.Maps:
    """Return how the first maps differ from the second ones of the same shape, in one of the `WAYS`."""
    minus = difference_maps(first, second)
    if way == "minus":
        return minus
    if way == "absolute":
        return dataclasses.replace(minus, values=np.abs(minus.values))
    one, other = (np.abs(maps.values.astype(minus.values.dtype)) for maps in (first, second))
    values = _ratio(one, other) if way == "ratio" else _relative(minus.values, one, other)
    return dataclasses.replace(minus, values=values)


def _ratio(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where((one == 0) & (other == 0), np.zeros_like(one), np.log2(one) - np.log2(other))


def _relative(minus: npt.NDArray[Any], one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    size = np.maximum(one, other)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(size == 0, np.zeros_like(minus), minus / size)


def levels_in(maps: arrays.Maps, way: str, shown: Shown) -> Levels:
    """Return the levels of a difference: zero in the middle, or at the lower end of sizes."""
    if way == "absolute":
        return 0.0, max(levels_of([maps], "robust")[1], 0.0)
    return difference_levels_of(maps, shown)


def colormap_in(colormap: str, way: str) -> str:
    """Return the colours of a difference beside maps in `colormap`: signed ones, or of sizes."""
    signed = colormap in render.DIVERGING
    if way == "absolute":
        return "magma" if signed else colormap
    return colormap if signed else "ember"
