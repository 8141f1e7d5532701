"""One map, large: its cells, a cross-hair, and the photograph below it."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
from PIL import Image
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer.gui import blending, thumbnails
from hookviewer.gui.field_lane import Seen
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.inspector import over_map, window
from hookviewer.gui.inspector.focus import Focus, Values, one_channel
from hookviewer.gui.inspector.over_map import Region, cross_colours
from hookviewer.gui.inspector.window import Sizes, Window
from hookviewer.gui.state import InputItem, Pointed
from hookviewer.gui.theme import keeper, theme
from hookviewer.gui.views import placing
from hookviewer.gui.views.colour_kernels import packed
from hookviewer.gui.wall import cell_numbers, geometry, marks, tiles
from hookviewer.gui.wall.odd_words import flat_words
from hookviewer.receptive import MEASURED

__all__ = ["BigMap", "Showing", "cross_colours"]

TALLEST = 320
LOWEST = 48
NOTCH = 120
"""What a wheel tells for one notch, in eighths of a degree."""


@dataclasses.dataclass(frozen=True)
class Showing:
    """How the map is shown: `map`, `overlay` (opacity 0 to 1) or `input`; with lines of one value or not."""

    mode: str = "map"
    opacity: float = 0.75
    contour: bool = False


class BigMap(QWidget):
    """The channel in focus; a click or a drag chooses the cell, a drag with Shift a region.

    The wheel enlarges, the right button moves what is enlarged, a double click shows all.
    """

    chosen = Signal(object)
    hovered = Signal(object)
    region_chosen = Signal(object)
    """A rectangle of cells: top, left, and bottom and right just outside."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("big_map")
        self.setAccessibleName(self.tr("The selected map"))
        self.setToolTip(
            self.tr("Wheel: enlarge. Right button: move. Double click: show all.")
            + "\n"
            + self.tr("Shift and drag: statistics of a rectangle.")
        )
        self.setMouseTracking(True)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.focus: Focus | None = None
        self.seen: Seen | None = None
        self.region: Region | None = None
        self.draws_regions = False
        """Whether a plain drag draws a region."""
        self.part = Window(0, 0, 1, 1)
        self.showing = Showing()
        self._pointer: QPointF | None = None
        self._start: Sizes | None = None
        """The cell in which a region was begun."""
        self._grip: QPointF | None = None
        self._board = tiles.Board()
        self._kept: tuple[InputItem | None, blending.Pixels] | None = None
        keeper().changed.connect(self.update)

    def show_focus(
        self,
        focus: Focus | None,
        showing: Showing,
        seen: Seen | None = None,
        region: Region | None = None,
    ) -> None:
        """Show a channel, what its cell in focus sees of the picture, and a region."""
        other = self.focus is None or focus is None or self._sizes(self.focus) != self._sizes(focus)
        cell = self.focus.cell if self.focus is not None else None
        self.focus, self.showing, self.seen = focus, showing, seen
        self.region = region if self._start is None else self.region
        if other:
            self._start = None
            self.part = window.whole(self._sizes(focus)) if focus is not None else Window(0, 0, 1, 1)
            self.updateGeometry()
        elif focus is not None and focus.cell != cell:
            self.part = window.showing(self.part, self._sizes(focus), focus.cell)
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
        left, top, wide, high = geometry.inset(self._sizes(self.focus), (height, width))
        return geometry.Box(left, top, left + wide, top + high)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if self.focus is None:
            return 120
        shape = geometry.shape_of(*self._sizes(self.focus))
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
                self._paint_over(painter, self.focus, image)

    def _paint_over(self, painter: QPainter, focus: Focus, image: QImage) -> None:
        area, values = self._area(), self._values(focus)
        self._paint_label(painter, focus)
        cell = QSizeF(area.width() / self.part.columns, area.height() / self.part.rows)
        plain = self.showing.mode == "map" and focus.maps.colours is None
        written = plain and cell_numbers.fits(cell, values, whole=focus.maps.whole)
        if written:
            bright = cell_numbers.are_bright(_colours_at(image, area, values.shape))
            cell_numbers.paint(painter, area, values, bright, whole=focus.maps.whole)
        over_map.paint_cross(painter, area, self.part, focus.cell, lines=not written)
        if self.region is not None:
            place = over_map.place_of(area, self.part, self.region)
            over_map.paint_outline(painter, place, area, filled=True)
        if self.seen is not None and self.showing.mode != "map":
            field = self._field_place(focus, self.seen)
            over_map.paint_outline(painter, field, area, dashed=self.seen.way == MEASURED)
        if self.part.shape != self._sizes(focus):
            enlarged = self._sizes(focus)[0] / self.part.rows
            marks.chip(painter, area.topLeft() + QPointF(6, 6), f"× {enlarged:.1f}")

    def _field_place(self, focus: Focus, seen: Seen) -> QRectF:
        """Return where the receptive field is: the picture fills the whole map."""
        rows, columns = self._sizes(focus)
        down, across = rows / seen.size[0], columns / seen.size[1]
        box, area = seen.box, self._area()
        cell = QPointF(area.width() / self.part.columns, area.height() / self.part.rows)
        left = area.left() + (box.left * across - self.part.left) * cell.x()
        top = area.top() + (box.top * down - self.part.top) * cell.y()
        return QRectF(left, top, box.size[1] * across * cell.x(), box.size[0] * down * cell.y())

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
        if self.showing.mode == "input" and picture is not None:
            return _rgb_image(blending.in_colour(self._picture_part(focus, picture), width, height))
        pixels = self._pixels(focus, width, height)
        drawn = self.showing.mode == "overlay" and picture is not None
        if not drawn and not self.showing.contour:
            return QImage(pixels.data, width, height, width * 4, QImage.Format.Format_RGB32)
        colours = np.stack([pixels >> 16 & 255, pixels >> 8 & 255, pixels & 255], axis=2).astype(np.uint8)
        values = self._values(focus)
        if drawn and picture is not None:
            share = blending.strength(blending.blocky(values, height, width), focus.levels)
            under = self._photograph(focus, picture, width, height)
            colours = blending.mixed(colours, under, share, self.showing.opacity)
        if self.showing.contour:
            smooth = blending.smooth(values, height, width)
            colours = blending.outlined(colours, blending.contours(smooth, focus.levels))
        return _rgb_image(colours)

    def _picture_part(self, focus: Focus, picture: Image.Image) -> Image.Image:
        """Return the part of the picture that lies under the window."""
        rows, columns = self._sizes(focus)
        if self.part.shape == (rows, columns):
            return picture
        down, across = picture.height / rows, picture.width / columns
        top, left = self.part.top * down, self.part.left * across
        right, bottom = left + self.part.columns * across, top + self.part.rows * down
        size = (max(round(right - left), 1) * 4, max(round(bottom - top), 1) * 4)
        wanted = picture.convert("RGB")
        return wanted.resize(size, Image.Resampling.BICUBIC, box=(left, top, right, bottom))

    def _photograph(self, focus: Focus, picture: Image.Image, width: int, height: int) -> blending.Pixels:
        """Return the grey picture, kept for the next channel."""
        if self.part.shape != self._sizes(focus):
            return blending.photograph(self._picture_part(focus, picture), width, height)
        if self._kept is None or self._kept[0] is not focus.item or self._kept[1].shape != (height, width):
            self._kept = (focus.item, blending.photograph(picture, width, height))
        return self._kept[1]

    def _pixels(self, focus: Focus, width: int, height: int) -> tiles.Colours:
        look = theme()
        grounds = (look["canvas"], look["nan"], marks.hatch_ground(), look["hatch"])
        paints = tiles.Paints(*(int(colour.rgba()) for colour in grounds))
        maps, order = one_channel(focus.maps, focus.channel), np.arange(1)
        grid = geometry.Grid(1, 1, width, height, round(2 * self.devicePixelRatioF()))
        box = geometry.Box(0, 0, width, height)
        if maps.colours is not None:
            colours = packed(self._in_window(maps.colours[0])[None], focus.levels, focus.curve)
            return placing.placed(colours, order, grid, box, geometry.inset(self.part.shape, (height, width)))
        if self.part.shape != self._sizes(focus):
            maps = dataclasses.replace(maps, values=self._values(focus)[None])
        picture = tiles.Picture(maps, order, focus.levels, focus.colormap, paints, curve=focus.curve)
        return self._board.pixels(picture, grid, box)

    def _values(self, focus: Focus) -> Values:
        """Return the cells in the window."""
        return self._in_window(focus.map)

    def _in_window(self, cells: Values) -> Values:
        top, left = self.part.top, self.part.left
        return cells[top : top + self.part.rows, left : left + self.part.columns]

    def _paint_label(self, painter: QPainter, focus: Focus) -> None:
        maps = one_channel(focus.maps, focus.channel)
        if maps.colours is None and self.showing.mode == "map" and tiles.flat_channels(maps)[0]:
            value = float(tiles.spread(maps).low[0])
            marks.flat_label(painter, self._beside_the_cross(focus), flat_words(focus.column, value))

    def _beside_the_cross(self, focus: Focus) -> QRectF:
        """Return the quarter of the picture whose middle the cross is farthest from."""
        row, column = focus.cell[0] - self.part.top, focus.cell[1] - self.part.left
        quarter = QRectF(0, 0, self.width() / 2, self.height() / 2)
        right, below = 2 * column + 1 < self.part.columns, 2 * row + 1 < self.part.rows
        return quarter.translated(right * quarter.width(), below * quarter.height())

    # -- pointer

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton):
            self._grip = event.position()
            return
        spot = self._spot(event.position())
        shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if spot is not None and event.button() == Qt.MouseButton.LeftButton:
            self._start = spot.cell if shifted or self.draws_regions else None
        self._tell(event, choose=event.button() == Qt.MouseButton.LeftButton)

    @guarded
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grip is not None:
            self._drag(event.position())
        self._tell(event, choose=bool(event.buttons() & Qt.MouseButton.LeftButton))

    @guarded
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grip = None
        begun, self._start = self._start, None
        if begun is not None:
            self.region_chosen.emit(self.region)

    @guarded
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.focus is not None:
            self._show_window(window.whole(self._sizes(self.focus)))

    @guarded
    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y()
        if self.focus is None or not turned or not self._area().contains(event.position()):
            event.ignore()  # beside the map the inspector scrolls
            return
        down, across = self._shares(event.position())
        factor = window.STEP ** (turned / NOTCH)
        made = window.zoomed(self.part, self._sizes(self.focus), down, across, factor)
        if made == self.part and turned < 0:
            event.ignore()
            return
        self._pointer = event.position()
        self._show_window(made)
        event.accept()

    def _drag(self, point: QPointF) -> None:
        """Move what is enlarged by as many whole cells as the pointer has gone."""
        if self.focus is None or self._grip is None:
            return
        area = self._area()
        gone = point - self._grip
        rows = round(gone.y() / area.height() * self.part.rows)
        columns = round(gone.x() / area.width() * self.part.columns)
        if rows or columns:
            self._grip = point
            self._show_window(window.moved(self.part, self._sizes(self.focus), -rows, -columns))

    def _show_window(self, made: Window) -> None:
        if made != self.part:
            self.part = made
            self.update()
            self._hover_again()

    @guarded
    def leaveEvent(self, event: QEvent) -> None:
        self._pointer = None
        self.hovered.emit(None)

    def _tell(self, event: QMouseEvent, *, choose: bool) -> None:
        self._pointer = event.position()
        spot = self._spot(self._pointer)
        if choose and self._start is not None:
            self._stretch(self._start, self._pointer)
        elif choose and spot is not None:
            self.chosen.emit(spot)
        self.hovered.emit(spot)

    def _stretch(self, start: Sizes, point: QPointF) -> None:
        """Let the region reach from the cell it was begun in to the one at the pointer."""
        end = self.part.cell(*self._shares(point))
        top, left = min(start[0], end[0]), min(start[1], end[1])
        self.region = (top, left, max(start[0], end[0]) + 1, max(start[1], end[1]) + 1)
        self.update()

    def _hover_again(self) -> None:
        """Another map may lie under the pointer now, or this one at another size."""
        if self._pointer is not None:
            self.hovered.emit(self._spot(self._pointer))

    def _spot(self, point: QPointF) -> Pointed | None:
        if self.focus is None or not self._area().contains(point):
            return None
        return Pointed(self.focus.channel, self.part.cell(*self._shares(point)))

    def _shares(self, point: QPointF) -> tuple[float, float]:
        area = self._area()
        return (point.y() - area.top()) / area.height(), (point.x() - area.left()) / area.width()

    def _area(self) -> QRectF:
        ratio, box = self.devicePixelRatioF(), self.box
        return QRectF(box.left / ratio, box.top / ratio, box.size[0] / ratio, box.size[1] / ratio)

    @staticmethod
    def _sizes(focus: Focus) -> Sizes:
        return focus.maps.values.shape[1], focus.maps.values.shape[2]


def _rgb_image(pixels: npt.NDArray[np.uint8]) -> QImage:
    height, width = pixels.shape[:2]
    image = QImage(pixels.tobytes(), width, height, width * 3, QImage.Format.Format_RGB888)
    return image.copy()


def _colours_at(image: QImage, area: QRectF, cells: Sizes) -> npt.NDArray[np.uint8]:
    """Return the colours [h, w, 3] in the middle of so many cells that fill an area."""
    ratio = image.devicePixelRatio()
    rows = ((np.arange(cells[0]) + 0.5) / cells[0] * area.height() + area.top()) * ratio
    columns = ((np.arange(cells[1]) + 0.5) / cells[1] * area.width() + area.left()) * ratio
    rgba = image.convertToFormat(QImage.Format.Format_RGBA8888)
    pixels = np.frombuffer(rgba.constBits(), np.uint8).reshape(rgba.height(), rgba.bytesPerLine() // 4, 4)
    down = np.clip(rows.astype(np.intp), 0, rgba.height() - 1)
    across = np.clip(columns.astype(np.intp), 0, rgba.width() - 1)
    return pixels[np.ix_(down, across)][..., :3].copy()
