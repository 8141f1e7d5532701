"""What two fingers ask for: a factor to zoom by, and around which point."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QNativeGestureEvent
from PySide6.QtWidgets import QGestureEvent, QPinchGesture, QWidget

LEAST, MOST = 0.2, 5.0
FIT = 0.0


def zoom_of(event: QEvent, host: QWidget) -> tuple[float, QPointF] | None:
    """Return the factor and the point of the host that a gesture means; a factor of 0 asks to fit.

    None is returned for any other gesture.
    """
    if isinstance(event, QNativeGestureEvent):
        return _of_touchpad(event)
    return _of_screen(event, host) if isinstance(event, QGestureEvent) else None


def _of_touchpad(event: QNativeGestureEvent) -> tuple[float, QPointF] | None:
    match event.gestureType():
        case Qt.NativeGestureType.ZoomNativeGesture:
            return _held(1 + event.value()), event.position()
        case Qt.NativeGestureType.SmartZoomNativeGesture:
            return FIT, event.position()
    return None


def _of_screen(event: QGestureEvent, host: QWidget) -> tuple[float, QPointF] | None:
    gesture = event.gesture(Qt.GestureType.PinchGesture)
    if not isinstance(gesture, QPinchGesture):
        return None
    middle = gesture.centerPoint().toPoint()
    return _held(gesture.scaleFactor()), QPointF(host.mapFromGlobal(middle))


def _held(factor: float) -> float:
    return min(max(factor, LEAST), MOST)
