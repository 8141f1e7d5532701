"""All heads of one query as tiles of the grid over the picture, on one scale; a click selects a head."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer.gui.attention_scene import Greys, Scene, overlaid
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.theme import font, keeper, scaled, theme
from hookviewer.gui.wall import marks

GUTTER, WORDS = 6, 16
LEAST_FOR_WORDS = 44


class AttentionHeads(QWidget):
    """Tiles in the order of the scene, with the number of the head and its entropy in bits below."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attention_heads")
        self.setAccessibleName(self.tr("Heads"))
        self.setToolTip(self.tr("One tile a head, all on one scale. Click one to look at it alone."))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(80, 50)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._scene: Scene | None = None
        self._greys = Greys()
        self._kept: dict[int, tuple[object, QImage]] = {}
        keeper().changed.connect(self.update)

    def show_scene(self, scene: Scene | None) -> None:
        """Show the heads of a query, or nothing."""
        if scene is not self._scene:
            self._kept.clear()
        self._scene = scene
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(260, 140)

    def rect_of(self, head: int) -> QRectF:
        """Return where the map of a head is drawn; empty where there is none."""
        scene = self._scene
        if scene is None or head not in scene.order:
            return QRectF()
        columns, wide, high, words = self._grid(scene)
        row, column = divmod(scene.order.index(head), columns)
        step = high + words + GUTTER
        left = max((self.width() - columns * (wide + GUTTER) + GUTTER) // 2, 2)
        return QRectF(left + column * (wide + GUTTER), row * step + 2, wide, high)

    def _grid(self, scene: Scene) -> tuple[int, int, int, int]:
        """Return columns, width and height of a tile, and the room for its words, where tiles are largest.

        Tiles that would be narrow with words below them go without.
        """
        best = self._largest(scene, scaled(WORDS))
        return best if best[1] >= LEAST_FOR_WORDS else self._largest(scene, 0)

    def _largest(self, scene: Scene, words: int) -> tuple[int, int, int, int]:
        shape, count = scene.shape, len(scene.order)
        best = (1, 4, 4, words)
        for columns in range(1, count + 1):
            rows = -(-count // columns)
            wide = (self.width() - 8 - (columns - 1) * GUTTER) / columns
            room = (self.height() - 6 - (rows - 1) * GUTTER) / rows
            wide = int(min(wide, max(room - words, 1) / shape))
            if wide > best[1]:
                best = (columns, wide, max(int(wide * shape), 2), words)
        return best

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            painter.fillRect(self.rect(), theme()["canvas"])
            if self._scene is None:
                return
            for head in self._scene.order:
                self._paint_head(painter, self._scene, head)

    def _paint_head(self, painter: QPainter, scene: Scene, head: int) -> None:
        rect = self.rect_of(head)
        image = self.image(head)
        image.setDevicePixelRatio(self.devicePixelRatioF())
        painter.drawImage(rect.topLeft(), image)
        if head == scene.head:
            marks.selection(painter, rect)
        if not self._grid(scene)[3]:
            return
        line = QRectF(rect.left(), rect.bottom() + 2, rect.width(), scaled(WORDS))
        painter.setFont(font("mono", 11))
        painter.setPen(theme()["accent" if head == scene.head else "text_2"])
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, str(head))
        painter.setPen(theme()["text_3"])
        said = f"{scene.query.entropies[head]:.1f}"
        longer = self.tr("{} bit").format(said)
        fits = painter.fontMetrics().horizontalAdvance(f"{head}  {longer}") < rect.width()
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, longer if fits else said)

    def image(self, head: int) -> QImage:
        """Return the tile of a head as it is painted, in device pixels."""
        scene, ratio, rect = self._scene, self.devicePixelRatioF(), self.rect_of(head)
        assert scene is not None
        size = (max(round(rect.width() * ratio), 1), max(round(rect.height() * ratio), 1))
        if head not in self._kept or self._kept[head][0] != size:
            values = scene.tile(scene.query.heads[head])
            under = self._greys.of(scene.picture, *size)
            self._kept[head] = (size, overlaid(values, scene.levels, under, *size))
        return self._kept[head][1]

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        head = self.head_at(event.position())
        if head is not None:
            self.chosen.emit(head)

    def head_at(self, point: QPointF) -> int | None:
        """Return the head whose tile is at a point."""
        order = self._scene.order if self._scene is not None else ()
        return next((head for head in order if self.rect_of(head).contains(point)), None)
