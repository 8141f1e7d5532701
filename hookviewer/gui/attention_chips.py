"""Tokens without a picture as chips: the ground of each is the weight that the query gives to it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer import render
from hookviewer.gui.attention_scene import COLOURMAP, Scene
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.inspector.over_map import is_bright
from hookviewer.gui.theme import font, keeper, scaled, theme
from hookviewer.gui.wall import marks

AIR, HEIGHT = 6, 24


class AttentionChips(QWidget):
    """One chip a key, in order, from line to line; a click asks that token."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attention_chips")
        self.setAccessibleName(self.tr("Tokens and what they weigh"))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._scene: Scene | None = None
        self._weights: tuple[float, ...] = ()
        self._levels = (0.0, 1.0)
        keeper().changed.connect(self.update)

    def show_scene(self, scene: Scene | None) -> None:
        """Show what the query of a scene attends to, in the scene's way."""
        self._scene = scene
        if scene is not None:
            self._weights = tuple(scene.query.seen.tolist())
            self._levels = scene.seen_levels
        self.updateGeometry()
        self.update()

    def text_of(self, token: int) -> str:
        """Return what is written on a chip: the token's word, else its number."""
        words = self._scene.words if self._scene is not None else ()
        return words[token] if token < len(words) else str(token)

    def rects(self, width: float) -> list[QRectF]:
        """Return where the chips are in a widget of a width."""
        measure, high = QFontMetricsF(font("mono", 12)), scaled(HEIGHT)
        found, x, y = list[QRectF](), 2.0, 2.0
        for token in range(len(self._weights)):
            wide = max(measure.horizontalAdvance(self.text_of(token)) + 16, high)
            if x > 2 and x + wide > width - 2:
                x, y = 2.0, y + high + AIR
            found.append(QRectF(x, y, wide, high))
            x += wide + AIR
        return found

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        rects = self.rects(width)
        return int(rects[-1].bottom()) + 4 if rects else scaled(HEIGHT)

    def sizeHint(self) -> QSize:
        return QSize(260, self.heightForWidth(max(self.width(), 200)))

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()  # the height follows the width

    def colour_of(self, token: int) -> QColor:
        """Return the ground of a chip."""
        red, green, blue = render.to_rgba([[self._weights[token]]], self._levels, COLOURMAP)[
            0, 0, :3
        ].tolist()
        return QColor(red, green, blue)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._scene is None:
            return
        with painting(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setFont(font("mono", 12))
            for token, rect in enumerate(self.rects(self.width())):
                self._paint_chip(painter, token, rect)

    def _paint_chip(self, painter: QPainter, token: int, rect: QRectF) -> None:
        ground, query = self.colour_of(token), self._scene.query if self._scene is not None else None
        asked = query is not None and query.of_grid and query.token == token
        painter.setBrush(ground)
        painter.setPen(QPen(marks.accent(), 2) if asked else QPen(theme()["border_strong"], 1))
        painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 4, 4)
        painter.setPen(QColor(0, 0, 0) if is_bright(ground) else QColor(255, 255, 255))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self.text_of(token))

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        point = QPointF(event.position())
        for token, rect in enumerate(self.rects(self.width())):
            if rect.contains(point) and self._scene is not None and self._scene.query.of_grid:
                self.chosen.emit(token)
