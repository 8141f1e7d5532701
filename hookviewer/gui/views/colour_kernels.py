"""Kernels with three input channels as pictures in colour."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QPainter

from hookviewer import render
from hookviewer.gui.theme import theme
from hookviewer.gui.views import placing
from hookviewer.gui.views.feature_maps import FeatureMaps
from hookviewer.gui.views.view import Sheet

Array = npt.NDArray[Any]


class ColourKernels(FeatureMaps):
    """One picture for each output channel: red, green and blue are its three input channels, on one scale."""

    @classmethod
    def suits(cls, sheet: Sheet) -> int:
        return 30 if sheet.drawn.layout == "maps" and sheet.drawn.colours is not None else -1

    def paint(self, painter: QPainter) -> None:
        sheet, maps = self._sheet, self._maps
        if sheet.column.maps is None or maps.colours is None:
            super().paint(painter)
            return
        painter.fillRect(self.area, theme()["canvas"])
        view = (round(self.host.width() * self.ratio), round(self.host.height() * self.ratio))
        box = placing.in_view(self.grid, self.sight, view)
        if all(box.size):
            levels = sheet.levels if sheet.own is None else sheet.own
            colours = packed(maps.colours, levels, sheet.curve)
            self._pixels_shown = placing.placed(colours, sheet.order, self.grid, box, self._inset)
            placing.draw(painter, self._pixels_shown, box, self.sight)

    def _paint_numbers(self, painter: QPainter) -> bool:
        """A cell has three numbers, and no room for them."""
        return False

    def _paint_labels(self, painter: QPainter) -> None:
        """The hatch of maps without a shape has no place here: colour is a shape too."""


def packed(colours: Array, levels: npt.ArrayLike, curve: str = "linear") -> Array:
    """Return [C, H, W, 3] as 0xffRRGGBB; the levels stand for no light and all of it, NaN is no light."""
    light = render.lights(colours, levels, curve=curve).astype(np.uint32)
    return light[..., 0] << 16 | light[..., 1] << 8 | light[..., 2] | np.uint32(0xFF000000)
