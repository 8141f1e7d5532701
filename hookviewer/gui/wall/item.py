"""The picture of one column: pixels kept from paint to paint, and made anew only where something changed."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from hookviewer.arrays import Maps
from hookviewer.gui.wall import tiles
from hookviewer.gui.wall.geometry import Box, Grid, Sight

HEAVY = 1 << 19  # cells above which a gesture first shows the kept picture, larger or smaller


@dataclasses.dataclass(frozen=True, eq=False)
class _Drawn:
    """What was painted last, and where it lies on which wall."""

    image: QImage
    pixels: tiles.Colours
    box: Box
    grid: Grid
    picture: tiles.Picture


class WallItem:
    """Paints a part of a wall with a painter; `view` is width and height in device pixels."""

    def __init__(self) -> None:
        self._board = tiles.Board()
        self._drawn: _Drawn | None = None

    def paint(
        self, painter: QPainter, picture: tiles.Picture, grid: Grid, sight: Sight, view: tuple[int, int]
    ) -> None:
        """Paint the exact pixels, and canvas around them: a pan only moves those that are there."""
        box = self._box(picture, grid, sight, view)
        width, height = box.size
        target = QRect(box.left - sight.x, box.top - sight.y, width, height)
        self._fill_around(painter, target, QRect(0, 0, *view), picture.paints.canvas)
        if not width or not height:
            return
        pixels = self._board.pixels(picture, grid, box)
        # the pixels lie in kept memory: the same memory may hold other ones now
        image = QImage(pixels.data, width, height, width * 4, QImage.Format.Format_RGB32)
        self._drawn = _Drawn(image, pixels, box, grid, picture)
        self._draw(painter, QRectF(target))

    def _fill_around(self, painter: QPainter, inside: QRect, view: QRect, canvas: int) -> None:
        ratio = painter.device().devicePixelRatioF()
        painter.save()
        painter.scale(1 / ratio, 1 / ratio)
        for strip in _strips(view, inside.intersected(view)):
            painter.fillRect(strip, QColor.fromRgb(canvas))
        painter.restore()

    def can_scale(self, maps: Maps, grid: Grid) -> bool:
        """Return whether there is a kept picture of much data that another grid can be shown with for now."""
        drawn = self._drawn
        if drawn is None or drawn.picture.maps is not maps or maps.values.size < HEAVY:
            return False
        return drawn.grid != grid and drawn.grid.columns == grid.columns

    def paint_scaled(self, painter: QPainter, grid: Grid, sight: Sight) -> None:
        """Paint the kept picture larger or smaller while much data is zoomed; the exact pixels follow."""
        drawn = self._drawn
        if drawn is None:
            return
        across = (grid.width + grid.gap) / (drawn.grid.width + drawn.grid.gap)
        down = (grid.height + grid.gap) / (drawn.grid.height + drawn.grid.gap)
        corner = QPointF(drawn.box.left * across - sight.x, drawn.box.top * down - sight.y)
        width, height = drawn.box.size
        self._draw(painter, QRectF(corner.x(), corner.y(), width * across, height * down))

    def _draw(self, painter: QPainter, target: QRectF) -> None:
        if self._drawn is None:
            return
        ratio = painter.device().devicePixelRatioF()
        painter.save()
        painter.scale(1 / ratio, 1 / ratio)
        if target.size() == QRectF(self._drawn.image.rect()).size():
            painter.drawImage(target.topLeft(), self._drawn.image)
        else:
            painter.drawImage(target, self._drawn.image)
        painter.restore()

    def _box(self, picture: tiles.Picture, grid: Grid, sight: Sight, view: tuple[int, int]) -> Box:
        """Return the part to have pixels of: the one there is, or what is in view; for a pan all, or more."""
        width, height = view
        seen = Box(sight.x, sight.y, sight.x + width, sight.y + height).within(*grid.wall)
        drawn = self._drawn
        if drawn is None or drawn.grid != grid or not tiles.equal(drawn.picture.colours, picture.colours):
            return seen  # while a scale or a zoom changes nothing is made that is not looked at
        if drawn.box.contains(seen):
            return drawn.box
        if grid.wall[0] * grid.wall[1] <= 2 * width * height:
            return Box(0, 0, *grid.wall)
        return seen.grown(width // 4, height // 4).within(*grid.wall)


def _strips(view: QRect, inside: QRect) -> list[QRect]:
    """Return the parts of a view around a rectangle in it: above, below, left and right."""
    if inside.isEmpty():
        return [view]
    top, bottom = inside.top(), inside.bottom() + 1
    return [
        QRect(0, 0, view.width(), top),
        QRect(0, bottom, view.width(), view.height() - bottom),
        QRect(0, top, inside.left(), inside.height()),
        QRect(inside.right() + 1, top, view.width() - inside.right() - 1, inside.height()),
    ]
