"""One map, large: its cells, a cross-hair, and the photograph below it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer.gui import blending, thumbnails
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.inspector.focus import Focus, one_channel
from hookviewer.gui.numbers import number
from hookviewer.gui.state import InputItem, Pointed
from hookviewer.gui.theme import keeper, theme
from hookviewer.gui.wall import geometry, marks, tiles

TALLEST = 320
LOWEST = 48
ROW_LINE, COLUMN_LINE = QColor(90, 200, 250), QColor(255, 209, 102)
CASING = QColor(0, 0, 0, 110)


def cross_colours() -> tuple[QColor, QColor]:
    """Return the colours of the row and the column in plots: those of the cross-hair, readable on a panel."""
    return (ROW_LINE, COLUMN_LINE) if theme().dark else (QColor(10, 124, 186), QColor(168, 106, 0))


class BigMap(QWidget):
    """The channel in focus; a click or a drag chooses the cell."""

    chosen = Signal(object)
    hovered = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("big_map")
        self.setAccessibleName(self.tr("The selected map"))
        self.setMouseTracking(True)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.focus: Focus | None = None
        self._pointer: QPointF | None = None
        self._mode, self._opacity = "map", 0.75
        self._board = tiles.Board()
        self._kept: tuple[InputItem | None, blending.Pixels] | None = None
        keeper().changed.connect(self.update)

    def show_focus(self, focus: Focus | None, mode: str, opacity: float) -> None:
        """Show a channel as `map`, `overlay` (with an opacity of 0 to 1) or `input`."""
        other = self.focus is None or focus is None or self._cells_of(self.focus) != self._cells_of(focus)
        self.focus, self._mode, self._opacity = focus, mode, opacity
        if other:
            self.updateGeometry()
        self.update()
        self._hover_again()

    def image(self) -> npt.NDArray[np.uint8]:
        """Return what is painted now but the cross-hair, RGBA uint8 [height, width, 4] in device pixels."""
        rgba = self._image().convertToFormat(QImage.Format.Format_RGBA8888)
        rows = np.frombuffer(rgba.constBits(), np.uint8).reshape(rgba.height(), rgba.bytesPerLine())
        return rows[:, : rgba.width() * 4].reshape(rgba.height(), rgba.width(), 4).copy()

    @property
    def box(self) -> geometry.Box:
        """Where the map is, in device pixels."""
        ratio = self.devicePixelRatioF()
        width, height = round(self.width() * ratio), round(self.height() * ratio)
        if self.focus is None:
            return geometry.Box(0, 0, width, height)
        left, top, wide, high = geometry.inset(self._cells_of(self.focus), (height, width))
        return geometry.Box(left, top, left + wide, top + high)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if self.focus is None:
            return 120
        shape = geometry.shape_of(*self._cells_of(self.focus))
        return int(min(max(round(width * shape), LOWEST), TALLEST))

    def sizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(max(self.width(), 100)))

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()  # the height follows the width
        self._hover_again()

    # -- painting

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        image = self._image()
        with painting(self) as painter:
            painter.drawImage(QPointF(0, 0), image)
            if self.focus is not None:
                self._paint_label(painter, self.focus)
                self._paint_cross(painter, self.focus)

    def _image(self) -> QImage:
        ratio = self.devicePixelRatioF()
        image = QImage(self.size() * ratio, QImage.Format.Format_RGB32)
        image.fill(theme()["canvas"])
        if self.focus is not None:
            picture = self._picture(self.focus, *self.box.size)
            with painting(image) as painter:
                painter.drawImage(QPointF(self.box.left, self.box.top), picture)
        image.setDevicePixelRatio(ratio)
        return image

    def _picture(self, focus: Focus, width: int, height: int) -> QImage:
        picture = None if focus.item is None else thumbnails.picture_of(focus.item.input)
        if self._mode == "input" and picture is not None:
            return _rgb_image(blending.in_colour(picture, width, height))
        pixels = self._pixels(focus, width, height)
        if self._mode == "overlay" and picture is not None:
            colours = np.stack([pixels >> 16 & 255, pixels >> 8 & 255, pixels & 255], axis=2)
            share = blending.strength(blending.blocky(focus.map, height, width), focus.levels)
            under = self._photograph(focus.item, picture, width, height)
            return _rgb_image(blending.mixed(colours.astype(np.uint8), under, share, self._opacity))
        return QImage(pixels.data, width, height, width * 4, QImage.Format.Format_RGB32)

    def _photograph(
        self, item: InputItem | None, picture: Image.Image, width: int, height: int
    ) -> blending.Pixels:
        """Return the grey picture, kept for the next channel."""
        if self._kept is None or self._kept[0] is not item or self._kept[1].shape != (height, width):
            self._kept = (item, blending.photograph(picture, width, height))
        return self._kept[1]

    def _pixels(self, focus: Focus, width: int, height: int) -> tiles.Colours:
        look = theme()
        grounds = (look["canvas"], look["nan"], marks.hatch_ground(), look["hatch"])
        paints = tiles.Paints(*(int(colour.rgba()) for colour in grounds))
        maps = one_channel(focus.maps, focus.channel)
        picture = tiles.Picture(maps, np.arange(1), focus.levels, focus.colormap, paints)
        grid = geometry.Grid(1, 1, width, height, round(2 * self.devicePixelRatioF()))
        return self._board.pixels(picture, grid, geometry.Box(0, 0, width, height))

    def _paint_label(self, painter: QPainter, focus: Focus) -> None:
        maps = one_channel(focus.maps, focus.channel)
        if self._mode == "map" and tiles.flat_channels(maps)[0]:
            value = float(tiles.spread(maps).low[0])
            marks.flat_label(painter, QRectF(self.rect()), f"= {number(value)}" if value else self.tr("dead"))

    def _paint_cross(self, painter: QPainter, focus: Focus) -> None:
        area, (height, width) = self._area(), self._cells_of(focus)
        across, down = area.width() / width, area.height() / height
        y = area.top() + (focus.cell[0] + 0.5) * down
        x = area.left() + (focus.cell[1] + 0.5) * across
        row, column = QLineF(area.left(), y, area.right(), y), QLineF(x, area.top(), x, area.bottom())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for line, colour in ((row, ROW_LINE), (column, COLUMN_LINE)):
            for pen in (QPen(CASING, 3), QPen(colour, 1)):
                painter.setPen(pen)
                painter.drawLine(line)
        cell = QRectF(x - across / 2, y - down / 2, across, down)
        painter.setPen(QPen(marks.WHITE_LINE, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(cell.adjusted(-2, -2, 2, 2) if across < 8 else cell)

    # -- pointer

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._tell(event, choose=True)

    @guarded
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._tell(event, choose=bool(event.buttons() & Qt.MouseButton.LeftButton))

    @guarded
    def leaveEvent(self, event: QEvent) -> None:
        self._pointer = None
        self.hovered.emit(None)

    def _tell(self, event: QMouseEvent, *, choose: bool) -> None:
        self._pointer = event.position()
        spot = self._spot(self._pointer)
        if choose and spot is not None:
            self.chosen.emit(spot)
        self.hovered.emit(spot)

    def _hover_again(self) -> None:
        """Another map may lie under the pointer now, or this one at another size."""
        if self._pointer is not None:
            self.hovered.emit(self._spot(self._pointer))

    def _spot(self, point: QPointF) -> Pointed | None:
        if self.focus is None:
            return None
        area, (height, width) = self._area(), self._cells_of(self.focus)
        row = int((point.y() - area.top()) / area.height() * height)
        column = int((point.x() - area.left()) / area.width() * width)
        inside = 0 <= row < height and 0 <= column < width and area.contains(point)
        return Pointed(self.focus.channel, (row, column)) if inside else None

    def _area(self) -> QRectF:
        ratio, box = self.devicePixelRatioF(), self.box
        return QRectF(box.left / ratio, box.top / ratio, box.size[0] / ratio, box.size[1] / ratio)

    @staticmethod
    def _cells_of(focus: Focus) -> tuple[int, int]:
        return focus.maps.values.shape[1], focus.maps.values.shape[2]


def _rgb_image(pixels: npt.NDArray[np.uint8]) -> QImage:
    height, width = pixels.shape[:2]
    image = QImage(pixels.tobytes(), width, height, width * 3, QImage.Format.Format_RGB888)
    return image.copy()
