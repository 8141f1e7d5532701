"""The table of all layers, the rule for vanishing and exploding gradients, and parameters' gradients."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot
from torch import nn

import hookviewer as hv
from hookviewer.gui import depth, layer_table
from hookviewer.gui.flow import flow, joined
from hookviewer.gui.layer_panel import LayerPanel
from hookviewer.gui.layer_rows import NAMES, LayerRow
from hookviewer.gui.layer_table import LayerModel, LayerTable, written
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    one = Session()
    one.set_model(Tiny())
    one.add_inputs([picture(0), picture(1)])
    one.tick(["stem.0", "stem.2", "head"], True)
    settled(qtbot, one)
    yield one
    one.close()


@pytest.fixture
def panel(qtbot: QtBot, session: Session) -> LayerPanel:
    made = LayerPanel(session)
    qtbot.addWidget(made)
    made.resize(900, 240)
    made.show()
    return made


def _rows(panel: LayerPanel) -> list[LayerRow]:
    return panel.table.rows.rows


def _column(panel: LayerPanel, column: int) -> list[str]:
    model = panel.table.rows
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


def test_every_layer_and_input_has_a_row_with_the_numbers_of_its_tensor(
    session: Session, panel: LayerPanel
) -> None:
    panel.as_table.click()
    assert panel.table.isVisible()
    assert [(row.path, row.number) for row in _rows(panel)][:4] == [
        ("stem.0", 1),
        ("stem.0", 2),
        ("stem.1", 1),
        ("stem.1", 2),
    ]
    plan = hv.HookPlan.of(session.model, "*", kinds={hv.Kind.OUTPUT, hv.Kind.GRAD_OUTPUT})
    for item in session.inputs:
        recording = hv.capture(session.model, item.input.args, plan, target=hv.top_class())
        for row in (one for one in _rows(panel) if one.number == item.number):
            values = recording.record(row.path, hv.Kind.OUTPUT).array().astype(np.float64)
            slopes = recording.record(row.path, hv.Kind.GRAD_OUTPUT).array().astype(np.float64)
            expected = {
                "mean": values.mean(),
                "std": values.std(),
                "min": values.min(),
                "max": values.max(),
                "zeros": 100 * (values == 0).mean(),
                "nan": 0,
                "inf": 0,
                "l2": np.linalg.norm(values),
                "grad": np.linalg.norm(slopes),
            }
            shown = dict(zip(NAMES, row.values, strict=True))
            assert math.isnan(shown.pop("param_grad"))
            assert shown == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_a_click_on_a_head_sorts_by_value_and_layers_by_the_order_of_the_run(panel: LayerPanel) -> None:
    panel.as_table.click()
    order = [row.path for row in _rows(panel)]
    at = NAMES.index("l2")
    panel.table.sortByColumn(at + 2, Qt.SortOrder.DescendingOrder)
    sizes = [row.values[at] for row in _rows(panel)]
    assert sizes == sorted(sizes, reverse=True)
    panel.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert [row.path for row in _rows(panel)] == order


def test_what_has_no_number_comes_last_either_way(qtbot: QtBot) -> None:
    model = LayerModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    rows = [
        LayerRow(place, f"l{place}", 1, "x", (value, *[0.0] * 9))
        for place, value in enumerate((2.0, math.nan, 1.0))
    ]
    model.show_rows(rows)
    for order, paths in (
        (Qt.SortOrder.AscendingOrder, ["l2", "l0", "l1"]),
        (Qt.SortOrder.DescendingOrder, ["l0", "l2", "l1"]),
    ):
        model.sort(2, order)
        assert [row.path for row in model.rows] == paths
    assert tester.model() is model


def test_a_click_on_a_row_goes_to_the_layer_and_the_input(
    qtbot: QtBot, session: Session, panel: LayerPanel
) -> None:
    panel.as_table.click()
    place = next(place for place, row in enumerate(_rows(panel)) if (row.path, row.number) == ("stem.2", 2))
    box = panel.table.visualRect(panel.table.rows.index(place, 3))
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert (session.selection.path, session.selection.input) == ("stem.2", 2)
    assert (panel.table.path, panel.table.number) == ("stem.2", 2)


def test_the_marked_row_is_painted_and_the_curve_has_the_same_layer(
    session: Session, panel: LayerPanel
) -> None:
    session.select(path="stem.1")
    panel.as_table.click()
    row = panel.table.visualRect(panel.table.rows.index(2, 4))
    other = panel.table.visualRect(panel.table.rows.index(0, 4))
    image = panel.table.viewport().grab().toImage()
    grounds = [image.pixelColor(box.left() + 1, box.top() + 1).name() for box in (row, other)]
    assert grounds[0] != grounds[1]
    panel.as_table.click()
    assert panel.plot.layers[panel.plot._current] == "stem.1"


def test_the_table_is_copied_and_saved_with_all_digits(
    session: Session, panel: LayerPanel, tmp_path: Path
) -> None:
    told: list[Message] = []
    session.message_told.connect(told.append)
    panel.as_table.click()
    panel.copy.click()
    text = QGuiApplication.clipboard().text()
    read = list(csv.DictReader(io.StringIO(text)))
    assert [line["layer"] for line in read] == [row.path for row in _rows(panel)]
    assert float(read[0]["mean"]) == _rows(panel)[0].values[0]
    assert read[0]["param_grad"] == ""
    panel.write_table(str(tmp_path / "layers.csv"))
    assert (tmp_path / "layers.csv").read_text(encoding="utf-8") == text
    panel.write_table(str(tmp_path / "nowhere" / "layers.csv"))
    assert [message.tone for message in told] == ["ok", "ok", "error"]


def test_a_thousand_rows_are_written_only_as_far_as_they_are_seen(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = LayerTable()
    qtbot.addWidget(table)
    table.resize(900, 200)
    table.show()
    asked: list[float] = []

    def counted(name: str, value: float) -> str:
        asked.append(value)
        return written(name, value)

    monkeypatch.setattr(layer_table, "written", counted)
    rows = [LayerRow(place, f"layer.{place}", 1, "x", (float(place), *[0.0] * 9)) for place in range(1000)]
    table.show_rows(rows, "layer.500", 1)
    qtbot.waitUntil(lambda: 500.0 in asked)
    assert len(set(asked)) < 60
    assert table.visualRect(table.rows.index(500, 0)).top() >= 0


def test_numbers_are_written_short() -> None:
    assert written("nan", 3.0) == "3"
    assert written("zeros", 12.345) == "12.3"
    assert written("mean", math.nan) == "–"


def test_a_gradient_has_vanished_below_a_ten_thousandth_of_its_start() -> None:
    places = np.array([0, 2, 3, 5])
    found = flow(places, np.array([0.99e-4, 0.0, 1.01e-4, 1.0]))
    assert (found.vanishing, found.exploding, found.start) == ((0, 2), (), 1.0)


def test_a_gradient_has_exploded_above_ten_thousand_times_its_start() -> None:
    found = flow(np.array([0, 1, 2, 3]), np.array([2.1e4, 1.9e4, 2.0, 0.0]))
    assert (found.vanishing, found.exploding, found.start) == ((3,), (0,), 2.0)


def test_what_is_not_finite_is_neither() -> None:
    found = flow(np.array([0, 1, 2]), np.array([math.inf, math.nan, 1.0]))
    assert (found.vanishing, found.exploding) == ((), ())
    assert flow(np.array([4]), np.array([0.0])).vanishing == (4,)
    assert joined([flow(np.array([4]), np.array([0.0])), found]).vanishing == (4,)


class Deep(nn.Sequential):
    """Layers that each make the gradient fifty times smaller, or larger, on its way back."""

    def __init__(self, factor: float) -> None:
        layers = [nn.Linear(4, 4, bias=False) for _ in range(4)]
        for layer in layers:
            nn.init.eye_(layer.weight)
            layer.weight.data *= factor
        super().__init__(*layers)


@pytest.mark.parametrize(("factor", "word"), [(0.02, "vanishing"), (50.0, "exploding")])
def test_vanishing_and_exploding_gradients_are_marked_with_a_word(
    qtbot: QtBot, factor: float, word: str
) -> None:
    session = Session()
    session.set_model(Deep(factor))
    session.add_inputs([hv.open_input(torch.ones(1, 4))])
    settled(qtbot, session)
    panel = LayerPanel(session)
    qtbot.addWidget(panel)
    panel.resize(700, 200)
    panel.show()
    panel.quantity.buttons[depth.METRICS.index("grad")].click()
    places = getattr(panel.plot.flow, word)
    assert [panel.plot.layers[place] for place in places] == ["0"]
    assert [name.textItem.toPlainText() for name in panel.plot._flow_names] == [word]
    assert panel.plot._log
    session.close()


def test_the_gradients_of_parameters_are_recorded_from_the_next_run_on(
    qtbot: QtBot, session: Session, panel: LayerPanel
) -> None:
    panel.quantity.buttons[depth.METRICS.index("param_grad")].click()
    assert "press Run" in panel._empty.empty.sentence.text()
    session.run()
    settled(qtbot, session)
    one = panel.plot.series[0]
    model = session.model
    assert model is not None
    model.eval()
    model.zero_grad()
    model(session.inputs[0].input.args[0]).max().backward()
    modules = dict(model.named_modules())
    for place, value in zip(one.places, one.values, strict=True):
        own = modules[panel.plot.layers[place]].parameters(recurse=False)
        norm = math.sqrt(sum(float((parameter.grad.double() ** 2).sum()) for parameter in own))
        assert value == pytest.approx(norm, rel=1e-4)
    assert [panel.plot.layers[place] for place in one.places] == ["stem.0", "stem.1", "body.0", "head"]


def test_counts_of_nan_and_inf_stand_first_of_the_numbers(qtbot: QtBot) -> None:
    table = LayerTable()
    qtbot.addWidget(table)
    heads = table.horizontalHeader()
    shown = [
        table.model().headerData(heads.logicalIndex(place), Qt.Orientation.Horizontal) for place in range(5)
    ]
    assert shown == ["Layer", "Input", "NaN", "inf", "mean"]
