"""Values written into cells that are large enough, dark on bright colours and bright on dark ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from hookviewer.gui.cell_words import value_words
from hookviewer.gui.theme import font

Array = npt.NDArray[Any]

MOST = 900
"""So many numbers are written at most."""
ROOM = (6.0, 3.0)
"""Pixels left free in a cell beside and above its number."""
_DARK, _BRIGHT = QColor(0, 0, 0), QColor(255, 255, 255)
_HALF = 0.179  # the luminance on which black and white are read equally well, 4.58 : 1


def roomy(cell: QSizeF) -> bool:
    """Return whether a cell has room for one digit at least."""
    measure = QFontMetricsF(font("mono", 10))
    return (
        cell.height() >= measure.height() + ROOM[1] and cell.width() >= measure.averageCharWidth() + ROOM[0]
    )


def fits(cell: QSizeF, values: Array, *, whole: bool) -> bool:
    """Return whether every value, written out, has room in a cell; `whole` ones are integers."""
    if not roomy(cell) or values.size > MOST:
        return False
    measure = QFontMetricsF(font("mono", 10))
    room = cell.width() - ROOM[0]
    return all(measure.horizontalAdvance(value_words(value, whole=whole)) <= room for value in values.flat)


def paint(painter: QPainter, area: QRectF, values: Array, bright: Array, *, whole: bool) -> None:
    """Write values [h, w] into the cells that fill an area; `bright` tells bright colours."""
    painter.setFont(font("mono", 10))
    rows, columns = values.shape
    across, down = area.width() / columns, area.height() / rows
    for row, column in np.ndindex(rows, columns):
        place = QRectF(area.left() + column * across, area.top() + row * down, across, down)
        painter.setPen(_DARK if bright[row, column] else _BRIGHT)
        words = value_words(values[row, column], whole=whole)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, words)


def brightness(colours: Array) -> Array:
    """Return WCAG's relative luminance of colours, uint8 [..., 3 or more], 0 to 1."""
    parts = colours[..., :3] / 255.0
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    found: Array = linear @ np.array([0.2126, 0.7152, 0.0722])
    return found


def are_bright(colours: Array) -> Array:
    """Return on which colours, uint8 [..., 3 or more], black is read better than white."""
    found: Array = brightness(colours) > _HALF
    return found


def is_bright(colour: QColor) -> bool:
    """Return whether black is read better on a colour than white."""
    return bool(are_bright(np.array(colour.getRgb())))
