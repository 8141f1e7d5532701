"""How it is said what a cell sees of the picture, and how that was found. Pure."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from hookviewer.gui.field_lane import Seen
from hookviewer.receptive import MEASURED


def _tr(text: str) -> str:
    return QCoreApplication.translate("Field", text)


def field_words(seen: Seen | None) -> str:
    """Return one line: how much of the picture the cell sees."""
    if seen is None:
        return ""
    measured = _tr("measured") if seen.way == MEASURED else _tr("computed")
    words = _tr("sees {} × {} px, {}").format(*seen.extent, measured)
    return words + _tr(", and all of it a little") if seen.everywhere else words


def field_tip(seen: Seen | None) -> str:
    """Return sentences: where the rectangle lies and how it was found."""
    if seen is None:
        return ""
    box = seen.box
    lines = [
        _tr("Rows {} to {} and columns {} to {} of the input.").format(
            box.top, box.bottom - 1, box.left, box.right - 1
        )
    ]
    if seen.way == MEASURED:
        lines.append(
            _tr("Measured: the pixels with a gradient from this cell, on this input and on random ones.")
        )
        if seen.unruled:
            lines.append(
                _tr("It cannot be computed from strides, since {} is on the way.").format(seen.unruled)
            )
    else:
        lines.append(
            _tr("Computed from the kernels, strides, dilations and paddings of all that ran before.")
        )
    if seen.everywhere:
        lines.append(_tr("Through a mean or a normalisation over the map a little of every place comes in."))
    return "\n".join(lines)
