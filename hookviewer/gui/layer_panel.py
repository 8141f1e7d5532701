"""The panel of layers: which number the curve over depth shows, the curve, and all numbers as a table."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QWidget

from hookviewer.gui import depth, flow, layer_rows, numbers
from hookviewer.gui.compare_bar import DivergenceBar
from hookviewer.gui.compare_depth import DIFFERENCES, difference_series, diverging_series
from hookviewer.gui.compare_mark import Mark, mark_of
from hookviewer.gui.depth import GRADIENTS, LINEAR, METRICS, Series
from hookviewer.gui.guard import guarded
from hookviewer.gui.layer_plot import LayerPlot
from hookviewer.gui.layer_table import LayerTable
from hookviewer.gui.legend import Entry, Legend
from hookviewer.gui.line_styles import INPUTS, styles_of
from hookviewer.gui.panels import EmptyOr
from hookviewer.gui.parts import Segmented, column, frame, tool
from hookviewer.gui.quantity_button import QuantityButton
from hookviewer.gui.session import Session
from hookviewer.gui.state import InputItem, Message, Run
from hookviewer.gui.theme import scaled
from hookviewer.kinds import Kind

REFRESH_MS = 250
TIGHT = 900
"""In a narrower panel the words stand closer: the numbers of the inputs need the room."""

QUANTITIES = (*METRICS, *DIFFERENCES)

ALL_CHOICES = 800
"""As `BOTH_CHOICES`, where the quantities of a difference are offered too."""

BESIDE = 170
"""What else the title has to show; where the words for the quantities do not fit, one button has them all."""
BOTH_CHOICES = 560
"""In a narrower panel the kind of axis is not offered: the words for the quantities need its room."""


class LayerPanel(QWidget):
    """Draws `run.summaries` of the ticked inputs; `tools` belong into the panel's title."""

    pointed_out = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.plot = LayerPlot()
        self.quantity = Segmented(
            [
                *(self.tr("mean |a|"), self.tr("mean"), self.tr("std"), self.tr("zeros")),
                *(self.tr("|grad|"), self.tr("|∂w|")),
                *(self.tr("rel. L2"), self.tr("1 − cos")),
            ],
            height=24,
        )
        self._explain()
        self.which = QuantityButton(self.quantity)
        self.axis = Segmented([self.tr("lin"), self.tr("log")], height=24)
        self.axis.choose(1)
        self.legend = Legend()
        self.table = LayerTable()
        self.as_table = tool("table-2", self.tr("All numbers as a table"), checkable=True, size=24)
        self.copy = tool("copy", self.tr("Copy the table as CSV"), size=24)
        self.save = tool("file-down", self.tr("Save the table as CSV …"), size=24)
        self.diverging = tool("scan-eye", self.tr("Find the first layer that goes apart"), size=24)
        self.divergence = DivergenceBar(session)
        self.tools = (
            *(self.legend, 8, self.quantity, self.which, 4, self.diverging, 4, self.axis, 4),
            *(self.copy, self.save, self.as_table, 4),
        )
        for one in self.tools:
            if isinstance(one, QWidget):
                one.setParent(self)  # until the title takes it: without a parent it would be a window
        self._pages = QStackedWidget()
        plotted = column(column(self.plot, margins=(6, 0, 10, 4)), self.divergence)
        plotted.setStretch(0, 1)
        self._pages.addWidget(frame(plotted))
        self._pages.addWidget(frame(column(self.table, margins=(6, 0, 6, 4))))
        self._empty = EmptyOr(self._pages, "chart-spline", "")
        self.setLayout(column(self._empty))
        self.setMinimumHeight(80)
        self._later = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._later.timeout.connect(self.refresh)
        self._connect()
        self._show_page(False)

    def _connect(self) -> None:
        session = self._session
        for signal in (session.model_changed, session.inputs_changed):
            signal.connect(self.refresh)
        session.selection_changed.connect(self._on_selection_changed)
        session.run_started.connect(self.refresh)
        session.run_finished.connect(self.refresh)
        session.runs_changed.connect(self._on_runs_changed)
        session.run_grew.connect(self._on_run_grew)
        self.quantity.changed.connect(self._on_metric_changed)
        self.axis.changed.connect(self.refresh)
        self.plot.layer_clicked.connect(self._on_layer_clicked)
        self.table.row_clicked.connect(lambda path, number: session.select(path=path, input=number))
        self.as_table.toggled.connect(self._show_page)
        session.differences.changed.connect(self.refresh)
        session.diverging.changed.connect(self._on_diverging_changed)
        self.diverging.clicked.connect(lambda: session.diverging.look())
        self.copy.clicked.connect(self._on_copy)
        self.save.clicked.connect(self._on_save)

    def _explain(self) -> None:
        """Say in tooltips what the short names mean."""
        meanings = (
            self.tr("Mean of the absolute values"),
            self.tr("Mean"),
            self.tr("Standard deviation"),
            self.tr("Share of values that are zero, in percent"),
            self.tr("L2 norm of the gradient at the output; vanishing and exploding ones are marked"),
            self.tr("L2 norm of the gradients of the layer's own parameters"),
            self.tr("Difference to A: L2 norm of it, relative to that of A"),
            self.tr("Difference to A: 1 − cosine"),
        )
        for button, meaning in zip(self.quantity.buttons, meanings, strict=True):
            button.setToolTip(meaning)

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_way()

    def _give_way(self) -> None:
        plotted = not self.as_table.isChecked()
        air = "" if self.width() >= scaled(TIGHT) else "padding: 0 5px;"
        for button in self.quantity.buttons:
            if button.styleSheet() != air:
                button.setStyleSheet(air)
        room = ALL_CHOICES if len(self._session.ticked_inputs) > 1 else BOTH_CHOICES
        self.axis.setVisible(plotted and self.width() >= scaled(room))
        several = len(self._session.ticked_inputs) > 1
        for button in self.quantity.buttons[len(METRICS) :]:
            button.setVisible(several)
        roomy = self.quantity.sizeHint().width() + scaled(BESIDE) <= self.width()
        self.quantity.setVisible(plotted and roomy)
        self.which.setVisible(plotted and not roomy)
        self.which.show_chosen()
        self.diverging.setVisible(plotted and several)
        self.legend.setVisible(plotted)
        for one in (self.copy, self.save):
            one.setVisible(not plotted)

    def _show_page(self, table: bool) -> None:
        self._pages.setCurrentIndex(int(table))
        self._give_way()
        self.refresh()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.table.csv())
        self._session.tell(Message("ok", self.tr("Copied the table.")))

    def _on_save(self) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self, self.tr("Save the table"), "layers.csv", self.tr("Comma-separated values (*.csv)")
        )
        if path:
            self.write_table(path)

    def write_table(self, path: str) -> None:
        """Write the table as it is sorted into a file, and say so or why not."""
        try:
            Path(path).write_text(self.table.csv(), encoding="utf-8")
        except OSError as error:
            why = error.strerror or str(error)
            self._session.tell(Message("error", self.tr("The table was not saved."), f"{path}: {why}."))
            return
        self._session.tell(Message("ok", self.tr("Saved {}.").format(Path(path).name)))

    def _on_run_grew(self, paths: frozenset[str]) -> None:
        if not self._later.isActive():
            self._later.start()

    def _on_metric_changed(self, place: int) -> None:
        self.axis.buttons[1].setEnabled(QUANTITIES[place] not in LINEAR)
        if QUANTITIES[place] == "param_grad":
            self._want_parameters()
        self.refresh()

    def _want_parameters(self) -> None:
        """Let the next run record the gradients of parameters, where this one has not."""
        session = self._session
        if Kind.PARAM_GRAD in session.plan.kinds or session.settings.target.rule == "none":
            return
        session.set_plan(dataclasses.replace(session.plan, kinds=session.plan.kinds | {Kind.PARAM_GRAD}))
        what = self.tr("Gradients of parameters are recorded from the next run on.")
        session.tell(Message("info", what, self.tr("Press Run (F5).")))

    def _on_diverging_changed(self) -> None:
        """Show how far the layers are apart, all of them, where it has been found out."""
        found = self._session.diverging.found
        if found is not None and QUANTITIES[self.quantity.index] not in DIFFERENCES:
            self.quantity.choose(QUANTITIES.index("relative"))
            self.axis.buttons[1].setEnabled(True)
        self.refresh()

    def _on_layer_clicked(self, path: str) -> None:
        self._session.select(path=path)

    def _on_runs_changed(self) -> None:
        """Show other runs at once; while one goes on, its end will do that."""
        if self._session.running:
            self._later.start()
        else:
            self.refresh()

    def refresh(self) -> None:
        """Show the curve of the ticked inputs, or the table."""
        self._later.stop()
        self._give_way()
        session = self._session
        ticked = [
            (item, session.runs[item.number]) for item in session.ticked_inputs if item.number in session.runs
        ]
        layers = depth.layers_of([run for _, run in ticked])
        if self.as_table.isChecked():
            self._show_table(ticked, layers)
        else:
            self._show_curve(ticked, layers)
        self._show_here()

    def _show_table(self, ticked: list[tuple[InputItem, Run]], layers: list[str]) -> None:
        rows = layer_rows.rows(ticked, layers)
        self._empty.show_content(bool(rows), self._reason("mean"))
        self.table.show_rows(rows, self._session.selection.path, self._session.selection.input)

    def _show_curve(self, ticked: list[tuple[InputItem, Run]], layers: list[str]) -> None:
        if self.quantity.index >= len(METRICS) and len(self._session.ticked_inputs) < 2:
            self.quantity.choose(0)
        metric = QUANTITIES[self.quantity.index]
        shown = self._series(ticked, layers, metric)
        shown = [one for one in shown if len(one.places)]
        log = self.axis.index == 1 and metric not in LINEAR
        marked = flow.joined([flow.flow(one.places, one.values) for one in shown if metric in GRADIENTS])
        self._empty.show_content(bool(shown), self._reason(metric))
        shown = [dataclasses.replace(one, style=self._style(one)) for one in shown]
        path, mark = self._session.selection.path, self._mark(layers)
        self.plot.show_series(layers, shown, path, log=log, flow=marked, mark=mark)

    def _style(self, one: Series) -> str:
        return one.style if one.style == INPUTS else styles_of(self._session.items).get(one.number, "solid")

    def _mark(self, layers: list[str]) -> Mark | None:
        found = self._session.diverging.found
        return None if found is None else mark_of(found.divergence, layers)

    def _series(self, ticked: list[tuple[InputItem, Run]], layers: list[str], metric: str) -> list[Series]:
        if metric not in DIFFERENCES:
            return [depth.series(item, run, layers, metric) for item, run in ticked]
        session = self._session
        items = [item for item, _ in ticked]
        shown, lacking = difference_series(items, session.runs, layers, metric, session.differences)
        if lacking:
            session.differences.want(lacking)
        found = session.diverging.found
        if metric != "relative" or found is None:
            return shown
        others = [one for one in shown if one.number != found.item.number]
        return [*others, *diverging_series(found, layers)]

    def _on_selection_changed(self) -> None:
        """Point out another layer on the curves that are there."""
        selection = self._session.selection
        if self.as_table.isChecked():
            self.table.mark(selection.path, selection.input)
        else:
            self.plot.mark_layer(selection.path)
        self._show_here()

    def _show_here(self) -> None:
        layers = self.plot.layers
        self.legend.show_entries([self._entry(one, layers) for one in self.plot.series])
        self.pointed_out.emit(self._session.selection.path)

    def _entry(self, one: Series, layers: list[str]) -> Entry:
        path = self._session.selection.path
        here = [
            (int(place), float(value))
            for place, value in zip(one.places, one.values, strict=True)
            if layers[place] == path
        ]
        return one.number, one.name, _written(*here[0], one) if here else "", one.style

    def _reason(self, metric: str) -> str:
        session = self._session
        if session.model is None:
            return self.tr("The curve over the layers appears when a model has run.")
        if not session.ticked_inputs:
            return self.tr("No input is ticked: tick one to see its curve over the layers.")
        if metric in GRADIENTS and session.settings.target.rule == "none":
            return self.tr("There are no gradients: choose a target in the bar above.")
        if session.running:
            return self.tr("Running …")
        if metric in DIFFERENCES:
            return self.tr("Both columns need the values of a layer: tick layers and press Run (F5).")
        if any(run.error is not None for run in session.runs.values()):
            return self.tr("No layer was recorded: the message above the wall says why.")
        if metric == "param_grad":
            return self.tr("No gradient of a parameter is recorded yet: press Run (F5).")
        return self.tr("Nothing is recorded yet: tick layers and press Run (F5).")


def _written(place: int, value: float, one: Series) -> str:
    """Return the value of a layer; an empty tensor has none, which is not the same as NaN in it."""
    return "–" if math.isnan(value) and place not in one.bad else numbers.number(value)
