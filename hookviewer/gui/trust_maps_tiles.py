"""The map of the network beside those of copies with shuffled weights, and how alike they are."""

from __future__ import annotations

import numpy as np
import torch
from PIL.Image import Image
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer import render
from hookviewer.gui import blending
from hookviewer.gui.attention_scene import Greys
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.theme import font, keeper, scaled, theme
from hookviewer.gui.trust_maps_work import SHARES, Round, Trial
from hookviewer.gui.wall import marks

AIR, WORDS, TALLEST = 8, 36, 150
OPACITY = 0.75


class ShuffledMaps(QWidget):
    """One tile for the map itself and one for each share of shuffled layers; each map on its own scale."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shuffled_maps")
        self.setAccessibleName(self.tr("Maps of copies with shuffled weights"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._trial = Trial()
        self._picture: Image | None = None
        self._greys = Greys()
        self._take_height()
        keeper().changed.connect(self.update)

    def show_trial(self, trial: Trial, picture: Image | None) -> None:
        """Show the maps that there are."""
        self._trial, self._picture = trial, picture
        self._take_height()
        self.update()

    def _take_height(self) -> None:
        """Be as high as the maps of one row are in this width."""
        count = 1 + len(SHARES)
        wide = (self.width() - (count - 1) * AIR) / count
        self.setFixedHeight(min(int(wide * self._shape()), scaled(TALLEST)) + scaled(WORDS))

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != event.oldSize().width():
            self._take_height()

    def sizeHint(self) -> QSize:
        return QSize(560, self.height())

    def rect_of(self, place: int) -> QRectF:
        """Return where the map itself (0) or that of a round (1 …) is drawn."""
        count = 1 + len(SHARES)
        wide = (self.width() - (count - 1) * AIR) / count
        room = self.height() - scaled(WORDS)
        shape = self._shape()
        across = min(wide, room / shape)
        return QRectF(place * (wide + AIR), 0, int(across), int(across * shape))

    def _shape(self) -> float:
        if self._picture is not None:
            return self._picture.height / self._picture.width
        return 1.0 if self._trial.map is None else self._trial.map.shape[0] / self._trial.map.shape[1]

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self._paint(painter, 0, self._trial.map, self.tr("the network itself"), "")
            for place, share in enumerate(SHARES):
                one = self._trial.rounds[place] if place < len(self._trial.rounds) else None
                words = self.tr("{:.0f} % shuffled").format(100 * share)
                self._paint(painter, place + 1, one.map if one is not None else None, words, _alike(one))

    def _paint(self, painter: QPainter, place: int, map: torch.Tensor | None, words: str, below: str) -> None:
        rect, look = self.rect_of(place), theme()
        if map is None:
            painter.fillRect(rect, look["control"])
        else:
            ratio = self.devicePixelRatioF()
            image = self.image(map, round(rect.width() * ratio), round(rect.height() * ratio))
            image.setDevicePixelRatio(ratio)
            painter.drawImage(rect.topLeft(), image)
            if bool(map.max() == map.min()):
                marks.flat_label(painter, rect, self.tr("the same everywhere"))
        painter.setFont(font("ui", 11))
        painter.setPen(look["text_2"])
        line = QRectF(rect.left(), rect.bottom() + 3, self.width() / (1 + len(SHARES)), 16)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, words)
        painter.setFont(font("mono", 11))
        painter.setPen(look["text"])
        painter.drawText(line.translated(0, 15), Qt.AlignmentFlag.AlignLeft, below)

    def image(self, map: torch.Tensor, width: int, height: int) -> QImage:
        """Return a map over the grey picture, from its least to its greatest value (around 0 if signed)."""
        values = blending.smooth(map.float().numpy(), height, width)
        low, high = min(float(map.min()), 0.0), float(map.max())
        levels = (-max(-low, high), max(-low, high)) if low < 0 else (low, high)
        levels = levels if levels[1] > levels[0] else (0.0, 1.0)
        colours = render.to_rgba(values, levels, "ember" if low < 0 else "magma")[..., :3]
        under = self._greys.of(self._picture, width, height)
        if under is not None:
            colours = blending.mixed(colours, under, blending.strength(values, levels), OPACITY)
        colours = np.ascontiguousarray(colours)
        return QImage(colours.tobytes(), width, height, width * 3, QImage.Format.Format_RGB888).copy()


def _alike(one: Round | None) -> str:
    if one is None:
        return ""
    return "–" if one.alike is None else f"r = {one.alike.rank:.2f}".replace("-", "−")
