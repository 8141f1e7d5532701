"""The curve over depth: one line per ticked input, the selected layer marked; a click goes to the layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QToolTip, QWidget

from hookviewer.gui import depth, numbers
from hookviewer.gui.depth import Block, Series
from hookviewer.gui.guard import guarded
from hookviewer.gui.theme import font, keeper, theme

LEFT = 46
NAN_ROOM = 34
"""The word beside a mark is so many pixels wide."""
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
        self._current_marks: list[pg.GraphicsObject] = []
        self._nan_names: list[pg.TextItem] = []
        item = self.getPlotItem()
        item.hideButtons()
        # pyqtgraph makes this menu without a parent, so nothing would ever end it
        item.ctrlMenu.setParent(self, item.ctrlMenu.windowFlags())
        item.getViewBox().setMouseEnabled(False, False)
        item.getAxis("bottom").setHeight(20)
        item.getAxis("left").setWidth(LEFT)
        keeper().changed.connect(self.redraw)

    def show_series(self, layers: list[str], series: list[Series], path: str, *, log: bool) -> None:
        """Draw the series of all inputs; `path` is the layer to mark."""
        self.layers, self.series, self._log = layers, series, log
        self._blocks = depth.blocks(layers)
        self._current = layers.index(path) if path in layers else -1
        self.redraw()

    def mark_layer(self, path: str) -> None:
        """Mark another layer; everything else stays as it is drawn."""
        self._current = self.layers.index(path) if path in self.layers else -1
        for mark in self._current_marks:
            self.getPlotItem().removeItem(mark)
        self._current_marks = []
        self._draw_current()

    def redraw(self) -> None:
        """Draw everything anew in the colours of the theme."""
        colours, item = theme(), self.getPlotItem()
        item.clear()
        self._nan_names.clear()
        self.setBackground(colours["panel"])
        for side in ("left", "bottom"):
            axis = item.getAxis(side)
            axis.setPen(pg.mkPen(_CLEAR if side == "left" else colours["border_strong"], width=1))
            axis.setTextPen(colours["text_3"])
            axis.setStyle(tickFont=font("mono", 10), tickLength=0, tickTextOffset=5)
        if not self.layers:
            return
        self._draw_bands()
        for one in self.series:
            self._draw_series(one)
        self._current_marks = []
        self._draw_current()
        self._draw_bad()
        self._set_ranges()
        self._label_blocks()

    def _draw_bands(self) -> None:
        for block in self._blocks[1::2]:
            span = (block.first - 0.5, block.last + 0.5)
            band = pg.LinearRegionItem(span, movable=False, brush=theme()["sunken"], pen=pg.mkPen(None))
            for edge in band.lines:
                edge.setPen(pg.mkPen(None))
            band.setZValue(-50)
            self.getPlotItem().addItem(band)

    def _heights(self, one: Series) -> Any:
        return depth.in_log(one.values) if self._log else one.values

    def _draw_series(self, one: Series) -> None:
        item, colour, heights = self.getPlotItem(), theme().input(one.number), self._heights(one)
        good = np.isfinite(heights)
        item.addItem(
            pg.PlotDataItem(one.places[good], heights[good], pen=pg.mkPen(colour, width=1.6), antialias=True)
        )
        if len(one.places) <= 60:
            dots = {"size": 4, "brush": colour, "pen": pg.mkPen(None)}
            item.addItem(pg.ScatterPlotItem(one.places[good], heights[good], **dots))

    def _draw_bad(self) -> None:
        """Mark the layers that are not finite; of neighbours only the first is named."""
        item, ink = self.getPlotItem(), theme()["nan"]
        pen = pg.mkPen(ink, width=2, style=Qt.PenStyle.DotLine)
        bad = sorted({int(place) for one in self.series for place in one.bad})
        for place in bad:
            item.addItem(pg.InfiniteLine(place, angle=90, pen=pen))
        for place in apart(bad, self._layers_in(NAN_ROOM)):
            name = pg.TextItem(
                "NaN", color=ink, fill=theme()["panel"], anchor=(0 if place < len(self.layers) - 1 else 1, 0)
            )
            name.setFont(font("mono", 10))
            name.setZValue(20)
            self._nan_names.append(name)
            item.addItem(name)
            name.setPos(place, 0.0)

    def _layers_in(self, pixels: float) -> float:
        return pixels * len(self.layers) / max(float(self.width()) - LEFT - 12, 1.0)

    def _draw_current(self) -> None:
        """Draw the line at the layer that is looked at, and a dot on every curve that has a value there."""
        if self._current < 0:
            return
        line = pg.InfiniteLine(self._current, angle=90, pen=pg.mkPen(theme()["accent"], width=1))
        line.setZValue(-10)
        self._mark(line)
        for one in self.series:
            heights = self._heights(one)
            here = np.flatnonzero((one.places == self._current) & np.isfinite(heights))
            if len(here):
                rim = pg.mkPen(theme()["panel"], width=2)
                self._mark(
                    pg.ScatterPlotItem(
                        [self._current],
                        [heights[here[0]]],
                        size=9,
                        brush=theme().input(one.number),
                        pen=rim,
                    )
                )

    def _mark(self, item: pg.GraphicsObject) -> None:
        self.getPlotItem().addItem(item)
        self._current_marks.append(item)

    def _set_ranges(self) -> None:
        item = self.getPlotItem()
        item.setXRange(-0.5, len(self.layers) - 0.5, padding=0)
        found = [self._heights(one) for one in self.series]
        heights = np.concatenate([*found, np.array([], np.float64)])
        heights = heights[np.isfinite(heights)]
        low, high = (float(heights.min()), float(heights.max())) if len(heights) else (0.0, 1.0)
        low = low if self._log else min(low, 0.0)
        room = max(high - low, 0.3 if self._log else 1e-6) * 0.14
        item.setYRange(low - room, high + room, padding=0)
        for name in self._nan_names:
            name.setPos(name.pos().x(), high + room)
        marks = _marks(low - room, high + room, log=self._log)
        item.getAxis("left").setTicks([marks])
        for height, _ in marks:
            line = pg.InfiniteLine(height, angle=0, pen=pg.mkPen(theme()["guide"], width=1))
            line.setZValue(-20)
            item.addItem(line)

    def _label_blocks(self) -> None:
        """Write the blocks' names below the axis, as many as fit beside each other."""
        if not self.layers:
            return
        measure, end = QFontMetricsF(font("mono", 10)), -1e9
        scale = max(self.width() - LEFT - 12, 1) / len(self.layers)
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
        if hasattr(self, "_blocks"):  # pyqtgraph resizes while it is being made
            self._label_blocks()

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
            QToolTip.showText(event.globalPosition().toPoint(), "\n".join(lines), self)
        event.accept()


def apart(places: list[int], least: float) -> list[int]:
    """Return the first of every group of ascending places whose neighbours are nearer than `least`."""
    return [
        place for before, place in zip([None, *places], places, strict=False) if _far(before, place, least)
    ]


def _far(before: int | None, place: int, least: float) -> bool:
    return before is None or place - before >= least


def _said(one: Series, place: int) -> str:
    return f"{one.name}  {numbers.number(float(one.values[np.flatnonzero(one.places == place)[0]]))}"


def _marks(low: float, high: float, *, log: bool) -> list[tuple[float, str]]:
    """Return the heights that get a number: whole powers of ten, or two to four round values."""
    if not log:
        step = 10 ** np.floor(np.log10(max(high - low, 1e-12)))
        step = next(size * step for size in (0.2, 0.5, 1, 2) if (high - low) / (size * step) <= 5)
        places = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
        return [(float(place), f"{place:.3g}".replace("-", "−")) for place in places]
    whole = [power for power in range(-30, 31) if low < power < high]
    every = max(1, len(whole) // 4)
    if len(whole) < 2:
        halves = [power / 2 for power in range(-60, 61) if low < power / 2 < high]
        return [(power, f"{10**power:.2g}".replace("-", "−")) for power in halves]
    return [(power, _power(power)) for power in whole[::every]]


def _power(power: int) -> str:
    return f"{10.0**power:g}" if -3 < power < 4 else f"1e{power}".replace("-", "−")
