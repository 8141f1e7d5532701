"""Which curves share a colour: the second one is dashed, the third dotted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen

from hookviewer.gui.state import COLOURS, InputItem

STYLES = ("solid", "dash", "dot", "dash dot")
INPUTS = "inputs"
"""How the difference of a layer's inputs is drawn, beside that of its output."""

_PENS = {
    "solid": Qt.PenStyle.SolidLine,
    "dash": Qt.PenStyle.DashLine,
    "dot": Qt.PenStyle.DotLine,
    "dash dot": Qt.PenStyle.DashDotLine,
    INPUTS: Qt.PenStyle.DotLine,
}
FAINT = 205


def styles_of(items: Iterable[InputItem]) -> dict[int, str]:
    """Return the line style of every listed input by its number: of those of one colour each another one."""
    before: Counter[int] = Counter()
    found = {}
    for item in items:
        colour = item.number % COLOURS
        found[item.number] = STYLES[before[colour] % len(STYLES)]
        before[colour] += 1
    return found


def pen_of(colour: QColor, style: str) -> QPen:
    """Return the pen of a curve; that of inputs is thin and faint."""
    ink = QColor(colour)
    if style == INPUTS:
        ink.setAlpha(FAINT)
    made = QPen(ink, 1.2 if style == INPUTS else 1.6, _PENS[style])
    made.setCosmetic(True)  # in a plot its width is not one of the plot's units
    return made
