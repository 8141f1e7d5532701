"""The channel wall: every map of a layer, for every input, on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookviewer.gui.wall.panel import WallPanel

__all__ = ["WallPanel"]


def __getattr__(name: str) -> Any:
    """Load the panel on first use: views need the geometry of the wall, and the panel needs the views."""
    if name != "WallPanel":
        raise AttributeError(f"module 'hookviewer.gui.wall' has no attribute {name!r}")
    from hookviewer.gui.wall.panel import WallPanel

    return WallPanel
