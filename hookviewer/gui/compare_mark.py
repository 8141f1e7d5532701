"""The mark in the curve over depth at the first layer that goes apart, with its name and numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFontMetricsF

from hookviewer.differences import Divergence, Step, Verdict
from hookviewer.gui.numbers import number
from hookviewer.gui.theme import font, theme


@dataclasses.dataclass(frozen=True)
class Mark:
    """A layer to point out: its place among the layers of the curve, and words from long to short."""

    place: int
    words: tuple[str, ...]


def mark_of(divergence: Divergence, layers: list[str]) -> Mark | None:
    """Return the mark of the first layer that is apart; None where none is, or it is not in the curve."""
    first = divergence.first
    if first is None:
        return None
    place = _place(first, divergence.shows_at, layers)
    return None if place is None else Mark(place, _words(first))


def _place(first: Step, shows_at: Step | None, layers: list[str]) -> int | None:
    """Return the layer's place: of a module around others that of the one inside which shows it."""
    for path in (first.key.path, shows_at.key.path if shows_at is not None else ""):
        if path in layers:
            return layers.index(path)
    inside = (place for place, path in enumerate(layers) if path.startswith(f"{first.key.path}."))
    return next(inside, None)


def _words(first: Step) -> tuple[str, ...]:
    path = first.key.path or _tr("the model")
    verdict = {
        Verdict.PRODUCER: _tr("producer"),
        Verdict.PASSES_ON: _tr("passes it on"),
        Verdict.APART: _tr("apart"),
    }.get(first.verdict, "")
    inputs, output = (number(one) for one in (first.input_distance, first.distance))
    long = _tr("{}, {}: inputs {} apart, output {}").format(path, verdict, inputs, output)
    return long, _tr("{}: in {}, out {}").format(path, inputs, output), path


class MarkItems:
    """The line and the words, as items of a plot."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._line = pg.PlotCurveItem()
        self._name = pg.TextItem(anchor=(0, 0))
        self._name.setFont(font("ui", 11))
        for depth, one in ((4, self._line), (25, self._name)):
            one.setZValue(depth)
            plot.addItem(one, ignoreBounds=True)
        self.mark: Mark | None = None
        self.text = ""
        """What is written beside the line."""

    def draw(self, mark: Mark | None, limits: tuple[float, float], layers: int, pixels: float) -> None:
        """Draw the mark between the limits of a plot of so many layers, `pixels` wide."""
        self.mark = mark
        self._line.setVisible(mark is not None)
        self._name.setVisible(mark is not None)
        if mark is None:
            self.text = ""
            return
        colours = theme()
        self._line.setData(np.array([mark.place] * 2, np.float64), np.array(limits, np.float64))
        self._line.setPen(pg.mkPen(colours["warn"], width=2))
        share = (mark.place + 0.5) / max(layers, 1)
        left = share > 0.5
        room = pixels * max(share, 1 - share) - 12
        measure = QFontMetricsF(font("ui", 11))
        fitting = (text for text in mark.words if measure.horizontalAdvance(text) <= room)
        self.text = next(fitting, mark.words[-1])
        self._name.setText(self.text)
        self._name.setColor(colours["warn"])
        self._name.fill = pg.mkBrush(colours["panel"])
        self._name.setAnchor((1 if left else 0, 0))
        self._name.setPos(mark.place, limits[1])


def _tr(text: str) -> str:
    return QCoreApplication.translate("Diverging", text)
