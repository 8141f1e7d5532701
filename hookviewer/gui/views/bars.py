"""A vector as bars, with the other inputs as lines over it and its largest values by name."""

from __future__ import annotations

import dataclasses

import numpy as np
from PySide6.QtCore import QCoreApplication, QLineF, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from hookviewer import render
from hookviewer.arrays import Maps
from hookviewer.gui.cell_words import value_words
from hookviewer.gui.columns import Column
from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import MEDIUM, font, scaled, theme
from hookviewer.gui.views.view import Sheet, View
from hookviewer.gui.wall import extents, marks
from hookviewer.gui.wall.extents import Array
from hookviewer.gui.wall.geometry import Sight

LEFT, RIGHT, TOP, BOTTOM = 50, 10, 14, 24
LIST_ROW = 21
MOST_LISTED = 12
WIDEST = 64
LEAST_HEIGHT_WITH_LIST = 280


class Bars(View):
    """The values of a vector from left to right; narrow ones share a pixel and none is skipped."""

    @classmethod
    def suits(cls, sheet: Sheet) -> int:
        return 10 if sheet.drawn.layout == "bars" else -1

    # -- where things are

    @property
    def plot(self) -> QRectF:
        """The rectangle of the bars."""
        height = self.area.height() - TOP - BOTTOM - self._list_height()
        return QRectF(self._left, TOP, max(self.area.width() - self._left - RIGHT, 1), max(height, 1))

    _left: float = LEFT
    """How much room the numbers of the axis need, with the air beside them."""

    def show(self, sheet: Sheet) -> None:
        super().show(sheet)
        measure = QFontMetricsF(font("mono", 10))
        widest = max(measure.horizontalAdvance(self._written(value)) for value in self._limits())
        self._left = max(LEFT, float(np.ceil(widest)) + 12)

    @property
    def pitch(self) -> float:
        """The width of a bar in device-independent pixels."""
        sheet = self._sheet
        return sheet.sight.tile / 1000 if sheet.sight.tile else self._fitting()

    def spot(self, point: QPointF) -> Pointed | None:
        if self.sheet is None or self.sheet.column.maps is None:
            return None
        place = self._place_at(point)
        return None if place is None else Pointed(0, (0, int(self._order()[place])))

    def tile_rect(self, channel: int) -> QRect:
        return self.plot.toAlignedRect()

    def zoomed(self, factor: float, point: QPointF) -> Sight:
        pitch = min(max(self.pitch * factor, self._fitting()), WIDEST)
        at = (point.x() - self.plot.left() + self.sight.x) / self.pitch
        x = round(at * pitch - (point.x() - self.plot.left()))
        tile = 0 if pitch <= self._fitting() else round(pitch * 1000)
        return dataclasses.replace(self.sight, tile=tile, columns=1, x=self._held(x, pitch), y=0)

    def place_of(self, spot: Pointed) -> QPointF | None:
        places = np.flatnonzero(self._order() == spot.cell[1])
        if not self._sheet.cell or not places.size:
            return None
        x = self.plot.left() + (int(places[0]) + 0.5) * self.pitch - self.sight.x
        return QPointF(x, self.plot.center().y())

    def moved(self, across: float, down: float) -> Sight:
        return dataclasses.replace(self.sight, x=self._held(round(self.sight.x - across), self.pitch), y=0)

    def stepped(self, at: Pointed, across: int, down: int) -> Pointed:
        order = self._order()
        places = np.flatnonzero(order == at.cell[1])
        place = int(places[0]) if places.size else 0
        return Pointed(0, (0, int(order[min(max(place + across, 0), len(order) - 1)])))

    # -- painting

    def paint(self, painter: QPainter) -> None:
        painter.fillRect(self.area, theme()["canvas"])
        sheet = self._sheet
        if sheet.column.maps is None:
            say = marks.notice if sheet.column.waiting else marks.sentence
            say(painter, self.area, sheet.column.reason)
            return
        self._paint_axis(painter)
        self._paint_bars(painter)
        for other in sheet.others:
            self._paint_line(painter, other)
        self._paint_list(painter)

    def paint_marks(self, painter: QPainter) -> None:
        sheet = self._sheet
        if sheet.column.maps is None:
            return
        chosen = sheet.selected if sheet.cell else None
        for spot, is_chosen in ((chosen, True), (sheet.pointed, False)):
            if spot is not None:
                self._paint_mark(painter, spot.cell[1], is_chosen)

    def _paint_axis(self, painter: QPainter) -> None:
        look, plot = theme(), self.plot
        painter.setFont(font("mono", 10))
        for value in {*self._limits(), 0.0}:
            y = self._y(value)
            painter.setPen(QPen(look["border_strong" if value == 0 else "guide"], 1))
            painter.drawLine(QLineF(plot.left(), y, plot.right(), y))
            painter.setPen(look["text_3"])
            side = QRectF(0, y - 8, plot.left() - 6, 16)
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(side, flags, self._written(value))
        self._paint_places(painter)

    def _paint_places(self, painter: QPainter) -> None:
        plot, order = self.plot, self._order()
        step = max(1, len(order) // 8, round(64 / self.pitch))
        for place in range(0, len(order), _round_step(step)):
            x = plot.left() + (place + 0.5) * self.pitch - self.sight.x
            if plot.left() <= x <= plot.right() - 12:
                side = QRectF(x - 30, plot.bottom() + 4, 60, 16)
                painter.drawText(side, Qt.AlignmentFlag.AlignCenter, str(int(order[place])))

    def _paint_bars(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        values, zero, plot = self._values(self._sheet.column), self._y(0.0), self.plot
        up, down = self._inks()
        if self.pitch < 2:
            self._paint_envelope(painter, values, zero)
            return
        air = 1 if self.pitch >= 4 else 0
        for place in self._places_in_view():
            value = float(values[place])
            left = plot.left() + place * self.pitch - self.sight.x
            bar = QRectF(left, plot.top(), self.pitch - air, plot.height()).intersected(plot)
            if np.isnan(value):
                painter.fillRect(bar, theme()["nan"])
                continue
            y = self._y(value)
            bar.setTop(min(y, zero))
            bar.setBottom(max(y, zero) + 1)
            painter.fillRect(bar, up if value >= 0 else down)

    def _paint_envelope(self, painter: QPainter, values: Array, zero: float) -> None:
        plot, (up, down) = self.plot, self._inks()
        first, last = extents.covered(len(values), int(plot.width()), self.sight.x, self.pitch)
        low, high = extents.extents(values, first, last)
        for pixel in np.flatnonzero(last > first):
            x = plot.left() + int(pixel)
            if np.isnan(high[pixel]):
                painter.fillRect(QRectF(x, plot.top(), 1, plot.height()), theme()["nan"])
                continue
            top, bottom = self._y(max(float(high[pixel]), 0.0)), self._y(min(float(low[pixel]), 0.0))
            painter.fillRect(QRectF(x, top, 1, zero - top + 1), up)
            painter.fillRect(QRectF(x, zero + 1, 1, bottom - zero), down)

    def _paint_line(self, painter: QPainter, other: Column) -> None:
        if other.maps is None or other.maps.values.shape != self._maps.values.shape:
            return
        values, plot = self._values(other), self.plot
        places = self._places_in_view()
        xs = plot.left() + (np.arange(places.start, places.stop) + 0.5) * self.pitch - self.sight.x
        points = zip(xs, values[places.start : places.stop], strict=True)
        line = QPolygonF([QPointF(float(x), self._y(float(y))) for x, y in points if np.isfinite(y)])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = theme().input(other.number or 1)
        colour.setAlpha(130)
        painter.setPen(QPen(colour, 1))
        painter.drawPolyline(line)

    def _paint_list(self, painter: QPainter) -> None:
        if not self._list_height():
            return
        values, look = self._values(self._sheet.column), theme()
        order = self._order()
        strongest = np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")[: self._listed()]
        top = self.area.height() - self._list_height() + 4
        painter.setFont(font("ui", 11, MEDIUM))
        painter.setPen(look["text_3"])
        painter.drawText(QPointF(12, top + 12), QCoreApplication.translate("Wall", "Largest by magnitude"))
        biggest = float(np.abs(np.nan_to_num(values)).max()) or 1.0
        for line, place in enumerate(strongest):
            y = top + 20 + line * scaled(LIST_ROW)
            row = QRectF(12, y, self.area.width() - 24, scaled(LIST_ROW))
            self._paint_row(painter, row, int(order[place]), float(values[place]), biggest)

    def _paint_row(self, painter: QPainter, row: QRectF, index: int, value: float, biggest: float) -> None:
        look, (up, down) = theme(), self._inks()
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(font("mono", 11))
        painter.setPen(look["text_2"])
        painter.drawText(
            row.adjusted(0, 0, 40 - row.width(), 0), middle | Qt.AlignmentFlag.AlignRight, str(index)
        )
        painter.setPen(look["text"])
        painter.drawText(row, middle | Qt.AlignmentFlag.AlignRight, self._written(value))
        names, left = self._sheet.names, 50.0
        if len(names) == self._maps.values.size:
            painter.setFont(font("ui", 12))
            wide = min(row.width() * 0.4, 220.0)
            name = painter.fontMetrics().elidedText(names[index], Qt.TextElideMode.ElideRight, int(wide))
            painter.drawText(QRectF(row.left() + left, row.top(), wide, row.height()), middle, name)
            left += wide + 10
        track = QRectF(row.left() + left, row.center().y() - 2, max(row.width() - left - 70, 0), 4)
        painter.fillRect(track, look["bar_track"])
        track.setWidth(track.width() * min(abs(value) / biggest, 1.0) if np.isfinite(value) else 0)
        painter.fillRect(track, up if value >= 0 else down)

    def _paint_mark(self, painter: QPainter, index: int, chosen: bool) -> None:
        places = np.flatnonzero(self._order() == index)
        if not places.size or index >= self._maps.values.shape[2]:
            return
        x = self.plot.left() + (int(places[0]) + 0.5) * self.pitch - self.sight.x
        if not self.plot.left() <= x <= self.plot.right():
            return
        painter.setPen(QPen(marks.accent() if chosen else theme()["text_3"], 1))
        painter.drawLine(QLineF(x, self.plot.top(), x, self.plot.bottom()))
        names = self._sheet.names
        name = f"{index} {names[index]}" if len(names) == self._maps.values.size else str(index)
        text = f"{name} = {self._written(float(self._maps.values[0, 0, index]))}"
        room = painter.fontMetrics().horizontalAdvance(text) + 24
        corner = QPointF(
            min(x + 4, max(self.area.width() - room, 0)), self.plot.top() + (20 if chosen else 0)
        )
        marks.chip(painter, corner, text, chosen=chosen)

    # -- small ones

    @property
    def _sheet(self) -> Sheet:
        assert self.sheet is not None
        return self.sheet

    @property
    def _maps(self) -> Maps:
        return self._sheet.column.maps or self._sheet.lead

    def _values(self, column: Column) -> Array:
        maps = column.maps or self._sheet.lead
        values: Array = maps.values[0, 0][self._order()]
        return values

    def _order(self) -> Array:
        """Return the places in the vector from left to right: those of the first column, if it is sorted.

        A vector of another length is sorted by its own values.
        """
        lead, own = self._sheet.lead.values, self._maps.values
        values = lead[0, 0] if lead.shape == own.shape else own[0, 0]
        if self._sheet.sort in ("channel", "difference"):
            return np.arange(len(values))
        return np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")

    def _written(self, value: float) -> str:
        return value_words(value, whole=self._maps.whole)

    def _limits(self) -> tuple[float, float]:
        return extents.around_zero(self._sheet.levels)

    def _y(self, value: float) -> float:
        share = float(render.share(value, self._limits(), curve=self._sheet.curve))
        return round(self.plot.top() + (1 - min(max(share, 0.0), 1.0)) * (self.plot.height() - 1)) + 0.0

    def _inks(self) -> tuple[QColor, QColor]:
        number_of = self._sheet.column.number
        if number_of:  # a weight, and a difference, belong to no input
            colour = theme().input(number_of)
            return colour, colour
        table = render.colour_table("ember")
        return (QColor(*map(int, table[215][:3])), QColor(*map(int, table[45][:3])))

    def _fitting(self) -> float:
        return self.plot.width() / max(len(self._sheet.lead.values[0, 0]), 1)

    def _held(self, x: int, pitch: float) -> int:
        return min(max(x, 0), max(round(pitch * len(self._maps.values[0, 0]) - self.plot.width()), 0))

    def _place_at(self, point: QPointF) -> int | None:
        plot = self.plot
        listed = int((point.y() - (self.area.height() - self._list_height() + 24)) // scaled(LIST_ROW))
        if self._list_height() and 0 <= listed < self._listed():
            values = self._values(self._sheet.column)
            return int(np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")[listed])
        place = int((point.x() - plot.left() + self.sight.x) // self.pitch)
        inside = plot.contains(point) and 0 <= place < len(self._maps.values[0, 0])
        return place if inside else None

    def _places_in_view(self) -> range:
        count = len(self._maps.values[0, 0])
        first = max(int(self.sight.x // self.pitch), 0)
        return range(first, min(int((self.sight.x + self.plot.width()) // self.pitch) + 1, count))

    def _listed(self) -> int:
        room = int((self.area.height() * 0.45 - 28) // scaled(LIST_ROW))
        return max(min(room, MOST_LISTED, len(self._maps.values[0, 0])), 0)

    def _list_height(self) -> float:
        if self.area.height() < LEAST_HEIGHT_WITH_LIST:
            return 0.0
        return self._listed() * scaled(LIST_ROW) + 32.0


def _round_step(step: int) -> int:
    """Return the next of 1, 2, 5, 10, 20, 50, … that is not smaller."""
    decade = 1
    while True:
        for factor in (1, 2, 5):
            if factor * decade >= step:
                return factor * decade
        decade *= 10
