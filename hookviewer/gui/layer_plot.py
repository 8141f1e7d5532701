"""The curve over depth: one line per ticked input, the selected layer marked; a click goes to the layer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QToolTip, QWidget

from hookviewer.gui import depth, numbers
from hookviewer.gui.compare_mark import Mark, MarkItems
from hookviewer.gui.depth import Block, Series
from hookviewer.gui.flow import Flow
from hookviewer.gui.guard import guarded
from hookviewer.gui.line_styles import INPUTS, pen_of
from hookviewer.gui.theme import font, keeper, theme

LEFT, AXIS = 46, 20
TICK_ROOM = 17
"""Each number of the axis has so many pixels of height at least."""
MARK_ROOM = 20
"""The words of a mark are so many pixels tall."""
NAN_ROOM = 34
"""The word beside a mark is so many pixels wide."""
MOST_DOTS = 60
"""A series with more layers is drawn without dots."""
FLOW_ROOM, FLOW_ALPHA = 64, 46
"""The words at a vanishing or exploding gradient are so many pixels wide; the shade behind is so dense."""

_CLEAR = QColor(0, 0, 0, 0)


class LayerPlot(pg.PlotWidget):  # type: ignore[misc]
    """Draws series over the layers; knows nothing of the session."""

    layer_clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, enableMenu=False)
        self.setObjectName("layer_curve")
        self.setAccessibleName(self.tr("Curve over the depth of the network"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it would swallow the keys of the wall
        self.layers: list[str] = []
        self.series: list[Series] = []
        self._blocks: list[Block] = []
        self._log, self._current = True, -1
        self._lines: list[tuple[pg.PlotDataItem, pg.ScatterPlotItem]] = []
        self._nan_names: list[pg.TextItem] = []
        self._flow_names: list[pg.TextItem] = []
        self.flow = Flow()
        item = self.getPlotItem()
        item.hideButtons()
        # pyqtgraph makes this menu without a parent, so nothing would ever end it
        item.ctrlMenu.setParent(self, item.ctrlMenu.windowFlags())
        item.getViewBox().setMouseEnabled(False, False)
        item.getAxis("bottom").setHeight(AXIS)
        item.getAxis("left").setWidth(LEFT)
        self._bands, self._warned = (pg.BarGraphItem(x=[], height=[], width=1) for _ in range(2))
        self._guides, self._bad, self._here = (pg.PlotCurveItem(connect="pairs") for _ in range(3))
        self._dots = pg.ScatterPlotItem(size=9)
        for depth_of, one in (
            (-50, self._bands),
            (-40, self._warned),
            (-20, self._guides),
            (-10, self._here),
            (5, self._bad),
        ):
            one.setZValue(depth_of)
        for one in (self._bands, self._warned, self._guides, self._here, self._bad, self._dots):
            item.addItem(one, ignoreBounds=True)
        self._dots.setZValue(10)
        self.marked = MarkItems(item)
        self._marking: Mark | None = None
        self._recolour()
        keeper().changed.connect(self._recolour)

    def show_series(
        self,
        layers: list[str],
        series: list[Series],
        path: str,
        *,
        log: bool,
        flow: Flow | None = None,
        mark: Mark | None = None,
    ) -> None:
        """Draw the series of all inputs.

        `path` is the layer that is looked at, `flow` tells of gradients to mark, `mark` of a layer to point
        out.
        """
        self.flow, self._marking = flow or Flow(), mark
        if layers != self.layers:
            self._blocks = depth.blocks(layers)
        self.layers, self.series, self._log = layers, series, log
        self._current = layers.index(path) if path in layers else -1
        self.redraw()

    def mark_layer(self, path: str) -> None:
        """Mark another layer; everything else stays as it is drawn."""
        self._current = self.layers.index(path) if path in self.layers else -1
        self._draw_current(self._heights_of())

    def redraw(self) -> None:
        """Draw what has changed; the items of the plot stay the same ones."""
        heights = self._heights_of()
        low, high = self._limits(heights)
        item = self.getPlotItem()
        item.setXRange(-0.5, max(len(self.layers), 1) - 0.5, padding=0)
        item.setYRange(low, high, padding=0)
        self._draw_bands(low, high)
        self._draw_series(heights)
        self._draw_current(heights)
        self._draw_bad(low, high)
        self._draw_flow(low, high)
        self._draw_guides(low, high)
        self._label_blocks()
        self._draw_mark(low, high)

    def _recolour(self) -> None:
        colours, item = theme(), self.getPlotItem()
        self.setBackground(colours["panel"])
        for side in ("left", "bottom"):
            axis = item.getAxis(side)
            axis.setPen(pg.mkPen(_CLEAR if side == "left" else colours["border_strong"], width=1))
            axis.setTextPen(colours["text_3"])
            axis.setStyle(tickFont=font("mono", 10), tickLength=0, tickTextOffset=5)
        self._bands.setOpts(brush=colours["sunken"], pen=pg.mkPen(None))
        ground = colours["warn"]
        ground.setAlpha(FLOW_ALPHA)
        self._warned.setOpts(brush=ground, pen=pg.mkPen(None))
        self._guides.setPen(pg.mkPen(colours["guide"], width=1))
        self._here.setPen(pg.mkPen(colours["accent"], width=1))
        self._bad.setPen(pg.mkPen(colours["nan"], width=2, style=Qt.PenStyle.DotLine))
        self.redraw()

    def _heights_of(self) -> list[npt.NDArray[np.float64]]:
        """Return the heights of every series in the units of the axis, NaN where there is none."""
        return [depth.in_log(one.values) if self._log else one.values for one in self.series]

    def _limits(self, heights: Sequence[npt.NDArray[np.float64]]) -> tuple[float, float]:
        every = np.concatenate([*heights, np.array([], np.float64)])
        every = every[np.isfinite(every)]
        low, high = (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)
        low = low if self._log else min(low, 0.0)
        room = max(high - low, 0.3 if self._log else 1e-6) * 0.14
        return low - room, high + room + self._words_room(high - low + 2 * room)

    def _words_room(self, tall: float) -> float:
        """Return what the words of a mark need above the curves, in units of the axis."""
        if self._marking is None:
            return 0.0
        pixels = max(float(self.height()) - AXIS, 2 * MARK_ROOM)
        return tall * MARK_ROOM / (pixels - MARK_ROOM)

    def _draw_bands(self, low: float, high: float) -> None:
        second = self._blocks[1::2]
        middles = [(block.first + block.last) / 2 for block in second]
        widths = [block.last - block.first + 1 for block in second]
        self._bands.setOpts(x=middles, width=widths, y0=low, height=high - low)

    def _draw_series(self, heights: Sequence[npt.NDArray[np.float64]]) -> None:
        item = self.getPlotItem()
        while len(self._lines) > len(self.series):
            for gone in self._lines.pop():
                item.removeItem(gone)
        while len(self._lines) < len(self.series):
            made = pg.PlotDataItem(antialias=True), pg.ScatterPlotItem(size=4, pen=pg.mkPen(None))
            for one in made:
                item.addItem(one, ignoreBounds=True)
            self._lines.append(made)
        for (line, dots), one, tall in zip(self._lines, self.series, heights, strict=True):
            colour, good = theme().input(one.number), np.isfinite(tall)
            line.setData(one.places[good], tall[good], pen=pen_of(colour, one.style))
            dotted = len(one.places) <= MOST_DOTS and one.style != INPUTS
            few = good if dotted else np.zeros_like(good)
            dots.setData(one.places[few], tall[few], brush=colour)

    def _draw_current(self, heights: Sequence[npt.NDArray[np.float64]]) -> None:
        """Draw the line at the layer that is looked at, and a dot on every curve that has a value there."""
        low, high = self._limits(heights)
        self._here.setData(*_uprights([self._current] if self._current >= 0 else [], low, high))
        spots = [
            {"pos": (self._current, tall[at]), "brush": theme().input(one.number)}
            for one, tall in zip(self.series, heights, strict=True)
            if one.style != INPUTS
            for at in np.flatnonzero((one.places == self._current) & np.isfinite(tall))[:1]
        ]
        self._dots.setData(spots, pen=pg.mkPen(theme()["panel"], width=2))

    def _draw_bad(self, low: float, high: float) -> None:
        """Mark the layers that are not finite; of neighbours only the first is named."""
        item = self.getPlotItem()
        bad = sorted({int(place) for one in self.series for place in one.bad})
        self._bad.setData(*_uprights(bad, low, high))
        for name in self._nan_names:
            item.removeItem(name)
        self._nan_names = []
        for place in apart(bad, self._layers_in(NAN_ROOM)):
            anchor = (0 if place < len(self.layers) - 1 else 1, 0)
            name = pg.TextItem("NaN", color=theme()["nan"], fill=theme()["panel"], anchor=anchor)
            name.setFont(font("mono", 10))
            name.setZValue(20)
            name.setPos(place, high)
            self._nan_names.append(name)
            item.addItem(name, ignoreBounds=True)

    def _draw_flow(self, low: float, high: float) -> None:
        """Shade the layers whose gradient has vanished or exploded; a word names each group of them."""
        item, flow = self.getPlotItem(), self.flow
        for name in self._flow_names:
            item.removeItem(name)
        self._flow_names = []
        marked = sorted({*flow.vanishing, *flow.exploding})
        self._warned.setOpts(x=marked, width=1, y0=low, height=high - low)
        named = (
            (flow.vanishing, self.tr("vanishing"), low, 1),
            (flow.exploding, self.tr("exploding"), high, 0),
        )
        room = self._layers_in(FLOW_ROOM)
        for places, word, tall, down in named:
            for place in apart(list(places), room):
                anchor = (1 if place + room > len(self.layers) else 0, down)
                name = pg.TextItem(word, color=theme()["warn"], fill=theme()["panel"], anchor=anchor)
                name.setFont(font("ui", 10))
                name.setZValue(20)
                name.setPos(place, tall)
                self._flow_names.append(name)
                item.addItem(name, ignoreBounds=True)

    def _draw_mark(self, low: float, high: float) -> None:
        self.marked.draw(self._marking, (low, high), len(self.layers), self.width() - LEFT - 12)

    def _layers_in(self, pixels: float) -> float:
        return pixels * len(self.layers) / max(float(self.width()) - LEFT - 12, 1.0)

    def _draw_guides(self, low: float, high: float) -> None:
        """Draw a line at every height that has a number."""
        most = max(int((self.height() - AXIS) // TICK_ROOM), 2)
        marks = _marks(low, high, log=self._log, most=most) if self.layers else []
        self.getPlotItem().getAxis("left").setTicks([marks])
        ends = [-0.5, len(self.layers) - 0.5] * len(marks)
        self._guides.setData(np.array(ends, np.float64), np.repeat([float(tall) for tall, _ in marks], 2))

    def _label_blocks(self) -> None:
        """Write the blocks' names below the axis, as many as fit beside each other."""
        measure, end = QFontMetricsF(font("mono", 10)), -1e9
        scale = max(self.width() - LEFT - 12, 1) / max(len(self.layers), 1)
        ticks = []
        for block in self._blocks:
            middle = (block.first + block.last) / 2
            half = measure.horizontalAdvance(block.label) / 2 + 4
            if (middle + 0.5) * scale - half > end:
                ticks.append((middle, block.label))
                end = (middle + 0.5) * scale + half
        self.getPlotItem().getAxis("bottom").setTicks([ticks])

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_dots"):  # pyqtgraph resizes while it is being made
            if self._marking is None:
                self._label_blocks()
                self._draw_guides(*self._limits(self._heights_of()))
            else:
                self.redraw()  # its words need another share of the height

    # -- the mouse ------------------------------------------------------------------------------------------

    def layer_at(self, point: QPointF) -> str | None:
        """Return the recorded layer nearest to a place in the widget."""
        recorded = sorted({int(place) for one in self.series for place in one.places})
        if not recorded:
            return None
        x = float(self.getPlotItem().getViewBox().mapSceneToView(self.mapToScene(point.toPoint())).x())
        return self.layers[min(recorded, key=lambda place: abs(place - x))]

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        path = self.layer_at(event.position())
        if path is not None and event.button() == Qt.MouseButton.LeftButton:
            self.layer_clicked.emit(path)
        event.accept()

    @guarded
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        path = self.layer_at(event.position())
        if path is not None:
            place = self.layers.index(path)
            lines = [path, *(_said(one, place) for one in self.series if place in one.places)]
            if place in self.flow.vanishing:
                lines.append(self.tr("vanishing: less than 1e−4 of the gradient at the start"))
            if place in self.flow.exploding:
                lines.append(self.tr("exploding: more than 1e4 times the gradient at the start"))
            QToolTip.showText(event.globalPosition().toPoint(), "\n".join(lines), self)
        event.accept()


def _uprights(places: Sequence[int], low: float, high: float) -> tuple[npt.NDArray[np.float64], ...]:
    """Return the ends of a vertical line at each place, in pairs."""
    return np.repeat(np.array(places, np.float64), 2), np.array([low, high] * len(places), np.float64)


def apart(places: list[int], least: float) -> list[int]:
    """Return the first of every group of ascending places whose neighbours are nearer than `least`."""
    return [
        place for before, place in zip([None, *places], places, strict=False) if _far(before, place, least)
    ]


def _far(before: int | None, place: int, least: float) -> bool:
    return before is None or place - before >= least


def _said(one: Series, place: int) -> str:
    return f"{one.name}  {numbers.number(float(one.values[np.flatnonzero(one.places == place)[0]]))}"


def _marks(low: float, high: float, *, log: bool, most: int = 5) -> list[tuple[float, str]]:
    """Return the heights that get a number: whole powers of ten, or round values; about `most` at most."""
    if not log:
        step = 10 ** np.floor(np.log10(max(high - low, 1e-12)))
        step = next(size * step for size in (0.2, 0.5, 1, 2, 5, 10) if (high - low) / (size * step) <= most)
        places = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step + 0.0  # no −0
        return [(float(place), f"{place:.3g}".replace("-", "−")) for place in places]
    whole = [power for power in range(-30, 31) if low < power < high]
    every = max(1, math.ceil(len(whole) / most))
    if len(whole) < 2:
        halves = [power / 2 for power in range(-60, 61) if low < power / 2 < high]
        return [(power, f"{10**power:.2g}".replace("-", "−")) for power in halves]
    return [(power, _power(power)) for power in whole[::every]]


def _power(power: int) -> str:
    return f"{10.0**power:g}" if -3 < power < 4 else f"1e{power}".replace("-", "−")
