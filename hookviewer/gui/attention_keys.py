"""The keys that a query attends to most, as a list; a click asks that token."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer.gui.attention_scene import Scene
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.numbers import number
from hookviewer.gui.theme import font, keeper, scaled, theme

ROW, MOST = 21, 16


class AttentionKeys(QWidget):
    """Number, place, a bar and the weight, the largest first; as many as there is room for."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attention_keys")
        self.setAccessibleName(self.tr("Strongest keys"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(100, scaled(ROW) * 3)
        self._scene: Scene | None = None
        keeper().changed.connect(self.update)

    def show_scene(self, scene: Scene | None) -> None:
        """Show the strongest keys of a query, or nothing."""
        self._scene = scene
        asks = scene is not None and scene.query.of_grid
        self.setCursor(Qt.CursorShape.PointingHandCursor if asks else Qt.CursorShape.ArrowCursor)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, scaled(ROW) * 8)

    @property
    def rows(self) -> tuple[tuple[int, float], ...]:
        """The keys in sight with their weights."""
        if self._scene is None or self._scene.query.reason:
            return ()
        return self._scene.query.strongest(min(self.height() // scaled(ROW), MOST))

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        rows = self.rows
        with painting(self) as painter:
            top = max(weight for _, weight in rows) if rows else 1.0
            for place, (key, weight) in enumerate(rows):
                self._paint_row(painter, place * scaled(ROW), key, weight, weight / top if top > 0 else 0.0)

    def _paint_row(self, painter: QPainter, y: float, key: int, weight: float, share: float) -> None:
        assert self._scene is not None
        look, high = theme(), scaled(ROW)
        painter.setFont(font("mono", 11))
        measure = painter.fontMetrics()
        first, last = measure.horizontalAdvance("00000"), measure.horizontalAdvance("0.00e−00")
        words = self._scene.token_words(key)
        middle = measure.horizontalAdvance("row 00  column 00 ") if words and self.width() > 230 else 0
        flags = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(look["text"])
        painter.drawText(QRectF(0, y, first, high), flags | Qt.AlignmentFlag.AlignLeft, str(key))
        painter.drawText(
            QRectF(self.width() - last, y, last, high), flags | Qt.AlignmentFlag.AlignRight, number(weight)
        )
        if middle:
            painter.setPen(look["text_2"])
            short = measure.elidedText(words, Qt.TextElideMode.ElideRight, middle)
            painter.drawText(QRectF(first, y, middle, high), flags | Qt.AlignmentFlag.AlignLeft, short)
        bar = QRectF(first + middle, y + high / 2 - 1.5, self.width() - first - middle - last - 8, 3)
        painter.fillRect(bar, look["border"])
        painter.fillRect(QRectF(bar.left(), bar.top(), bar.width() * share, 3), look["accent_fill"])

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = int(event.position().y()) // scaled(ROW)
        rows = self.rows
        if place < len(rows) and self._scene is not None and self._scene.query.of_grid:
            self.chosen.emit(rows[place][0])
