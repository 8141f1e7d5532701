"""Views: ways to draw a record on the wall. One class a file; each says how well it suits a record."""

from __future__ import annotations

import functools
import sys

from hookviewer.gui.views.view import Sheet, Strip, Swipe, View
from hookviewer.registry import classes_in

__all__ = ["Sheet", "Strip", "Swipe", "View", "best_view", "views"]


@functools.cache
def views() -> tuple[type[View], ...]:
    """Return all views."""
    return tuple(classes_in(sys.modules[__name__], View))  # type: ignore[type-abstract]


def best_view(sheet: Sheet) -> type[View]:
    """Return the view that suits a sheet best; there is one for every record."""
    return max(views(), key=lambda view: view.suits(sheet))
