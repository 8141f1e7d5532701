"""Coloured maps in their places: for views whose colours the wall's own look-up cannot make."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage, QPainter

from hookviewer.gui.wall import geometry
from hookviewer.gui.wall.geometry import Box, Grid, Sight

Array = npt.NDArray[Any]


def placed(colours: Array, order: Array, grid: Grid, box: Box, inset: tuple[int, int, int, int]) -> Array:
    """Return the pixels of a part of a wall, uint32 [height, width]: for each the cell under its middle.

    `colours` are maps [C, H, W] of 0xffRRGGBB; pixels between the maps are 0.
    """
    left, top, width, height = inset
    tall, wide = colours.shape[1:]
    rows, columns = grid.touched(box)
    tiles = np.asarray(rows)[:, None] * grid.columns + np.asarray(columns)[None, :]
    there = tiles < len(order)
    channels = order[np.where(there, tiles, 0)]
    blocks = np.where(there[..., None, None], colours[channels], np.uint32(0))
    atlas = np.zeros((len(rows) * tall + 1, len(columns) * wide + 1), np.uint32)
    atlas[:-1, :-1] = blocks.swapaxes(1, 2).reshape(len(rows) * tall, len(columns) * wide)
    down = geometry.index_along(box.top, box.bottom, grid.height + grid.gap, rows.start, height, top, tall)
    across = geometry.index_along(
        box.left, box.right, grid.width + grid.gap, columns.start, width, left, wide
    )
    return np.ascontiguousarray(atlas[down][:, across])  # −1 is the last row or column: nothing


def in_view(grid: Grid, sight: Sight, view: tuple[int, int]) -> Box:
    """Return the part of a wall that a view of so many device pixels shows."""
    return Box(sight.x, sight.y, sight.x + view[0], sight.y + view[1]).within(*grid.wall)


def draw(painter: QPainter, pixels: Array, box: Box, sight: Sight) -> None:
    """Draw the pixels of a part of a wall; where they are 0 the ground is seen."""
    ratio = painter.device().devicePixelRatioF()
    height, width = pixels.shape
    image = QImage(pixels.data, width, height, width * 4, QImage.Format.Format_ARGB32)
    painter.save()
    painter.scale(1 / ratio, 1 / ratio)
    painter.drawImage(QPointF(box.left - sight.x, box.top - sight.y), image)
    painter.restore()
