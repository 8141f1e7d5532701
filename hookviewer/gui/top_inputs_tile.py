"""A picture of an input that excites a channel, the channel's map over it: a click selects the input."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget

from hookviewer import arrays, render
from hookviewer.gui import blending
from hookviewer.gui.guard import guarded
from hookviewer.gui.numbers import number
from hookviewer.gui.theme import font, scaled, theme
from hookviewer.gui.top_inputs_lane import Exciting

SIDE, WORDS = 124, 34
CONTEXT = 0.16
"""A patch is at least so large, as a share of the picture: a lone pixel shows nothing."""
OPACITY = 0.6


class Tile(QFrame):
    """Paints a place; `whole` shows all of the input with the patch outlined, else the patch alone."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.exciting: Exciting | None = None
        self.image = QImage()
        self._outline: QRectF | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedSize(QSize(scaled(SIDE) + 4, scaled(SIDE) + scaled(WORDS) + 4))

    def show_place(self, exciting: Exciting, levels: tuple[float, float], *, whole: bool) -> None:
        """Show a place on the levels that all tiles share."""
        self.exciting = exciting
        self.image, self._outline = QImage(), None
        if exciting.picture is not None:
            pixels, box = _pixels(exciting, levels, scaled(SIDE), whole=whole)
            height, width = pixels.shape[:2]
            pixels = np.ascontiguousarray(pixels)
            self.image = QImage(
                pixels.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888
            ).copy()
            self._outline = box if whole else None
        words = f"{exciting.name}: {number(exciting.place.value)}"
        self.setToolTip(f"{words}\n{exciting.reason}".strip())
        self.setAccessibleName(words)
        self.update()

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.chosen.emit(self.exciting)

    @guarded
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.exciting)
        else:
            super().keyPressEvent(event)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, colours, side = QPainter(self), theme(), scaled(SIDE)
        exciting = self.exciting
        if exciting is None:
            return
        area = QRectF(2, 2, side, side)
        painter.fillRect(area, colours["canvas"])
        if not self.image.isNull():
            left = (side - self.image.width()) / 2
            top = (side - self.image.height()) / 2
            painter.drawImage(QRectF(2 + left, 2 + top, self.image.width(), self.image.height()), self.image)
            if self._outline is not None:
                painter.setPen(QPen(colours["accent"], 2))
                painter.drawRect(self._outline.translated(2 + left, 2 + top))
        if self.hasFocus():
            painter.setPen(QPen(colours["focus"], 2))
            painter.drawRect(area)
        painter.setFont(font("mono", 11))
        painter.setPen(colours["text"])
        line = QRectF(2, side + 5, side, scaled(15))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, number(exciting.place.value))
        painter.setFont(font("ui", 11))
        painter.setPen(colours["text_2"])
        line.translate(0, scaled(15))
        shown = painter.fontMetrics().elidedText(exciting.name, Qt.TextElideMode.ElideMiddle, side)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, shown)


def _pixels(
    exciting: Exciting, levels: tuple[float, float], side: int, *, whole: bool
) -> tuple[npt.NDArray[np.uint8], QRectF | None]:
    """Return the picture with the map over it, uint8 [height, width, 3], and where the patch lies in it."""
    assert exciting.picture is not None
    picture = exciting.picture
    high, wide = exciting.sizes if exciting.sizes != (1, 1) else (picture.height, picture.width)
    top, left, bottom, right = (0, 0, high, wide) if whole else _with_context(exciting.box, high, wide)
    scale = side / max(bottom - top, right - left)
    height, width = (max(round(size * scale), 1) for size in (high, wide))
    pixels = blending.in_colour(picture, width, height)
    if exciting.map is not None:
        pixels = _over(exciting, levels, blending.photograph(picture, width, height))
    cut = [round(edge * scale) for edge in (top, left, bottom, right)]
    box = exciting.box
    outline = None
    if box is not None:
        outline = QRectF(box[1] * scale, box[0] * scale, (box[3] - box[1]) * scale, (box[2] - box[0]) * scale)
    return pixels[cut[0] : cut[2], cut[1] : cut[3]], outline


def _over(
    exciting: Exciting, levels: tuple[float, float], under: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint8]:
    assert exciting.map is not None
    large = blending.smooth(exciting.map.astype(np.float32), *under.shape)
    colours = render.to_rgba(large, levels, "magma")[..., :3]
    made: npt.NDArray[np.uint8] = blending.mixed(colours, under, blending.strength(large, levels), OPACITY)
    return made


def _with_context(box: tuple[int, int, int, int] | None, high: int, wide: int) -> tuple[int, int, int, int]:
    """Return a patch enlarged to a square of at least `CONTEXT` of the input, moved inside of it."""
    if box is None:
        return 0, 0, high, wide
    least = CONTEXT * max(high, wide)
    size = round(min(max(box[2] - box[0], box[3] - box[1], least), min(high, wide)))
    middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    top = min(max(round(middle[0] - size / 2), 0), high - size)
    left = min(max(round(middle[1] - size / 2), 0), wide - size)
    return top, left, top + size, left + size


def shared_levels(places: tuple[Exciting, ...]) -> tuple[float, float]:
    """Return the levels that the maps of all places share."""
    maps = [one.map for one in places if one.map is not None]
    return arrays.shared_levels(maps, "robust") if maps else (0.0, 1.0)
