"""Channels as tiles: every map of a layer at once."""

from __future__ import annotations

import dataclasses

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from hookviewer.arrays import Maps
from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import theme
from hookviewer.gui.views import numbered
from hookviewer.gui.views.view import EDGE, GUTTER, Sheet, Swipe, View
from hookviewer.gui.wall import cell_numbers, geometry, marks, tiles
from hookviewer.gui.wall.geometry import Box, Grid, Sight
from hookviewer.gui.wall.item import WallItem
from hookviewer.gui.wall.odd_words import flat_words, odd_words


class FeatureMaps(View):
    """All maps of a record as tiles of one size, on one scale."""

    gutter = GUTTER
    """Pixels between tiles."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self._item, self._swiped = WallItem(), WallItem()
        self.grid = Grid(1, 1, 1, 1, 0)
        self._settled = Sight()
        self._numbered = False
        """Whether values are written into the cells."""

    @classmethod
    def suits(cls, sheet: Sheet) -> int:
        return 10 if sheet.drawn.layout == "maps" else -1

    def show(self, sheet: Sheet) -> None:
        edge = self._pixels(EDGE)
        room = (sheet.room[0] - 2 * edge, sheet.room[1] - 2 * edge)
        self.grid = self._grid_for(sheet, room)
        self._settled = geometry.settled(sheet.sight, self.grid, sheet.room, edge)
        super().show(sheet)

    def _grid_for(self, sheet: Sheet, room: tuple[int, int]) -> Grid:
        """Return the tiles of a wall of so much room."""
        shape = geometry.shape_of(*sheet.lead.values.shape[1:])
        gap = self._pixels(self.gutter)
        return geometry.grid_of(max(len(sheet.order), 1), shape, room, sheet.sight, gap)

    def _title(self, channel: int) -> str:
        """Return the name of a channel, its number where it has none."""
        titles = self._maps.titles
        return titles[channel] if channel < len(titles) else str(channel)

    # -- where things are ------------------------------------------------------------------------------------

    @property
    def sight(self) -> Sight:
        """The sight in force, with the wall where it belongs."""
        return self._settled

    def tile_rect(self, channel: int) -> QRect:
        tile = self._tile_of(channel)
        return QRect() if tile is None else self._rect(tile).toAlignedRect()

    def spot(self, point: QPointF) -> Pointed | None:
        if self.sheet is None or self.sheet.column.maps is None:
            return None
        sight = self.sight
        found = self.grid.tile_at(point.x() * self.ratio + sight.x, point.y() * self.ratio + sight.y)
        if found is None or found[0] >= len(self.sheet.order):
            return None
        tile, across, down = found
        left, top, wide, high = self._inset
        height, width = self._cells
        column = int(np.floor((across * self.grid.width - left) / wide * width))
        row = int(np.floor((down * self.grid.height - top) / high * height))
        inside = 0 <= row < height and 0 <= column < width
        return Pointed(int(self.sheet.order[tile]), (row, column)) if inside else None

    def zoomed(self, factor: float, point: QPointF) -> Sight:
        return geometry.zoomed(self.sight, self.grid, factor, self._device(point), self._lead_cells)

    def at_cell_size(self, point: QPointF) -> Sight:
        width = max(self._lead_cells[1], geometry.SMALLEST_TILE)
        return geometry.placed(self.sight, self.grid, width, self._device(point), self._lead_cells)

    def place_of(self, spot: Pointed) -> QPointF | None:
        tile = self._tile_of(spot.channel)
        if tile is None:
            return None
        inner, (height, width) = self._inner(tile), self._cells
        if not self._sheet.cell:
            return inner.center()
        across, down = (spot.cell[1] + 0.5) / width, (spot.cell[0] + 0.5) / height
        return QPointF(inner.left() + across * inner.width(), inner.top() + down * inner.height())

    def moved(self, across: float, down: float) -> Sight:
        x, y = round(self.sight.x - across * self.ratio), round(self.sight.y - down * self.ratio)
        wish = dataclasses.replace(self.sight, x=x, y=y)
        return geometry.settled(wish, self.grid, self._sheet.room, self._pixels(EDGE))

    def revealed(self, channel: int) -> Sight:
        tile = self._tile_of(channel)
        if tile is None:
            return self.sight
        wish = geometry.shown(self.sight, self.grid, tile, self._sheet.room, self._pixels(EDGE))
        return geometry.settled(wish, self.grid, self._sheet.room, self._pixels(EDGE))

    def stepped(self, at: Pointed, across: int, down: int) -> Pointed:
        tile = self._tile_of(at.channel)
        if tile is None:  # its tile is hidden: go on from the first one
            return Pointed(int(self._sheet.order[0]), at.cell) if len(self._sheet.order) else at
        wish = tile + across + down * self.grid.columns
        if not 0 <= wish < len(self._sheet.order):
            return at
        return Pointed(int(self._sheet.order[wish]), at.cell)

    # -- pixels ----------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter) -> None:
        sheet = self._sheet
        if sheet.column.maps is None:
            painter.fillRect(self.area, theme()["canvas"])
            self._paint_waiting(painter)
            return
        if sheet.hurry and self._item.can_scale(self._maps, self.grid):
            painter.fillRect(self.area, theme()["canvas"])
            self._item.paint_scaled(painter, self.grid, self.sight)
            return
        view = (round(self.host.width() * self.ratio), round(self.host.height() * self.ratio))
        self._item.paint(painter, self._picture(), self.grid, self.sight, view)
        if sheet.swipe is not None:
            self._paint_swipe(painter, sheet.swipe, view)

    def _paint_swipe(self, painter: QPainter, swipe: Swipe, view: tuple[int, int]) -> None:
        picture = dataclasses.replace(self._picture(), maps=swipe.maps, levels=swipe.levels, own=swipe.own)
        right = self.area.adjusted(swipe.at, 0, 0, 0)
        painter.save()
        painter.setClipRect(right)
        self._swiped.paint(painter, picture, self.grid, self.sight, view)
        painter.restore()
        painter.fillRect(QRectF(swipe.at - 1, 0, 2, right.height()), marks.accent())

    def image(self) -> QImage:
        if self.sheet is not None and self.sheet.hurry:
            self.sheet = dataclasses.replace(self.sheet, hurry=False)
        return super().image()

    def _picture(self) -> tiles.Picture:
        look, sheet = theme(), self._sheet
        grounds = (look["canvas"], look["nan"], marks.hatch_ground(), look["hatch"])
        paints = tiles.Paints(*(int(colour.rgba()) for colour in grounds))
        return tiles.Picture(
            self._maps, sheet.order, sheet.levels, sheet.colormap, paints, sheet.own, sheet.curve
        )

    def _paint_waiting(self, painter: QPainter) -> None:
        sheet, look = self._sheet, theme()
        if not sheet.column.waiting:
            marks.sentence(painter, self.area, sheet.column.reason)
            return
        for tile in self._tiles_in_view():
            painter.fillRect(self._rect(tile), look["control" if look.dark else "control_hover"])
        marks.notice(painter, self.area, sheet.column.reason)

    # -- over them -------------------------------------------------------------------------------------------

    def paint_marks(self, painter: QPainter) -> None:
        if self._sheet.column.maps is None:
            return
        self._numbered = self._paint_numbers(painter)
        self._paint_labels(painter)
        for channel in self._sheet.pinned:
            self._paint_pin(painter, channel)
        if self._sheet.pointed is not None:
            self._paint_pointed(painter, self._sheet.pointed)
        if self._sheet.selected is not None:
            self._paint_selected(painter, self._sheet.selected)

    def _paint_numbers(self, painter: QPainter) -> bool:
        """Write the values into the cells in view, where all of them have room; return whether they are."""
        (height, width), (_, _, wide, high) = self._cells, self._inset
        cell = QSizeF(wide / max(width, 1) / self.ratio, high / max(height, 1) / self.ratio)
        if self._sheet.hurry or not cell_numbers.roomy(cell):
            return False
        flat, order = tiles.flat_channels(self._maps), self._sheet.order
        there = [(int(order[tile]), self._inner(tile)) for tile in self._tiles_in_view()]
        there = [(channel, inner) for channel, inner in there if channel < len(flat) and not flat[channel]]
        return numbered.paint(painter, self._sheet, self._maps, there, cell, self.area)

    def _paint_labels(self, painter: QPainter) -> None:
        spread, flat = tiles.spread(self._maps), tiles.flat_channels(self._maps)
        if not flat.any() and not spread.odd.any():
            return
        for tile in self._tiles_in_view():
            channel = int(self._sheet.order[tile])
            if channel < len(flat) and flat[channel]:
                value = float(spread.low[channel])
                marks.flat_label(painter, self._rect(tile), flat_words(self._sheet.column, value))
            elif channel < len(flat) and spread.odd[channel] and self.grid.width > 30 * self.ratio:
                corner = self._rect(tile).topRight() + QPointF(-3, 3)
                marks.badge(painter, corner, odd_words(self._maps.values[channel]))

    def _paint_pin(self, painter: QPainter, channel: int) -> None:
        tile = self._tile_of(channel)
        if tile is not None and min(self._rect(tile).width(), self._rect(tile).height()) >= 24:
            marks.pin(painter, self._rect(tile).bottomRight() - QPointF(4, 4))

    def _paint_pointed(self, painter: QPainter, pointed: Pointed) -> None:
        tile = self._tile_of(pointed.channel)
        if tile is not None:
            marks.outline(painter, self._rect(tile), marks.PALE_LINE, 1)
            self._paint_cross(painter, tile, pointed.cell)
            self._chip(painter, tile, pointed.channel, chosen=False)

    def _paint_selected(self, painter: QPainter, selected: Pointed) -> None:
        tile = self._tile_of(selected.channel)
        if tile is None:
            return
        marks.selection(painter, self._rect(tile))
        pointed = self._sheet.pointed
        if self._sheet.cell and (pointed is None or pointed.channel != selected.channel):
            self._paint_cross(painter, tile, selected.cell)
        self._chip(painter, tile, selected.channel, chosen=True)

    def _chip(self, painter: QPainter, tile: int, channel: int, *, chosen: bool) -> None:
        rect = self._rect(tile)
        if min(rect.width(), rect.height()) >= 24:
            marks.chip(painter, rect.topLeft() + QPointF(4, 4), self._title(channel), chosen=chosen)

    def _paint_cross(self, painter: QPainter, tile: int, cell: tuple[int, int]) -> None:
        height, width = self._cells
        if not (0 <= cell[0] < height and 0 <= cell[1] < width):
            return  # the columns may have maps of other sizes
        inner = self._inner(tile)
        if not self._numbered:
            marks.cross(painter, inner, (cell[1] + 0.5) / width, (cell[0] + 0.5) / height)
            return
        across, down = inner.width() / width, inner.height() / height  # lines would cross the numbers
        place = QRectF(inner.left() + cell[1] * across, inner.top() + cell[0] * down, across, down)
        marks.outline(painter, place, marks.WHITE_LINE, 1)

    # -- small ones ------------------------------------------------------------------------------------------

    @property
    def _sheet(self) -> Sheet:
        assert self.sheet is not None
        return self.sheet

    @property
    def _maps(self) -> Maps:
        maps = self._sheet.column.maps
        return self._sheet.lead if maps is None else maps

    @property
    def _cells(self) -> tuple[int, int]:
        return self._maps.values.shape[1], self._maps.values.shape[2]

    @property
    def _lead_cells(self) -> tuple[int, int]:
        return self._sheet.lead.values.shape[1], self._sheet.lead.values.shape[2]

    @property
    def _inset(self) -> tuple[int, int, int, int]:
        return geometry.framed(self._cells, (self.grid.height, self.grid.width))

    def _pixels(self, length: int) -> int:
        return round(length * self.ratio)

    def _device(self, point: QPointF) -> tuple[float, float]:
        return point.x() * self.ratio, point.y() * self.ratio

    def _rect(self, tile: int) -> QRectF:
        (x, y), ratio = self.grid.corner(tile), self.ratio
        left, top = (x - self.sight.x) / ratio, (y - self.sight.y) / ratio
        return QRectF(left, top, self.grid.width / ratio, self.grid.height / ratio)

    def _inner(self, tile: int) -> QRectF:
        """Return where the map stands in its tile."""
        left, top, wide, high = (length / self.ratio for length in self._inset)
        rect = self._rect(tile)
        return QRectF(rect.left() + left, rect.top() + top, wide, high)

    def _tile_of(self, channel: int) -> int | None:
        if self.sheet is None:
            return None
        found = np.flatnonzero(self.sheet.order == channel)
        return int(found[0]) if found.size else None

    def _tiles_in_view(self) -> list[int]:
        sight, (width, height) = self.sight, self._sheet.room
        view = Box(sight.x, sight.y, sight.x + width, sight.y + height).within(*self.grid.wall)
        rows, columns = self.grid.touched(view)
        wanted = (row * self.grid.columns + column for row in rows for column in columns)
        return [tile for tile in wanted if tile < len(self._sheet.order)]
