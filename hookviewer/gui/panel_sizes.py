"""How large the panels around the wall are: as the window's size asks, or as a person dragged them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QMainWindow

SMALLEST = QSize(900, 560)
USUAL = QSize(1440, 900)
WINDOW_TITLE = 32
"""What the desktop puts above a window."""
WIDTHS = (900, 1280, 1440, 1920)
LEFT, RIGHT, LOW = (216, 300, 366, 420), (262, 284, 338, 356), (120, 150, 190, 206)
"""For the `WIDTHS` of a window: the widths of its left and right panels, the height of the lower one."""
WALL_LEAST = 480
"""Panels that a person made larger give way before the wall gets narrower than this."""
AROUND = 118
"""The height of menus, run bar, status bar and the lines between."""
_HOME = {
    "modules": Qt.DockWidgetArea.LeftDockWidgetArea,
    "inputs": Qt.DockWidgetArea.LeftDockWidgetArea,
    "inspector": Qt.DockWidgetArea.RightDockWidgetArea,
    "layers": Qt.DockWidgetArea.BottomDockWidgetArea,
}


def first_size(available: QRect) -> QSize:
    """Return the size of a first window on a screen with so much room."""
    room = QSize(available.width(), available.height() - WINDOW_TITLE)
    return USUAL.boundedTo(room).expandedTo(SMALLEST)


def usual(width: int, height: int) -> dict[str, int]:
    """Return the usual width (modules, inspector) or height (inputs, layers) of the panels, in pixels."""
    left, right, low = (round(float(np.interp(width, WIDTHS, sizes))) for sizes in (LEFT, RIGHT, LOW))
    inputs = 52 * 3 + 36 + (144 if height >= 900 else 8)
    return {"modules": left, "inspector": right, "layers": low, "inputs": min(inputs, height - 318)}


def wanted(width: int, height: int, dragged: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes with those that were dragged, as far as the wall keeps enough room."""
    common = usual(width, height)
    sizes = {**common, **dragged}
    if sizes["modules"] + sizes["inspector"] > width - WALL_LEAST:
        sizes |= {name: min(sizes[name], common[name]) for name in ("modules", "inspector")}
    for name in ("inputs", "layers"):
        sizes[name] = min(sizes[name], max(common[name], height // 2))
    return sizes


class PanelSizes(QObject):
    """Gives the panels their sizes whenever the window has another one, and notes what a person drags."""

    def __init__(self, window: QMainWindow, panels: Mapping[str, QDockWidget]) -> None:
        super().__init__(window)
        self._window, self._panels = window, panels
        self.dragged: dict[str, int] = {}
        self._pressed: dict[str, int] = {}
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.settle)
        window.installEventFilter(self)

    def settle(self) -> None:
        """Give every panel that stands at its usual side the size that it should have now."""
        self.settle_in(self._window.width(), self._window.height())

    def follow(self) -> None:
        """Settle now and, as Qt shares out what is left of one direction, once more when it has done so."""
        self.settle()
        self._later.start()

    def settle_in(self, width: int, height: int) -> None:
        """Do the same for a window that is about to have another size."""
        sizes = wanted(width, height, self.dragged)
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self._resize(("modules", "inspector"), across, sizes)
        if self._stands("modules") and self._stands("inputs"):
            rest = max(height - AROUND - sizes["inputs"], 200)
            self._resize(("modules", "inputs"), down, {**sizes, "modules": rest})
        self._resize(("layers",), down, sizes)

    def _resize(self, names: tuple[str, ...], along: Qt.Orientation, sizes: Mapping[str, int]) -> None:
        there = [name for name in names if self._stands(name)]
        if there:
            self._window.resizeDocks(
                [self._panels[name] for name in there], [sizes[name] for name in there], along
            )

    def _stands(self, name: str) -> bool:
        """Whether a panel is where the program puts it, beside and not upon another one."""
        dock = self._panels[name]
        at_home = self._window.dockWidgetArea(dock) == _HOME[name] and not dock.isFloating()
        return at_home and not self._window.tabifiedDockWidgets(dock)

    def _measured(self) -> dict[str, int]:
        seen = {name: dock for name, dock in self._panels.items() if name in _HOME and dock.isVisible()}
        sizes = {name: dock.size() for name, dock in seen.items()}
        return {
            name: size.width() if name in ("modules", "inspector") else size.height()
            for name, size in sizes.items()
        }

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # the lines between the panels belong to the window, which gets the mouse while they are dragged
        if event.type() == QEvent.Type.MouseButtonPress:
            self._pressed = self._measured()
        elif event.type() == QEvent.Type.MouseButtonRelease and self._pressed:
            now = self._measured()
            self.dragged |= {
                name: size for name, size in now.items() if self._pressed.get(name, size) != size
            }
            self._pressed = {}
        return False


def seen_screen(window: QMainWindow) -> QRect | None:
    """Return the room on the window's screen; None where nobody sees it."""
    if QGuiApplication.platformName() in ("offscreen", "minimal"):
        return None
    return window.screen().availableGeometry()
