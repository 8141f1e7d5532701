"""The plain keys of the wall and what each of them does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from hookviewer.gui.wall.canvas import STEP

if TYPE_CHECKING:
    from hookviewer.gui.wall.panel import WallPanel


def keys_of(panel: WallPanel) -> dict[object, Callable[[], None]]:
    """Return what a wall does on a key, by its code or by the text that it types."""
    key = Qt.Key
    return {
        key.Key_Left: lambda: panel.step_channel(-1, 0),
        key.Key_Right: lambda: panel.step_channel(1, 0),
        key.Key_Up: lambda: panel.step_channel(0, -1),
        key.Key_Down: lambda: panel.step_channel(0, 1),
        key.Key_PageUp: lambda: panel.step_input(-1),
        key.Key_PageDown: lambda: panel.step_input(1),
        key.Key_Space: panel.blink,
        "+": lambda: panel.zoom(STEP),
        "=": lambda: panel.zoom(STEP),
        "-": lambda: panel.zoom(1 / STEP),
        "1": panel.one_to_one,
        "[": lambda: panel.step_layer(-1),
        "]": lambda: panel.step_layer(1),
        "#": panel.go_to_channel,
        key.Key_Z: panel.fit,
        key.Key_F: panel.head.fill.click,
        key.Key_W: panel.swipe,
        key.Key_D: panel.toggle_difference,
        key.Key_G: panel.cycle_kind,
        key.Key_S: panel.cycle_sort,
        key.Key_O: panel.cycle_over,
        key.Key_X: panel.toggle_dead,
        key.Key_P: panel.pin_channel,
        key.Key_L: panel.session.ask_levels,
        key.Key_H: lambda: panel.attention.step_head(1),
        key.Key_A: panel.attention.cycle_way,
        key.Key_T: panel.attention.turn_page,
    }
