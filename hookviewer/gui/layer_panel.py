"""The panel of layers: which number the curve over depth shows, and the curve."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from hookviewer.gui import depth, numbers
from hookviewer.gui.depth import METRICS, Series
from hookviewer.gui.guard import guarded
from hookviewer.gui.layer_plot import LayerPlot
from hookviewer.gui.legend import Legend
from hookviewer.gui.panels import EmptyOr
from hookviewer.gui.parts import Segmented, column, frame
from hookviewer.gui.session import Session
from hookviewer.gui.theme import scaled

REFRESH_MS = 250
BOTH_CHOICES = 440
"""In a narrower panel the kind of axis is not offered: the words for the quantities need its room."""


class LayerPanel(QWidget):
    """Draws `run.summaries` of the ticked inputs; `tools` belong into the panel's title."""

    pointed_out = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.plot = LayerPlot()
        self.quantity = Segmented(
            [self.tr("mean |a|"), self.tr("std"), self.tr("zeros"), self.tr("|grad|")], height=24
        )
        self.axis = Segmented([self.tr("lin"), self.tr("log")], height=24)
        self.axis.choose(1)
        self.legend = Legend()
        self.tools = (self.legend, 8, self.quantity, 4, self.axis, 4)
        self._empty = EmptyOr(frame(column(self.plot, margins=(6, 0, 10, 4))), "chart-spline", "")
        self.setLayout(column(self._empty))
        self.setMinimumHeight(80)
        self._later = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._later.timeout.connect(self.refresh)
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        session = self._session
        for signal in (session.model_changed, session.inputs_changed):
            signal.connect(self.refresh)
        session.selection_changed.connect(self._on_selection_changed)
        session.run_started.connect(self.refresh)
        session.run_finished.connect(self.refresh)
        session.runs_changed.connect(self.refresh)
        session.run_grew.connect(self._on_run_grew)
        self.quantity.changed.connect(self._on_metric_changed)
        self.axis.changed.connect(self.refresh)
        self.plot.layer_clicked.connect(self._on_layer_clicked)

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.axis.setVisible(self.width() >= scaled(BOTH_CHOICES))

    def _on_run_grew(self, paths: frozenset[str]) -> None:
        if not self._later.isActive():
            self._later.start()

    def _on_metric_changed(self, place: int) -> None:
        self.axis.buttons[1].setEnabled(METRICS[place] != "zeros")
        self.refresh()

    def _on_layer_clicked(self, path: str) -> None:
        self._session.select(path=path)

    def refresh(self) -> None:
        """Draw the curve of the ticked inputs."""
        session, metric = self._session, METRICS[self.quantity.index]
        ticked = [
            (item, session.runs[item.number]) for item in session.ticked_inputs if item.number in session.runs
        ]
        layers = depth.layers_of([run for _, run in ticked])
        shown = [depth.series(item, run, layers, metric) for item, run in ticked]
        shown = [one for one in shown if len(one.places)]
        log = self.axis.index == 1 and metric != "zeros"
        self._empty.show_content(bool(shown), self._reason(metric))
        self.plot.show_series(layers, shown, session.selection.path, log=log)
        self._show_here()

    def _on_selection_changed(self) -> None:
        """Point out another layer on the curves that are there."""
        self.plot.mark_layer(self._session.selection.path)
        self._show_here()

    def _show_here(self) -> None:
        layers = self.plot.layers
        self.legend.show_entries([self._entry(one, layers) for one in self.plot.series])
        self.pointed_out.emit(self._session.selection.path)

    def _entry(self, one: Series, layers: list[str]) -> tuple[int, str, str]:
        path = self._session.selection.path
        here = [value for place, value in zip(one.places, one.values, strict=True) if layers[place] == path]
        return one.number, one.name, numbers.number(float(here[0])) if here else ""

    def _reason(self, metric: str) -> str:
        session = self._session
        if session.model is None:
            return self.tr("The curve over the layers appears when a model has run.")
        if not session.ticked_inputs:
            return self.tr("No input is ticked: tick one to see its curve over the layers.")
        if metric == "grad" and session.settings.target.rule == "none":
            return self.tr("There are no gradients: choose a target in the bar above.")
        if session.running:
            return self.tr("Running …")
        if any(run.error is not None for run in session.runs.values()):
            return self.tr("No layer was recorded: the message above the wall says why.")
        return self.tr("Nothing is recorded yet: tick layers and press Run (F5).")
