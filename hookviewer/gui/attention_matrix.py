"""All queries × keys as one matrix; a click on a row asks that token."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QImage, QMouseEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from hookviewer import arrays, render
from hookviewer.gui import blending
from hookviewer.gui.attention_scene import COLOURMAP, Levels, Scene, Values
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.inspector.over_map import CASING
from hookviewer.gui.numbers import number
from hookviewer.gui.theme import keeper, theme
from hookviewer.gui.wall import marks

ROOM = 8
"""Pixels at both sides for the marks of the row that is asked."""


class AttentionMatrix(QWidget):
    """Rows are queries, columns keys, in the way of the scene's query."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attention_matrix")
        self.setAccessibleName(self.tr("Matrix of attention"))
        self.setToolTip(self.tr("A row is a query, a column a key. Click a row to ask that token."))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(80, 60)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._scene: Scene | None = None
        self._values: Values | None = None
        self._levels = (0.0, 1.0)
        self._kept: tuple[object, QImage] | None = None
        keeper().changed.connect(self.update)

    def show_scene(self, scene: Scene | None) -> None:
        """Show the matrix that a query is a row of, or nothing."""
        self._scene = scene
        values = scene.matrix() if scene is not None else None
        same = self._values is not None and values is not None and np.array_equal(self._values, values)
        if not same:
            self._values = values
            self._levels = (0.0, 1.0 if values is None else max(arrays.levels(values, "robust")[1], 1e-12))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, 220)

    @property
    def area(self) -> QRectF:
        """Where the matrix is: cells are squares as long as it is not much longer than wide."""
        if self._values is None:
            return QRectF()
        rows, columns = self._values.shape
        room = QRectF(self.rect()).adjusted(ROOM, 2, -ROOM, -2)
        shape = min(max(rows / columns, 0.2), 2.0)
        wide = min(room.width(), room.height() / shape)
        high = wide * shape
        return QRectF(round(room.center().x() - wide / 2), round(room.top()), int(wide), int(high))

    def row_rect(self, token: int) -> QRectF:
        """Return where the row of a query is drawn."""
        rows = 1 if self._values is None else len(self._values)
        high = self.area.height() / rows
        return QRectF(self.area.left(), self.area.top() + token * high, self.area.width(), high)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            painter.fillRect(self.rect(), theme()["canvas"])
            if self._scene is None:
                return
            if self._values is None:
                marks.sentence(painter, QRectF(self.rect()), self.reason())
                return
            image = self.image()
            image.setDevicePixelRatio(self.devicePixelRatioF())
            painter.drawImage(self.area.topLeft(), image)
            row = self.row_rect(self._scene.query.token)
            row = row if row.height() >= 2 else QRectF(row.left(), row.center().y() - 1, row.width(), 2)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for pen in (QPen(CASING, 3), QPen(marks.accent(), 1)):
                painter.setPen(pen)
                painter.drawRect(row.adjusted(-3, -1, 3, 1))

    def reason(self) -> str:
        """Return why there is no matrix."""
        if self._scene is not None and self._scene.query.reason:
            return self._scene.query.reason
        return self.tr(
            "The attention stays in its windows: put back in place, it would be too large to draw."
        )

    @property
    def there(self) -> bool:
        """Whether there is a matrix, and not a reason in its place."""
        return self._values is not None

    @property
    def levels(self) -> Levels:
        """The scale: a few of the largest weights may lie above it."""
        return self._levels

    def tip(self, point: QPointF) -> str:
        """Return what there is to say about a point: the query, the key and the weight."""
        values, area, scene = self._values, self.area, self._scene
        if values is None or scene is None or not area.contains(point):
            return self.toolTip()
        row = min(int((point.y() - area.top()) / area.height() * len(values)), len(values) - 1)
        column = min(int((point.x() - area.left()) / area.width() * values.shape[1]), values.shape[1] - 1)
        query = f"{row}  {scene.asked_words(row)}".strip()
        key = f"{column}  {scene.token_words(column)}".strip()
        weight = number(float(values[row, column]))
        return self.tr("query {}\nkey {}\n= {}").format(query, key, weight)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def image(self) -> QImage:
        """Return the matrix as it is painted, in device pixels, without the marks."""
        assert self._values is not None
        values, ratio = self._values, self.devicePixelRatioF()
        width, height = (max(round(side * ratio), 1) for side in (self.area.width(), self.area.height()))
        key = (id(values), width, height)
        if self._kept is None or self._kept[0] != key:
            cells = blending.blocky(values, height, width)
            pixels = np.ascontiguousarray(render.to_rgba(cells, self.levels, COLOURMAP)[..., :3])
            image = QImage(pixels.tobytes(), width, height, width * 3, QImage.Format.Format_RGB888)
            self._kept = (key, image.copy())
        return self._kept[1]

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._choose(event.position())

    @guarded
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._choose(event.position())

    def _choose(self, point: QPointF) -> None:
        area = self.area
        if self._values is not None and area.contains(point):
            row = int((point.y() - area.top()) / area.height() * len(self._values))
            self.chosen.emit(min(row, len(self._values) - 1))
