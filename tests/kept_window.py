"""The window of the fixture `kept`: made by the first test of a file, whose settings and theme it has."""

from __future__ import annotations

from hookviewer.gui.main_window import MainWindow


def shown_window(kept: list[MainWindow], width: int, height: int) -> tuple[MainWindow, bool]:
    """Return the window, and whether it is a new one."""
    new = not kept
    if new:
        kept.append(MainWindow())
        kept[0].keeps_layout = False
        kept[0].resize(width, height)
        kept[0].show()
    return kept[0], new


def window_of_hands(kept: list[MainWindow]) -> MainWindow:
    """Return a window of a common size without the panel that the hands do not read."""
    window, new = shown_window(kept, 1280, 800)
    if new:
        window.docks.lay_out(1280, 800)
        window.commands.actions["panel_bottom"].trigger()  # what is not read is not painted
    return window
