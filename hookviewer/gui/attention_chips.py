"""Tokens that are no places of a picture as chips, with the weight that the query gives them as ground."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from hookviewer import render
from hookviewer.gui.attention_scene import COLOURMAP, Levels, Scene
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.numbers import number
from hookviewer.gui.theme import font, keeper, scaled, theme
from hookviewer.gui.wall import marks
from hookviewer.gui.wall.cell_numbers import is_bright

AIR, HEIGHT = 6, 24


@dataclasses.dataclass(frozen=True)
class Chips:
    """The first tokens of a sequence, with what is written on them, and the one that is `asked` about.

    `weights` are what the query gives to them, of `levels`; none of tokens that are queries themselves.
    """

    words: tuple[str, ...]
    weights: tuple[float, ...] = ()
    levels: Levels = (0.0, 1.0)
    asked: int | None = None
    clickable: bool = True


def key_chips(scene: Scene) -> Chips:
    """Return the keys of a query: all of them, or those before the grid where there is a picture."""
    query, leading = scene.query, scene.query.grid
    count = len(query.seen) if leading is None else leading[0]
    words = tuple(scene.token_words(token) or str(token) for token in range(count))
    asked = query.token if query.of_grid and query.token < count else None
    weights = () if query.reason else tuple(query.seen[:count].tolist())
    return Chips(words, weights, scene.seen_levels, asked, query.of_grid)


def query_chips(scene: Scene) -> Chips:
    """Return the tokens that can be asked about where they are others than the keys; else none."""
    query = scene.query
    if query.of_grid:
        return Chips(())
    names = (*scene.asking, *map(str, range(len(scene.asking), query.tokens)))
    return Chips(names, asked=query.token)


class AttentionChips(QWidget):
    """One chip a token, in order, from line to line; a click asks that token."""

    chosen = Signal(int)

    def __init__(self, name: str = "attention_chips", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(self.tr("Tokens and what they weigh"))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.chips = Chips(())
        keeper().changed.connect(self.update)

    def show_chips(self, chips: Chips) -> None:
        """Show tokens, or none."""
        if chips != self.chips:
            self.chips = chips
            pointing = Qt.CursorShape.PointingHandCursor
            self.setCursor(pointing if chips.clickable else Qt.CursorShape.ArrowCursor)
            self.updateGeometry()
            self.update()

    def text_of(self, token: int) -> str:
        """Return what is written on a chip: the token's word, else its number."""
        return self.chips.words[token]

    def rects(self, width: float) -> list[QRectF]:
        """Return where the chips are in a widget of a width."""
        measure, high = QFontMetricsF(font("mono", 12)), scaled(HEIGHT)
        found, x, y = list[QRectF](), 2.0, 2.0
        for text in self.chips.words:
            wide = min(max(measure.horizontalAdvance(text) + 16, high), max(width - 4, high))
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
        if token >= len(self.chips.weights):
            return theme()["control"]
        weight = self.chips.weights[token]
        red, green, blue = render.to_rgba([[weight]], self.chips.levels, COLOURMAP)[0, 0, :3].tolist()
        return QColor(red, green, blue)

    def token_at(self, point: QPointF) -> int | None:
        """Return the token whose chip is at a point."""
        rects = self.rects(self.width())
        return next((token for token, rect in enumerate(rects) if rect.contains(point)), None)

    def tip(self, point: QPointF) -> str:
        """Return what there is to say about a point: the token and its weight."""
        token = self.token_at(point)
        if token is None:
            return self.toolTip()
        words = self.text_of(token)
        said = self.tr("token {}").format(token) + ("" if words == str(token) else f"  {words}")
        weights = self.chips.weights
        return said if token >= len(weights) else f"{said}  = {number(weights[token])}"

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setFont(font("mono", 12))
            for token, rect in enumerate(self.rects(self.width())):
                self._paint_chip(painter, token, rect)

    def _paint_chip(self, painter: QPainter, token: int, rect: QRectF) -> None:
        ground = self.colour_of(token)
        painter.setBrush(ground)
        asked = token == self.chips.asked
        painter.setPen(QPen(marks.accent(), 2) if asked else QPen(theme()["border_strong"], 1))
        painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 4, 4)
        on_ground = QColor(0, 0, 0) if is_bright(ground) else QColor(255, 255, 255)
        painter.setPen(on_ground if self.chips.weights else theme()["text"])
        room = int(rect.width()) - 8
        text = painter.fontMetrics().elidedText(self.text_of(token), Qt.TextElideMode.ElideRight, room)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        token = self.token_at(QPointF(event.position()))
        if token is not None and self.chips.clickable:
            self.chosen.emit(token)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip(QPointF(event.pos())), self)
            return True
        return super().event(event)
