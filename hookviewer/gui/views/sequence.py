"""A sequence: hidden units by time as a picture, and the line of the unit that is looked at below it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen, QPolygonF

from hookviewer import render
from hookviewer.gui.columns import Column
from hookviewer.gui.numbers import number
from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import MEDIUM, font, theme
from hookviewer.gui.views import placing
from hookviewer.gui.views.feature_maps import FeatureMaps
from hookviewer.gui.views.view import Sheet
from hookviewer.gui.wall import marks, tiles
from hookviewer.gui.wall.geometry import Grid, Sight
from hookviewer.gui.wall.words import tr

PLOT, LEAST_HEIGHT = 132, 300
"""Height of the plot, and of the canvas below which there is none."""
AIR, NUMBERS = 8, 54


class Sequence(FeatureMaps):
    """Time runs to the right, units run down; cells behind the end of a padded sequence are hatched."""

    @classmethod
    def suits(cls, sheet: Sheet) -> int:
        drawn = sheet.drawn
        return 20 if drawn.layout == "maps" and drawn.axes == "feature by time" else -1

    def show(self, sheet: Sheet) -> None:
        below = self._pixels(self._below)
        super().show(dataclasses.replace(sheet, room=(sheet.room[0], max(sheet.room[1] - below, 1))))

    def _grid_for(self, sheet: Sheet, room: tuple[int, int]) -> Grid:
        """Return one tile that fills the room, or is larger: time and units have no common measure."""
        width, height = max(room[0], 2), max(room[1] - self._pixels(AIR), 1)
        wide = sheet.sight.tile or width
        return Grid(1, 1, wide, max(round(height * wide / width), 1), 0)

    @property
    def _cells(self) -> tuple[int, int]:
        """Units, and steps of the longest sequence."""
        units, steps = super()._cells
        return units, self._maps.longest or steps

    @property
    def _lead_cells(self) -> tuple[int, int]:
        return self.grid.height, self.grid.width

    def at_cell_size(self, point: QPointF) -> Sight:
        return self.sight

    @property
    def _below(self) -> int:
        return PLOT if self.host.height() >= LEAST_HEIGHT else 0

    @property
    def _picture_area(self) -> QRectF:
        return self.area.adjusted(0, 0, 0, -self._below)

    @property
    def _inset(self) -> tuple[int, int, int, int]:
        return 0, 0, self.grid.width, self.grid.height

    @property
    def _cell(self) -> tuple[int, int]:
        """The unit and the time that are looked at."""
        sheet = self._sheet
        return sheet.selected.cell if sheet.selected is not None and sheet.cell else (0, 0)

    def spot(self, point: QPointF) -> Pointed | None:
        found = super().spot(point) if self._picture_area.contains(point) else None
        return found if found is not None and found.cell[1] < self._maps.values.shape[2] else None

    def stepped(self, at: Pointed, across: int, down: int) -> Pointed:
        height, width = self._maps.values.shape[1:]
        unit, time = self._cell
        return Pointed(0, (min(max(unit + down, 0), height - 1), min(max(time + across, 0), width - 1)))

    # -- painting

    def paint(self, painter: QPainter) -> None:
        if self._sheet.column.maps is None:
            super().paint(painter)
            return
        painter.fillRect(self.area, theme()["canvas"])
        painter.save()
        painter.setClipRect(self._picture_area)
        self._paint_picture(painter)
        self._paint_empty(painter)
        painter.restore()
        if self._below:
            self._paint_plot(painter)

    def paint_marks(self, painter: QPainter) -> None:
        painter.save()
        painter.setClipRect(self._picture_area)
        super().paint_marks(painter)
        painter.restore()

    def _paint_picture(self, painter: QPainter) -> None:
        view = (round(self.host.width() * self.ratio), round(self._picture_area.height() * self.ratio))
        box = placing.in_view(self.grid, self.sight, view)
        if all(box.size) and self._maps.values.size:
            width = max(round(self.grid.width * self._share), 1)
            colours = coloured(self._picture(), (self.grid.height, width))
            inset = (0, 0, width, self.grid.height)
            self._shown = placing.placed(colours, np.arange(1), self.grid, box, inset)
            placing.draw(painter, self._shown, box, self.sight)

    @property
    def _share(self) -> float:
        """The part of the width that this sequence takes."""
        return float(self._maps.values.shape[2] / max(self._cells[1], 1))

    def _paint_empty(self, painter: QPainter) -> None:
        """Hatch what is behind the end."""
        rect = self._rect(0)
        rect.setLeft(rect.left() + self._share * rect.width())
        rect = rect.intersected(self._picture_area)
        if rect.width() >= 1:
            painter.fillRect(rect, marks.hatch_ground())
            painter.fillRect(rect, QBrush(theme()["hatch"], Qt.BrushStyle.BDiagPattern))
            marks.flat_label(painter, rect, tr("empty"))

    def _chip(self, painter: QPainter, tile: int, channel: int, *, chosen: bool) -> None:
        cell = self._cell if chosen else (self._sheet.pointed or Pointed(0, (0, 0))).cell
        text = tr("unit {}  time {}").format(*cell)
        corner = self._picture_area.topLeft() + QPointF(8, 8 if chosen else 30)
        marks.chip(painter, corner, text, chosen=chosen)

    @property
    def _plot_area(self) -> QRectF:
        return QRectF(0, self.area.height() - self._below, self.area.width(), self._below)

    def _paint_plot(self, painter: QPainter) -> None:
        look, area = theme(), self._plot_area
        painter.setFont(font("ui", 11, MEDIUM))
        painter.setPen(look["text_2"])
        painter.drawText(QPointF(12, area.top() + 14), tr("unit {} over time").format(self._cell[0]))
        plot = area.adjusted(NUMBERS, 24, -AIR, -12)
        self._paint_scale(painter, plot)
        for column in (*self._sheet.others, self._sheet.column):
            self._paint_line(painter, plot, column)
        x = plot.left() + (self._cell[1] + 0.5) / self._cells[1] * plot.width()
        painter.setPen(QPen(marks.accent(), 1))
        painter.drawLine(QLineF(x, plot.top(), x, plot.bottom()))

    @property
    def _ends(self) -> tuple[float, float]:
        """The scale of the picture, which is that of the line too."""
        own = self._sheet.own
        return self._sheet.levels if own is None else (float(own[0, 0]), float(own[0, 1]))

    def _paint_scale(self, painter: QPainter, plot: QRectF) -> None:
        look, (low, high) = theme(), self._ends
        painter.setFont(font("mono", 10))
        for value in dict.fromkeys((high, low, *((0.0,) if low < 0 < high else ()))):
            share = float(render.share(value, (low, high), curve=self._sheet.curve))
            y = plot.top() + (1 - share) * plot.height()
            painter.setPen(QPen(look["border_strong" if value == 0 else "guide"], 1))
            painter.drawLine(QLineF(plot.left(), y, plot.right(), y))
            painter.setPen(look["text_3"])
            side = QRectF(0, y - 8, NUMBERS - 6, 16)
            painter.drawText(side, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number(value))

    def _paint_line(self, painter: QPainter, plot: QRectF, column: Column) -> None:
        maps, unit = column.maps, self._cell[0]
        if maps is None or len(maps.values) != 1 or unit >= maps.values.shape[1]:
            return
        line = points(maps.values[0, unit], self._cells[1], self._ends, plot, curve=self._sheet.curve)
        colour = theme().input(column.number) if column.number else theme()["text"]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour, 1.4))
        painter.drawPolyline(QPolygonF(line))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def coloured(picture: tiles.Picture, size: tuple[int, int]) -> npt.NDArray[np.uint32]:
    """Return the first map as colours [1, h, w]: its cells, or fewer where pixels are fewer (averages)."""
    height, width = picture.cells
    small = tiles.small(picture.maps, min(size[0], height), min(size[1], width))[:1]
    low, high = picture.levels if picture.own is None else picture.own[0]
    codes = render.to_index(small, (float(low), float(high)), curve=picture.curve).astype(np.uint16)
    for code, odd in ((tiles.NAN, np.isnan(small)), (tiles.POS_INF, small == np.inf)):
        codes[odd] = code
    codes[small == -np.inf] = tiles.NEG_INF
    return tiles.table(picture.colormap, picture.paints)[codes]


def points(
    values: npt.NDArray[Any],
    count: int,
    levels: tuple[float, float],
    plot: QRectF,
    *,
    curve: str = "linear",
) -> list[QPointF]:
    """Return the points of a line through the finite values; `count` places fill the width of the plot."""
    places = np.flatnonzero(np.isfinite(values))
    shares = 1 - np.clip(render.share(values[places], levels, curve=curve), 0.0, 1.0)
    xs = plot.left() + (places + 0.5) / count * plot.width()
    ys = plot.top() + shares * plot.height()
    return [QPointF(float(x), float(y)) for x, y in zip(xs, ys, strict=True)]
