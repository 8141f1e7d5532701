"""The picture with the grid of tokens over it: what the query attends to; a click asks another token."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from hookviewer.gui.attention_scene import Greys, Scene, overlaid
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.inspector.over_map import CASING
from hookviewer.gui.numbers import number
from hookviewer.gui.theme import keeper, theme
from hookviewer.gui.wall import marks

LINE = 36
"""How strong the lines of the grid are, of 255."""
LEAST_CELL = 6


class AttentionPhoto(QWidget):
    """What lies over the picture is the way of the scene's query; the query's own token is outlined."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attention_photo")
        self.setAccessibleName(self.tr("The token over the picture"))
        self.setToolTip(self.tr("Click a patch to see what it attends to."))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(80, 60)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._scene: Scene | None = None
        self._greys = Greys()
        self._kept: tuple[object, QImage] | None = None
        keeper().changed.connect(self.update)

    def show_scene(self, scene: Scene | None) -> None:
        """Show a query, or nothing."""
        self._scene = scene
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(260, 220)

    # -- where things are ------------------------------------------------------------------------------------

    @property
    def area(self) -> QRectF:
        """Where the picture is, as large as it fits."""
        if self._scene is None or self._scene.query.grid is None:
            return QRectF()
        return fitted(self._scene, QRectF(self.rect()))

    def cell_rect(self, token: int) -> QRectF:
        """Return where a token is drawn; empty where it has no place."""
        place = self._scene.query.place_of(token) if self._scene is not None else None
        if place is None or self._scene is None or self._scene.query.grid is None:
            return QRectF()
        _, rows, columns = self._scene.query.grid
        area = self.area
        wide, high = area.width() / columns, area.height() / rows
        return QRectF(area.left() + place[1] * wide, area.top() + place[0] * high, wide, high)

    def token_at(self, point: QPointF) -> int | None:
        """Return the token at a point; None beside the picture."""
        area, scene = self.area, self._scene
        if scene is None or scene.query.grid is None or not area.contains(point):
            return None
        leading, rows, columns = scene.query.grid
        row = min(int((point.y() - area.top()) / area.height() * rows), rows - 1)
        column = min(int((point.x() - area.left()) / area.width() * columns), columns - 1)
        return leading + row * columns + column

    # -- painting --------------------------------------------------------------------------------------------

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            painter.fillRect(self.rect(), theme()["canvas"])
            if self._scene is None or self.area.isEmpty():
                return
            if self._scene.query.reason:
                marks.sentence(painter, QRectF(self.rect()), self._scene.query.reason)
                return
            image = self.image()
            image.setDevicePixelRatio(self.devicePixelRatioF())
            painter.drawImage(self.area.topLeft(), image)
            self._paint_grid(painter)
            self._paint_query(painter)

    def image(self) -> QImage:
        """Return the picture with the weights over it, in device pixels, without lines."""
        scene, ratio = self._scene, self.devicePixelRatioF()
        assert scene is not None
        size = (round(self.area.width() * ratio), round(self.area.height() * ratio))
        if self._kept is None or self._kept[0] != (scene, size):
            values = scene.tile(scene.query.seen)
            under = self._greys.of(scene.picture, *size)
            self._kept = ((scene, size), overlaid(values, scene.seen_levels, under, *size))
        return self._kept[1]

    def _paint_grid(self, painter: QPainter) -> None:
        assert self._scene is not None
        assert self._scene.query.grid is not None
        area, (_, rows, columns) = self.area, self._scene.query.grid
        if min(area.width() / columns, area.height() / rows) < LEAST_CELL:
            return
        painter.setPen(QPen(QColor(255, 255, 255, LINE), 1))
        for row in range(1, rows):
            y = round(area.top() + row * area.height() / rows) + 0.5
            painter.drawLine(QLineF(area.left(), y, area.right(), y))
        for column in range(1, columns):
            x = round(area.left() + column * area.width() / columns) + 0.5
            painter.drawLine(QLineF(x, area.top(), x, area.bottom()))

    def _paint_query(self, painter: QPainter) -> None:
        assert self._scene is not None
        if not self._scene.query.of_grid:
            return
        place = self.cell_rect(self._scene.query.token)
        if place.isEmpty():
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for pen in (QPen(CASING, 5), QPen(marks.accent(), 2)):
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.setPen(pen)
            painter.drawRect(place)

    # -- the pointer -----------------------------------------------------------------------------------------

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._choose(event)

    @guarded
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._choose(event)

    def _choose(self, event: QMouseEvent) -> None:
        token = self.token_at(event.position())
        if token is not None and self._scene is not None and self._scene.query.of_grid:
            self.chosen.emit(token)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def tip(self, point: QPointF) -> str:
        """Return what there is to say about a point: the token and its weight."""
        token, scene = self.token_at(point), self._scene
        if token is None or scene is None or scene.query.reason:
            return self.toolTip()
        weight = number(float(scene.query.seen[token]))
        return self.tr("token {}  {}  = {}").format(token, scene.token_words(token), weight)


def fitted(scene: Scene, room: QRectF) -> QRectF:
    """Return the largest place in a room that has the shape of a scene's tiles."""
    shape = scene.shape
    wide = min(room.width(), room.height() / shape)
    high = wide * shape
    left, top = room.left() + (room.width() - wide) / 2, room.top() + (room.height() - high) / 2
    return QRectF(round(left), round(top), max(int(wide), 1), max(int(high), 1))
