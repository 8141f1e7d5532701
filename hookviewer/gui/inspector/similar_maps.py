"""The channels whose maps look most like the one in focus."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.inspector.focus import Focus, alike, one_channel
from hookviewer.gui.theme import font, keeper, scaled, theme
from hookviewer.gui.wall import geometry, marks, tiles

ACROSS, ROWS, AIR, WORDS = 4, 2, 10, 18


class SimilarMaps(QWidget):
    """Up to eight small maps with number and correlation; a click selects one."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Most similar channels"))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._focus: Focus | None = None
        self.channels: list[int] = []
        self._rows = 0
        self._correlations: list[float] = []
        keeper().changed.connect(self.update)

    def show_focus(self, focus: Focus) -> None:
        """Show what is most similar to the channel in focus."""
        self._focus = focus
        order, correlations = alike(focus.maps, focus.channel)
        known = [int(one) for one in order if np.isfinite(correlations[one])][: ACROSS * ROWS]
        self.channels = known
        self._correlations = [float(correlations[one]) for one in known]
        self._rows = -(-len(known) // ACROSS)
        self.updateGeometry()
        self.update()

    def wait(self) -> None:
        """Show nothing until there is another channel; the place is kept."""
        self._focus, self.channels, self._correlations = None, [], []
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max(self._rows * (self._tile(width)[1] + scaled(WORDS) + 6), 24)

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 120)))

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()  # the height follows the width

    def rect_of(self, place: int) -> QRectF:
        """Return where the map at a place is drawn."""
        width, height = self._tile(self.width())
        row, column = divmod(place, ACROSS)
        return QRectF(column * (width + AIR), row * (height + scaled(WORDS) + 6), width, height)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._focus is None:
            return
        with painting(self) as painter:
            if not self.channels:
                painter.setFont(font("ui", 11))
                painter.setPen(theme()["text_3"])
                words = self.tr("No other channel can be compared with it.")
                painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft, words)
            for place, channel in enumerate(self.channels):
                self._paint_one(painter, self._focus, place, channel)

    def _paint_one(self, painter: QPainter, focus: Focus, place: int, channel: int) -> None:
        rect, ratio = self.rect_of(place), self.devicePixelRatioF()
        width, height = round(rect.width() * ratio), round(rect.height() * ratio)
        look = theme()
        grounds = (look["canvas"], look["nan"], marks.hatch_ground(), look["hatch"])
        paints = tiles.Paints(*(int(colour.rgba()) for colour in grounds))
        one = one_channel(focus.maps, channel)
        picture = tiles.Picture(one, np.arange(1), focus.levels, focus.colormap, paints)
        grid, box = geometry.Grid(1, 1, width, height, 2), geometry.Box(0, 0, width, height)
        pixels = tiles.Board().pixels(picture, grid, box)
        image = QImage(pixels.data, width, height, width * 4, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        painter.drawImage(rect.topLeft(), image)
        line = QRectF(rect.left(), rect.bottom() + 2, rect.width(), scaled(WORDS))
        painter.setFont(font("mono", 11))
        painter.setPen(look["text_2"])
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, str(channel))
        painter.setPen(look["text_3"])
        share = f"{self._correlations[place]:.2f}".replace("-", "−")
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, share)

    @guarded
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        for place, channel in enumerate(self.channels):
            if self.rect_of(place).contains(QPointF(event.position())):
                self.chosen.emit(channel)

    def _tile(self, width: int) -> tuple[int, int]:
        wide = max((width - (ACROSS - 1) * AIR) // ACROSS, 8)
        if self._focus is None:
            return wide, wide
        shape = geometry.shape_of(*self._focus.maps.values.shape[1:])
        return wide, max(round(wide * shape), 8)
