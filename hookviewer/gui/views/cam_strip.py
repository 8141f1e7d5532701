"""Maps of importance: one tile for each, over the grey picture that the network saw, in lines with a head."""

from __future__ import annotations

import dataclasses

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from hookviewer import render
from hookviewer.gui import blending
from hookviewer.gui.cam_lines import Place
from hookviewer.gui.cams import Cam
from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import scaled, theme
from hookviewer.gui.views import cam_words
from hookviewer.gui.views.cam_words import flat_words, peak_words, short_note, tip_of
from hookviewer.gui.views.view import EDGE, Sheet, Strip, View
from hookviewer.gui.wall import geometry, marks, strip
from hookviewer.gui.wall.geometry import Sight
from hookviewer.gui.wall.words import tr

GUTTER, WORDS, NOTE, HEAD = 8, 20, 14, 24
LEAST_FOR_REASON = 72


class CamStrip(View):
    """Layers in order of execution, methods, targets. Maps are smooth over a picture, cells without one."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self.grid = strip.Lines(1, 1, 1, 1, 0, (1,))
        self._settled = Sight()
        self._images: dict[Place, tuple[tuple[object, ...], QImage]] = {}
        self._grey: tuple[object, blending.Pixels] | None = None

    @classmethod
    def suits(cls, sheet: Sheet) -> int:
        return 20 if sheet.strip is not None else -1

    def show(self, sheet: Sheet) -> None:
        self.sheet = sheet
        gap, edge = self._pixels(GUTTER), self._pixels(EDGE)
        room = (sheet.room[0] - 2 * edge, sheet.room[1] - 2 * edge)
        cams = self._strip.cams
        lines = self._strip.lines
        counts, head = tuple(count for _, count in lines) or (len(cams),), self._head if lines else 0
        self.grid = strip.strip_of(counts, self._strip.shape, room, sheet.sight, gap, self._words, head)
        self._settled = geometry.settled(sheet.sight, self.grid, sheet.room, edge)
        self._images = {cam.place: self._images[cam.place] for cam in cams if cam.place in self._images}
        super().show(sheet)

    # -- where things are ------------------------------------------------------------------------------------

    @property
    def sight(self) -> Sight:
        """The sight in force, with the tiles where they belong."""
        return self._settled

    def rect_of(self, path: str, leaf: str | None = None) -> QRectF:
        """Return where a map is drawn, in pixels of the host; empty when it is not.

        Without a `leaf` it is the first one of a layer.
        """
        first = next((cam.leaf for cam in self._strip.cams if cam.path == path), "")
        tile = self._tile_of((path, first if leaf is None else leaf))
        return QRectF() if tile is None else self._inner(tile)

    def tile_rect(self, channel: int) -> QRect:
        return self.rect_of(*self._strip.selected).toAlignedRect()

    def spot(self, point: QPointF) -> Pointed | None:
        tile = self._tile_at(point)
        cam = None if tile is None else self._strip.cams[tile]
        if tile is None or cam is None or cam.maps is None or not self._inner(tile).contains(point):
            return None
        inner, (height, width) = self._inner(tile), cam.maps.values.shape[1:]
        row = int((point.y() - inner.top()) / inner.height() * height)
        column = int((point.x() - inner.left()) / inner.width() * width)
        return Pointed(0, (min(row, height - 1), min(column, width - 1)), cam.path or None, cam.leaf)

    def tip(self, point: QPointF) -> str:
        tile = self._tile_at(point)
        return "" if tile is None else tip_of(self._strip.cams[tile], self._name(tile))

    def zoomed(self, factor: float, point: QPointF) -> Sight:
        at = (point.x() * self.ratio, point.y() * self.ratio)
        return strip.zoomed(self.sight, self.grid, factor, at, self._strip.shape, self._words)

    def at_cell_size(self, point: QPointF) -> Sight:
        picture = self._strip.picture
        return self.sight if picture is None else self.zoomed(picture.width / self.grid.width, point)

    def place_of(self, spot: Pointed) -> QPointF | None:
        tile = self._tile_of(self._strip.selected)
        return None if tile is None else self._inner(tile).center()

    def moved(self, across: float, down: float) -> Sight:
        x, y = round(self.sight.x - across * self.ratio), round(self.sight.y - down * self.ratio)
        return self._held(dataclasses.replace(self.sight, x=x, y=y))

    def revealed(self, channel: int) -> Sight:
        tile = self._tile_of(self._strip.selected)
        if tile is None:
            return self.sight
        room, edge = self._sheet.room, self._pixels(EDGE)
        return self._held(geometry.shown(self.sight, self.grid, tile, room, edge))

    def stepped(self, at: Pointed, across: int, down: int) -> Pointed:
        tile = self._tile_of(self._strip.selected)
        wish = 0 if tile is None else self.grid.stepped(tile, across, down)
        if wish == tile:
            return at
        cam = self._strip.cams[wish]
        return Pointed(0, (0, 0), cam.path or None, cam.leaf)

    # -- pixels ----------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter) -> None:
        painter.fillRect(self.area, theme()["canvas"])
        for tile in self._tiles_in_view():
            cam = self._strip.cams[tile]
            if cam.maps is None:
                self._paint_reason(painter, tile, cam)
            else:
                self._paint_map(painter, tile, cam)
            self._paint_words(painter, tile, cam)
        self._paint_heads(painter)

    def _paint_map(self, painter: QPainter, tile: int, cam: Cam) -> None:
        image = self._image_of(tile, cam)
        image.setDevicePixelRatio(self.ratio)
        painter.drawImage(self._inner(tile).topLeft(), image)

    def _image_of(self, tile: int, cam: Cam) -> QImage:
        _, _, width, height = self._inset(cam)
        look, plan = theme(), self._strip
        how = (plan.opacity, plan.contours, look.name)
        key = (cam.maps, cam.levels, cam.colormap, plan.picture, width, height, *how)
        before = self._images.get(cam.place)
        if before is None or before[0] != key:
            pixels = self._pixels_of(cam, width, height)
            image = QImage(pixels.tobytes(), width, height, width * 3, QImage.Format.Format_RGB888).copy()
            self._images[cam.place] = (key, image)
        return self._images[cam.place][1]

    def _pixels_of(self, cam: Cam, width: int, height: int) -> blending.Pixels:
        assert cam.maps is not None
        plan, values = self._strip, np.asarray(cam.maps.values[0], np.float32)
        levels = cam.levels if cam.levels[0] < cam.levels[1] else (cam.levels[0], cam.levels[0] + 1.0)
        enlarge = blending.blocky if plan.picture is None else blending.smooth
        enlarged = enlarge(values, height, width)
        odd = theme()["nan"]
        colours = render.to_rgba(enlarged, levels, cam.colormap, nan=(odd.red(), odd.green(), odd.blue()))
        pixels = np.ascontiguousarray(colours[..., :3])
        if plan.picture is not None:
            share = blending.strength(enlarged, levels)
            pixels = blending.mixed(pixels, self._photograph(width, height), share, plan.opacity)
        if not plan.contours:
            return pixels
        return blending.outlined(pixels, blending.contours(enlarged, levels))

    def _photograph(self, width: int, height: int) -> blending.Pixels:
        """Return the grey picture, kept for the next tile."""
        picture = self._strip.picture
        assert picture is not None
        key = (picture, width, height)
        if self._grey is None or self._grey[0] != key:
            self._grey = (key, blending.photograph(picture, width, height))
        return self._grey[1]

    def _paint_reason(self, painter: QPainter, tile: int, cam: Cam) -> None:
        inner = self._inner(tile)
        painter.fillRect(inner, theme()["control"])
        if inner.width() >= LEAST_FOR_REASON:
            marks.sentence(painter, inner, cam_words.fitting_reason(cam.reason, inner))

    def _paint_words(self, painter: QPainter, tile: int, cam: Cam) -> None:
        """Write below a tile what it is of, its greatest value, and what its method has to say."""
        rect, words = self._rect(tile), self._words / self.ratio
        line = QRectF(rect.left(), rect.bottom() - words, rect.width(), scaled(WORDS))
        selected = cam.place == self._strip.selected
        cam_words.paint_line(painter, line, self._name(tile), peak_words(cam), accent=selected)
        if self._strip.notes and cam.notes:
            below = QRectF(rect.left(), line.bottom() - 3, rect.width(), scaled(NOTE))
            cam_words.paint_note(painter, below, short_note(cam))

    def _paint_heads(self, painter: QPainter) -> None:
        """Write above each line what its maps have in common."""
        for (text, _), start in zip(self._strip.lines, self.grid.starts(), strict=False):
            top = self._rect(start).top() - scaled(HEAD)
            area = QRectF(self._rect(start).left(), top, self.area.width(), scaled(HEAD))
            if area.intersects(self.area):
                cam_words.paint_head(painter, area, text)

    # -- over them -------------------------------------------------------------------------------------------

    def paint_marks(self, painter: QPainter) -> None:
        pointed = self._sheet.pointed
        for tile in self._tiles_in_view():
            cam = self._strip.cams[tile]
            self._paint_state(painter, tile, cam)
            if pointed is not None and cam.place == self._place_at(pointed):
                marks.outline(painter, self._inner(tile), marks.PALE_LINE, 1)
            if cam.place == self._strip.selected:
                marks.selection(painter, self._inner(tile))
        self._paint_crosses(painter)

    def _paint_state(self, painter: QPainter, tile: int, cam: Cam) -> None:
        if cam.maps is None:
            return
        inner, values = self._inner(tile), cam.maps.values
        odd = int(np.count_nonzero(~np.isfinite(values)))
        if odd:
            words = f"NaN {odd}" if np.isnan(values).any() else f"inf {odd}"
            marks.badge(painter, inner.topRight() + QPointF(-3, 3), words)
        elif values.min() == values.max():
            marks.flat_label(painter, inner, flat_words(float(values.flat[0])))

    def _paint_crosses(self, painter: QPainter) -> None:
        """Draw the cross-hair of one cell at the same place of the picture in all layers."""
        sheet, plan = self._sheet, self._strip
        spot = sheet.pointed or (sheet.selected if sheet.cell else None)
        place = plan.selected if spot is None else self._place_at(spot)
        cam = next((one for one in plan.cams if one.place == place), None)
        if spot is None or cam is None or cam.maps is None:
            return
        height, width = cam.maps.values.shape[1:]
        if spot.cell[0] >= height or spot.cell[1] >= width:
            return  # the columns may have maps of other sizes
        for tile in self._tiles_in_view():
            if self._strip.cams[tile].maps is None:
                continue  # there are words in its place
            across, down = (spot.cell[1] + 0.5) / width, (spot.cell[0] + 0.5) / height
            marks.cross(painter, self._inner(tile), across, down)

    # -- small ones ------------------------------------------------------------------------------------------

    @property
    def _sheet(self) -> Sheet:
        assert self.sheet is not None
        return self.sheet

    @property
    def _strip(self) -> Strip:
        plan = self._sheet.strip
        assert plan is not None
        return plan

    @property
    def _words(self) -> int:
        return self._pixels(scaled(WORDS) + (scaled(NOTE) if self._strip.notes else 0))

    @property
    def _head(self) -> int:
        return self._pixels(scaled(HEAD))

    def _name(self, tile: int) -> str:
        names = self._strip.names
        return names[tile] if tile < len(names) else self._strip.cams[tile].path or tr("the model")

    def _place_at(self, spot: Pointed) -> Place:
        """Return which map a pointed cell is of: of the selected layer or method where it does not say."""
        path, leaf = self._strip.selected
        if spot.cam is None:
            return path if spot.path is None else spot.path, leaf
        own = next((cam.place for cam in self._strip.cams if cam.place == ("", spot.cam)), None)
        return own if spot.path is None and own is not None else (spot.path or path, spot.cam)

    def _pixels(self, length: int) -> int:
        return round(length * self.ratio)

    def _held(self, wish: Sight) -> Sight:
        return geometry.settled(wish, self.grid, self._sheet.room, self._pixels(EDGE))

    def _tile_of(self, place: Place) -> int | None:
        places = [cam.place for cam in self._strip.cams]
        return places.index(place) if place in places else None

    def _tile_at(self, point: QPointF) -> int | None:
        if self.sheet is None:
            return None
        x, y = point.x() * self.ratio + self.sight.x, point.y() * self.ratio + self.sight.y
        found = self.grid.tile_at(x, y)
        return None if found is None else found[0]

    def _inset(self, cam: Cam) -> tuple[int, int, int, int]:
        """Return where the picture (or the bare map) stands in its tile, in device pixels."""
        tile = (self.grid.height - self._words, self.grid.width)
        picture = self._strip.picture
        if picture is not None:
            return geometry.inset((picture.height, picture.width), tile)
        if cam.maps is not None:
            return geometry.inset((cam.maps.values.shape[1], cam.maps.values.shape[2]), tile)
        return 0, 0, tile[1], tile[0]

    def _rect(self, tile: int) -> QRectF:
        (x, y), ratio = self.grid.corner(tile), self.ratio
        left, top = (x - self.sight.x) / ratio, (y - self.sight.y) / ratio
        return QRectF(left, top, self.grid.width / ratio, self.grid.height / ratio)

    def _inner(self, tile: int) -> QRectF:
        left, top, width, height = (length / self.ratio for length in self._inset(self._strip.cams[tile]))
        rect = self._rect(tile)
        return QRectF(rect.left() + left, rect.top() + top, width, height)

    def _tiles_in_view(self) -> list[int]:
        return [tile for tile in range(len(self._strip.cams)) if self._rect(tile).intersects(self.area)]
