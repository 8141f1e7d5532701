"""The place where one record is drawn: `wall_0`, `wall_1`, … A view draws; the canvas tells what was done."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer.gui.columns import Column
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.theme import theme
from hookviewer.gui.views import Sheet, View, best_view
from hookviewer.gui.wall import gestures, marks
from hookviewer.recording import Record

STEP = 1.2
"""How much larger one notch of the wheel makes the tiles."""
DRAG = 4
"""Pixels from which a press that moves is a drag."""


class Canvas(QWidget):
    """Shows one column's record; `record` is what it shows and `image()` what it paints."""

    sight_changed = Signal(object, bool)
    """The sight that a gesture asks for, and whether the gesture is a zoom."""
    moved = Signal()
    """The pointer is at another place."""
    painted = Signal()
    hovered = Signal(object)
    chosen = Signal(object)
    fit_wanted = Signal()
    menu_wanted = Signal(object, QPoint)
    """The cell that was clicked with the right button (None between tiles), and where on the screen."""
    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.grabGesture(Qt.GestureType.PinchGesture)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setMinimumSize(40, 40)
        self.view: View | None = None
        self.pointer: QPointF | None = None
        """Where the pointer is, None while it is elsewhere."""
        self._column: Column | None = None
        self._pressed: QPointF | None = None
        self._dragged = False

    @property
    def record(self) -> Record | None:
        """The record that is shown, None where there is none."""
        return self._column.record if self._column is not None else None

    def image(self) -> npt.NDArray[np.uint8]:
        """Return what is painted now, RGBA uint8 [height, width, 4] in device pixels.

        The marks that lie over it (selection, pointer, names) are left out.
        """
        image = self._image().convertToFormat(QImage.Format.Format_RGBA8888)
        rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
        return rows[:, : image.width() * 4].reshape(image.height(), image.width(), 4).copy()

    def picture(self) -> QImage:
        """Return the picture to copy: what is painted, without marks over it."""
        return self._image()

    def tile_rect(self, channel: int) -> QRect:
        """Return where a channel is drawn, in pixels of the widget."""
        return QRect() if self.view is None or self.view.sheet is None else self.view.tile_rect(channel)

    def show_sheet(self, sheet: Sheet) -> None:
        """Draw a column with the view that suits it best."""
        self._column = sheet.column
        wanted = best_view(sheet)
        if type(self.view) is not wanted:
            self._drop_view()
            self.view = wanted(self)
            self.view.tell_chosen = self.chosen.emit
        assert self.view is not None
        self.view.show(sheet)

    def show_nothing(self, column: Column) -> None:
        """Say why there is nothing to draw."""
        self._column = column
        self._drop_view()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, 240)

    # -- painting

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            if self.view is None:
                self._paint_reason(painter)
            else:
                self.view.paint(painter)
                self.view.paint_marks(painter)
        self.painted.emit()

    def _paint_reason(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), theme()["canvas"])
        if self._column is not None:
            marks.sentence(painter, self.rect().toRectF(), self._column.reason)

    def _image(self) -> QImage:
        if self.view is not None:
            return self.view.image()
        ratio = self.devicePixelRatioF()
        image = QImage(self.size() * ratio, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        with painting(image) as painter:
            self._paint_reason(painter)
        return image

    def _drop_view(self) -> None:
        self.setToolTip("")
        if self.view is not None:
            self.view.close()
            self.view = None

    # -- pointer

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._dragged = event.position(), False
            self.setFocus(Qt.FocusReason.MouseFocusReason)

    @guarded
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointer = event.position()
        self.moved.emit()
        if self.view is None:
            return
        if self._pressed is None or not event.buttons() & Qt.MouseButton.LeftButton:
            self.setToolTip(self.view.tip(event.position()))
            self.hovered.emit(self.view.spot(event.position()))
            return
        way = event.position() - self._pressed
        if self._dragged or way.manhattanLength() >= DRAG:
            self._dragged, self._pressed = True, event.position()
            self.sight_changed.emit(self.view.moved(way.x(), way.y()), False)

    @guarded
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if pressed is None or self._dragged or self.view is None:
            return
        spot = self.view.spot(event.position())
        if spot is not None:
            self.chosen.emit(spot)

    @guarded
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.fit_wanted.emit()

    @guarded
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        spot, view = None, self.view
        if view is not None and view.sheet is not None:
            spot = view.sheet.selected if by_key else view.spot(QPointF(event.pos()))
        self.menu_wanted.emit(spot, event.globalPos())

    @guarded
    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.view is None:
            return
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.sight_changed.emit(self.view.moved(0, delta.y() or delta.x()), False)
        elif delta.y():
            factor = STEP ** (delta.y() / 120)
            self.sight_changed.emit(self.view.zoomed(factor, event.position()), True)
        event.accept()

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.NativeGesture, QEvent.Type.Gesture):
            self._on_gesture(event)
            return event.isAccepted()
        return super().event(event)

    @guarded
    def _on_gesture(self, event: QEvent) -> None:
        """Zoom with two fingers, on a touchpad or a screen; a smart zoom fits."""
        found = gestures.zoom_of(event, self)
        if found is None or self.view is None:
            event.ignore()
            return
        factor, point = found
        if factor:
            self.sight_changed.emit(self.view.zoomed(factor, point), True)
        else:
            self.fit_wanted.emit()
        event.accept()

    @guarded
    def leaveEvent(self, event: QEvent) -> None:
        self.pointer = None
        self.hovered.emit(None)

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        if self.view is not None:
            self.view.resized()
        self.resized.emit()
