"""The columns side by side, on one sight: what is done in one is done in all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QTimer, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from hookviewer.arrays import Maps, Statistics, as_maps
from hookviewer.arrays.roles import MAPS
from hookviewer.differences import Difference
from hookviewer.gui import linking
from hookviewer.gui.cam_choice import CamChoice
from hookviewer.gui.cams import Cams, seen
from hookviewer.gui.columns import Column, WallState, difference_colormap
from hookviewer.gui.field_lane import FieldLane
from hookviewer.gui.guard import painting
from hookviewer.gui.scaling import scale_for
from hookviewer.gui.state import InputItem, Pointed, Selection, Shown
from hookviewer.gui.theme import keeper, theme
from hookviewer.gui.views import Sheet, Strip, Swipe, View
from hookviewer.gui.views.cam_words import short_note
from hookviewer.gui.wall import cam_heads, geometry, words
from hookviewer.gui.wall.column import WallColumn
from hookviewer.gui.wall.geometry import Sight

NOTHING = as_maps(np.zeros((1, 1, 1, 1), np.float32), reading=MAPS)
GESTURE_MS = 90
BETWEEN = 8


class Lanes(QFrame):
    """All columns of the wall."""

    hovered = Signal(object)
    painted = Signal()
    """A column has been painted."""
    chosen = Signal(object, object)
    """A place that was clicked, and the number of the column's input (None for the difference)."""
    menu_wanted = Signal(object, int, QPoint)
    """A cell or None, which column it is in, and where on the screen the menu is wanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("wallBody")
        self._layout = QHBoxLayout(self)
        self._layout.setSpacing(BETWEEN)
        self._layout.setContentsMargins(8, 0, 8, 4)
        self.columns: list[WallColumn] = []
        self.sight = Sight()
        self._wall: WallState | None = None
        self._selection = Selection()
        self._pointed: Pointed | None = None
        self._names: tuple[str, ...] = ()
        self._cams: Cams | None = None
        self._look = CamChoice()
        self._items: Mapping[int, InputItem] = {}
        self._sort = "channel"
        self._subject: tuple[object, ...] = ()
        self._counted: Difference | None = None
        self.fields: FieldLane | None = None
        """What cells see of the picture, by which maps of unlike sizes are linked."""
        self.swiping = False
        self._line = 0.0
        self._hurry = QTimer(self)
        self._hurry.setSingleShot(True)
        self._hurry.setInterval(GESTURE_MS)
        self._hurry.timeout.connect(self.place)
        keeper().changed.connect(self._recolour)
        self._recolour()

    def show_state(
        self,
        wall: WallState,
        items: Sequence[InputItem],
        selection: Selection,
        *,
        names: Sequence[str] = (),
        sort: str = "channel",
        cams: Cams | None = None,
        counted: Difference | None = None,
        look: CamChoice | None = None,
    ) -> None:
        """Show the columns of a state, or the strips of maps of importance beside them.

        `look` says how the strips look. What stands over the columns is shown by `show_heads`.
        """
        self._look = look or CamChoice()
        self._cams, self._items = cams, {item.number: item for item in items}
        self._wall, self._selection, self._names, self._sort = wall, selection, tuple(names), sort
        self._counted = counted
        left = self._make_columns(len(wall.columns))
        self._forget_sight(wall)
        self.place()
        if left:
            self.hovered.emit(None)
        if cams is None:
            linking.want_fields(self.fields, wall)

    def show_heads(self, known: Mapping[int, Statistics] = MappingProxyType({})) -> None:
        """Show whose the columns are, and their numbers; `known` are statistics by their input's number."""
        wall = self._wall
        for lane, column in zip(self.columns, wall.columns if wall is not None else (), strict=False):
            assert wall is not None
            item = self._items.get(column.number) if column.number is not None else None
            lane.head.show_column(column, item, self._numbers(wall, column, known))
            lane.canvas.setAccessibleName(f"{column.letter} {column.title}".strip())

    def paint_now(self) -> None:
        """Paint what the columns show before anything else is done."""
        for lane in self.columns:
            lane.canvas.repaint()

    def point(self, pointed: Pointed | None) -> None:
        """Mark the cell under the pointer in all columns."""
        self._pointed = pointed
        self._give()

    def fit(self, how: str | None = None) -> None:
        """Show all tiles, or as `how` asks: `"all"` or `"width"`."""
        self.sight = Sight(how or self.sight.fit)
        self.place()

    def zoom(self, factor: float) -> None:
        """Zoom around what is under the pointer; without one, around what is selected."""
        self._around(lambda view, point: view.zoomed(factor, point), zooming=True)

    def one_to_one(self) -> None:
        """Show one cell as one device pixel."""
        self._around(lambda view, point: view.at_cell_size(point), zooming=False)

    def _around(self, change: Callable[[View, QPointF], Sight], *, zooming: bool) -> None:
        """Change the sight around a point; what is selected comes into view where it was out of it."""
        view, pointer = self._view, self._pointer
        if view is None:
            return
        point = pointer or view.place_of(self._selected_in(0)) or view.area.center()
        self._on_sight(change(view, point), zooming)
        if pointer is None and not view.area.contains(point):
            self.reveal(self._selection.channel)

    @property
    def _pointer(self) -> QPointF | None:
        """Where the pointer is in the canvas that it is over."""
        return next((one.canvas.pointer for one in self.columns if one.canvas.pointer is not None), None)

    @property
    def _selected(self) -> Pointed:
        return Pointed(self._selection.channel, self._selection.cell or (0, 0))

    def _selected_in(self, place: int) -> Pointed:
        """Return the selected cell as one of a column's own maps."""
        column = self._wall.columns[place] if self._wall is not None and self._wall.columns else None
        return self._selected if column is None else self._marked(column, self._selected) or self._selected

    def _marked(self, column: Column, spot: Pointed | None) -> Pointed | None:
        """Return a cell as the one at the same place of a column's own maps."""
        if self._wall is None or self._cams is not None:
            return spot
        return linking.pointed_in(column, self._wall, spot, self._selection.input, self.fields)

    def _tagged(self, spot: Pointed | None, lane: WallColumn) -> Pointed | None:
        """Return a cell of a column so that it says whose it is, where the columns have unlike cells."""
        column = self._column_of(lane)
        if column is None or self._wall is None or self._cams is not None:
            return spot
        return linking.tagged(spot, column, self._wall, self._selection.input)

    def _column_of(self, lane: WallColumn) -> Column | None:
        """Return what a lane shows; None for one that is gone and hears of the pointer once more."""
        shown = self._wall.columns if self._wall is not None else ()
        pairs = zip(self.columns, shown, strict=False)
        return next((column for one, column in pairs if one is lane), None)

    def _choose(self, spot: Pointed, lane: WallColumn) -> None:
        column, wall = self._column_of(lane), self._wall
        if column is not None and column.number is None and wall is not None and self._cams is None:
            spot = linking.untagged(spot, column, wall, self._selection.input, self.fields)
        self.chosen.emit(spot, None if column is None else column.number)

    def reveal(self, channel: int) -> None:
        """Bring a channel into view."""
        if self._view is not None and (self.sight.tile or self.sight.fit == "width"):
            self._on_sight(self._view.revealed(channel), False)

    def stepped(self, at: Pointed, across: int, down: int) -> Pointed:
        """Return the place so many steps from `at` in the order of the tiles."""
        return at if self._view is None else self._view.stepped(at, across, down)

    def picture(self) -> QImage:
        """Return all columns side by side, without marks over them."""
        ratio = self.devicePixelRatioF()
        image = QImage(self.size() * ratio, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        image.fill(theme()["canvas"])
        with painting(image) as painter:
            for lane in self.columns:
                painter.drawImage(lane.canvas.mapTo(self, QPoint(0, 0)), lane.canvas.picture())
        return image

    def place(self) -> None:
        """Give every canvas what it has to draw; what is under the pointer may be another cell then."""
        self._give()
        lane = next((one for one in self.columns if one.canvas.pointer is not None), None)
        if lane is not None and lane.canvas.pointer is not None:
            view = lane.canvas.view
            spot = self._tagged(None if view is None else view.spot(lane.canvas.pointer), lane)
            if spot != self._pointed:
                self.hovered.emit(spot)

    def _give(self) -> None:
        wall = self._wall
        if wall is None:
            return
        lead = self._lead(wall)
        for place, (lane, column) in enumerate(zip(self.columns, wall.columns, strict=False)):
            if lead is None:
                lane.canvas.show_nothing(column)
            else:
                lane.canvas.show_sheet(self._sheet(wall, column, lead, self._strip(wall, place)))

    def _lead(self, wall: WallState) -> Maps | None:
        """Return the maps that give all columns their geometry."""
        every = [column.maps for column in wall.filled]
        if self._cams is not None:
            every += [cam.maps for strip in self._cams.strips for cam in strip]
            every.append(NOTHING)  # all of them are still to come: their tiles say so
        return next((maps for maps in every if maps is not None), None)

    def _strip(self, wall: WallState, place: int) -> Strip | None:
        """Return the layers of one column; all have tiles of the shape of the first picture."""
        if self._cams is None:
            return None
        pictures = [seen(self._items.get(column.number or 0)) for column in wall.columns]
        first = next((picture for picture in pictures if picture is not None), None)
        lead = self._lead(wall)
        height, width = (first.height, first.width) if first is not None else (1, 1)
        if first is None and lead is not None:
            height, width = lead.values.shape[1:]
        return Strip(
            self._cams.strips[place],
            pictures[place],
            geometry.shape_of(height, width),
            self._cams.selected,
            cam_heads.heads(self._cams, wall.columns[place], self._names),
            self._look.opacity,
            self._look.contours,
            any(short_note(cam) for strip in self._cams.strips for cam in strip),
            cam_heads.tile_names(self._cams),
        )

    def _numbers(self, wall: WallState, column: Column, known: Mapping[int, Statistics]) -> Sequence[str]:
        if self._cams is not None:
            return ()
        if column.number is None and wall.shown is not Shown.WEIGHTS:
            return words.difference_numbers(wall, self._counted)
        own = wall.share != "inputs" and words.has_own(wall) and wall.share != "channel"
        scale = scale_for(wall, column).levels if own and column.maps is not None else None
        return words.column_numbers(column, known.get(column.number or 0), scale=scale)

    def _sheet(self, wall: WallState, column: Column, lead: Maps, strip: Strip | None) -> Sheet:
        selection, scale = self._selection, scale_for(wall, column)
        return Sheet(
            column,
            wall.order,
            scale.levels,
            colormap_for(wall, column),
            self._room(),
            lead,
            self.sight,
            tuple(other for other in wall.filled if other is not column) if column.number is not None else (),
            self._marked(column, self._selected),
            selection.cell is not None,
            self._marked(column, self._pointed),
            self._names,
            self._sort,
            self._hurry.isActive(),
            wall.pinned,
            strip,
            own=scale.own,
            curve=scale.curve,
            swipe=self._swipe(wall, column),
        )

    def swipe(self, on: bool) -> None:
        """Show the second column at the right of a line in the first one; the line follows the pointer."""
        self.swiping = on
        if on and self.columns:
            self._line = self._line or self.columns[0].canvas.width() / 2
        self._give()

    def _swipe(self, wall: WallState, column: Column) -> Swipe | None:
        other = wall.columns[1] if len(wall.columns) > 1 else None
        if not self.swiping or self._cams is not None or column is not wall.columns[0]:
            return None
        if other is None or other.number is None or other.maps is None:
            return None
        scale = scale_for(wall, other)
        return Swipe(other.maps, self._line, scale.levels, scale.own)

    def _on_moved(self, lane: WallColumn) -> None:
        """Let the line of a swipe follow the pointer."""
        pointer = lane.canvas.pointer
        if self.swiping and pointer is not None and lane is self.columns[0]:
            self._line = pointer.x()
            self._give()

    @property
    def _view(self) -> View | None:
        return self.columns[0].canvas.view if self.columns else None

    def _room(self) -> tuple[int, int]:
        """Return width and height of the narrowest column in device pixels."""
        ratio = self.devicePixelRatioF()
        sizes = [lane.canvas.size() for lane in self.columns]
        return (
            round(min(size.width() for size in sizes) * ratio),
            round(min(size.height() for size in sizes) * ratio),
        )

    def _make_columns(self, count: int) -> bool:
        """Make so many columns; return whether the pointer was over one that is gone."""
        left = False
        while len(self.columns) > count:
            gone = self.columns.pop()
            left = left or gone.canvas.pointer is not None
            gone.setParent(None)
            gone.deleteLater()
        while len(self.columns) < count:
            made = WallColumn(len(self.columns), self)
            self.columns.append(made)
            self._layout.addWidget(made, 1)
            self._connect(made)
            if len(self.columns) == 1:
                self.setFocusProxy(made.canvas)
        if self.isVisible():
            self._layout.activate()
        return left

    def _connect(self, lane: WallColumn) -> None:
        lane.canvas.sight_changed.connect(self._on_sight)
        lane.canvas.moved.connect(lambda: self._on_moved(lane))
        lane.canvas.painted.connect(self.painted)
        lane.canvas.fit_wanted.connect(self.fit)
        lane.canvas.resized.connect(self.place)
        lane.canvas.hovered.connect(lambda spot: self.hovered.emit(self._tagged(spot, lane)))
        lane.canvas.menu_wanted.connect(
            lambda spot, where: self.menu_wanted.emit(spot, self.columns.index(lane), where)
        )
        lane.canvas.chosen.connect(lambda spot: self._choose(spot, lane))

    def _on_sight(self, sight: Sight, zooming: bool) -> None:
        self.sight = sight
        if zooming:
            self._hurry.start()
        self.place()

    def _forget_sight(self, wall: WallState) -> None:
        """A wall of other tiles is seen fitted again."""
        lead = self._lead(wall)
        if lead is None:
            return
        shape = (lead.layout, *lead.values.shape) if self._cams is None else ("strip", self._cams.count)
        subject = (*shape, len(wall.columns))
        if subject != self._subject:
            self._subject = subject
            self.sight = dataclasses.replace(Sight(), fit=self.sight.fit)

    def _recolour(self) -> None:
        look = theme()
        line = look["border"].name()
        self.setStyleSheet(
            f"QFrame#wallBody {{ background: {look['canvas'].name()};"
            f" border-top: 1px solid {line}; border-bottom: 1px solid {line}; }}"
        )
        self.place()


def colormap_for(wall: WallState, column: Column) -> str:
    """Return the colour map that a column is painted with."""
    different = column.number is None and wall.difference_levels is not None
    return difference_colormap(wall) if different else wall.colormap
