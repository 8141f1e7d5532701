"""What a view is: it draws one column's record on a canvas and knows which cell is where."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from hookviewer.arrays import Maps
from hookviewer.gui.cam_lines import Place
from hookviewer.gui.cams import Cam
from hookviewer.gui.columns import Column
from hookviewer.gui.guard import painting
from hookviewer.gui.state import Pointed
from hookviewer.gui.wall.geometry import Sight

if TYPE_CHECKING:
    from PIL.Image import Image

EDGE = 2
GUTTER = 2


@dataclasses.dataclass(frozen=True, eq=False)
class Strip:
    """Maps of importance of one column, over its picture where it has one.

    `shape` is the height of every tile for a width of 1, `selected` says which map is. `lines` are the heads
    of lines of so many maps, empty where there is one line only; `names` are those of the maps. `opacity` is
    how much maps cover the picture, `contours` draws lines of one value, `notes` keeps room for what methods
    have to say.
    """

    cams: tuple[Cam, ...]
    picture: Image | None
    shape: float
    selected: Place
    lines: tuple[tuple[str, int], ...]
    opacity: float = 0.75
    contours: bool = False
    notes: bool = False
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Swipe:
    """Maps that lie over a column's own at the right of a line, `at` pixels from the host's left side."""

    maps: Maps
    at: float
    levels: tuple[float, float]
    own: npt.NDArray[np.float64] | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Sheet:
    """What a view draws: one column, and all that the columns of a wall share.

    `room` is the width and height of the narrowest column in device pixels, `lead` the maps of the first
    filled column (they give all columns their geometry), `others` the other filled columns. `selected` and
    `pointed` are the cells that are marked (`cell`: the selected one was chosen), `names` the classes of the
    model, `hurry` says that a gesture is going on. `pinned` are
    the channels that are marked as pinned; a `strip` stands in the place of the column's maps. `own` are
    the levels [C, 2] of the channels where each has its own, `curve` is one of `render.CURVES`. `swipe` is
    what is shown at the right of a line.
    """

    column: Column
    order: npt.NDArray[np.intp]
    levels: tuple[float, float]
    colormap: str
    room: tuple[int, int]
    lead: Maps
    sight: Sight = dataclasses.field(default_factory=Sight)
    others: tuple[Column, ...] = ()
    selected: Pointed | None = None
    cell: bool = False
    pointed: Pointed | None = None
    names: tuple[str, ...] = ()
    sort: str = "channel"
    hurry: bool = False
    pinned: tuple[int, ...] = ()
    strip: Strip | None = None
    own: npt.NDArray[np.float64] | None = None
    curve: str = "linear"
    swipe: Swipe | None = None

    @property
    def drawn(self) -> Maps:
        """The column's maps, or where there are none those that its place is kept for."""
        return self.lead if self.column.maps is None else self.column.maps


class View(ABC):
    """Draws on a widget, the host. Coordinates are the host's own, device-independent pixels."""

    def __init__(self, host: QWidget) -> None:
        self.host = host
        self.sheet: Sheet | None = None
        self.tell_chosen: Callable[[Pointed], None] = _ignored
        """Called by a view whose own widgets take the clicks."""

    @classmethod
    @abstractmethod
    def suits(cls, sheet: Sheet) -> int:
        """Return how well the view suits what there is to draw: the largest wins, below 0 it cannot."""

    def show(self, sheet: Sheet) -> None:
        """Take what is to be drawn."""
        self.sheet = sheet
        self.host.update()

    @abstractmethod
    def paint(self, painter: QPainter) -> None:
        """Draw the record."""

    def paint_marks(self, painter: QPainter) -> None:  # noqa: B027
        """Draw what lies over the record: names, the selection, the pointer."""

    def image(self) -> QImage:
        """Return what is painted, in device pixels, without the marks over it."""
        ratio = self.host.devicePixelRatioF()
        size = self.host.size() * ratio
        image = QImage(size, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        with painting(image) as painter:
            self.paint(painter)
        return image

    def spot(self, point: QPointF) -> Pointed | None:
        """Return which cell is at a point of the host."""
        return None

    def tile_rect(self, channel: int) -> QRect:
        """Return where a channel is drawn; an empty rectangle when it is not."""
        return QRect()

    def tip(self, point: QPointF) -> str:
        """Return what there is to say about a point of the host."""
        return ""

    def zoomed(self, factor: float, point: QPointF) -> Sight:
        """Return the sight after a zoom around a point of the host."""
        return self.sight

    def at_cell_size(self, point: QPointF) -> Sight:
        """Return the sight in which one cell is one device pixel; what is at the point stays there."""
        return self.sight

    def place_of(self, spot: Pointed) -> QPointF | None:
        """Return the middle of a cell (of its map, where no cell was chosen), in view or not."""
        return None

    def moved(self, across: float, down: float) -> Sight:
        """Return the sight after a pan by so many pixels."""
        return self.sight

    def revealed(self, channel: int) -> Sight:
        """Return the sight in which a channel can be seen."""
        return self.sight

    def stepped(self, at: Pointed, across: int, down: int) -> Pointed:
        """Return the place so many steps to the right and down of `at`."""
        return at

    def resized(self) -> None:  # noqa: B027
        """Give the view's own widgets their place on the host, whose size has changed."""

    def close(self) -> None:  # noqa: B027
        """Take the view's own widgets off the host."""

    @property
    def sight(self) -> Sight:
        """The sight in force."""
        return self.sheet.sight if self.sheet else Sight()

    @property
    def ratio(self) -> float:
        """Device pixels per pixel."""
        return self.host.devicePixelRatioF()

    @property
    def area(self) -> QRectF:
        """The whole host."""
        return QRectF(self.host.rect())


def _ignored(spot: Pointed) -> None:
    """Take a place and do nothing with it."""
