"""No record without a view: bars, numbers, tables, and what each says of a cell."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QSlider, QTableView
from pytestqt.qtbot import QtBot

from hookviewer import arrays
from hookviewer.gui.columns import Column
from hookviewer.gui.shown_maps import maps_of
from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import font, set_theme, theme
from hookviewer.gui.views import Sheet, View, best_view, views
from hookviewer.gui.views.table import ArrayModel
from hookviewer.gui.wall import extents
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record

AWKWARD = [
    (),
    (1,),
    (7,),
    (3, 5),
    (2, 3, 4),
    (1, 3, 4, 5),
    (1, 2, 3, 4, 5),
    (1, 2, 1, 2, 1, 2),
    (0,),
    (2, 0, 3),
    (1, 0, 4, 4),
    (1, 1, 1, 1),
    (1, 1, 1, 400),
    (4000,),
    (1, 200, 1, 1),
]
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool, torch.complex64]


def _record(values: torch.Tensor) -> Record:
    return Record(Key("m", Kind.OUTPUT), tuple(values.shape), values.dtype, kept=values.contiguous())


def _sheet(values: torch.Tensor, reading: str | None = None, **changes: object) -> Sheet:
    record = _record(values)
    maps = maps_of(record, 0, reading)
    column = Column("A", "one", 1, record, maps)
    good = maps.values.astype(np.float64) if maps.values.dtype.kind != "c" else np.abs(maps.values)
    levels = arrays.levels(good, "full")
    sheet = Sheet(column, np.arange(len(maps.values)), levels, "magma", (400, 300), maps)
    return dataclasses.replace(sheet, **changes)


@pytest.fixture
def canvas(qtbot: QtBot) -> Canvas:
    set_theme("dark")
    made = Canvas()
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.show()
    qtbot.waitExposed(made)
    return made


@pytest.mark.parametrize("shape", AWKWARD, ids=str)
def test_every_record_is_drawn_and_pointed_at_without_an_error(
    canvas: Canvas, shape: tuple[int, ...], caplog: pytest.LogCaptureFixture
) -> None:
    for dtype in DTYPES:
        sheet = _sheet((torch.randn(shape) * 3).to(dtype))
        marked = dataclasses.replace(
            sheet, selected=Pointed(0, (0, 0)), cell=True, pointed=Pointed(0, (0, 0))
        )
        canvas.show_sheet(marked)
        canvas.grab()
        assert canvas.image().shape == (300, 400, 4)
        for point in (QPointF(200, 100), QPointF(0, 0), QPointF(399, 299)):
            spot = canvas.view.spot(point)
            place = (spot.channel, *spot.cell) if spot is not None else (0, 0, 0)
            inside = zip(place, sheet.column.maps.values.shape, strict=True)
            assert spot is None or all(0 <= one < size for one, size in inside)
        canvas.view.zoomed(1.5, QPointF(100, 100))
        canvas.view.moved(5, 5)
    assert caplog.records == []


def test_nan_and_infinite_vectors_are_drawn(canvas: Canvas, caplog: pytest.LogCaptureFixture) -> None:
    values = torch.tensor([1.0, float("nan"), float("inf"), -2.0, float("-inf")])
    canvas.show_sheet(_sheet(values))
    canvas.grab()
    everything = torch.full((5,), float("nan"))
    canvas.show_sheet(_sheet(everything))
    canvas.grab()
    assert caplog.records == []


def test_views_are_found_and_each_layout_has_its_own() -> None:
    assert len(views()) == 10
    assert all(issubclass(view, View) for view in views())
    names = [best_view(_sheet(torch.zeros(shape))).__name__ for shape in [(1, 3, 4, 4), (1, 9), (), (0,)]]
    assert names == ["FeatureMaps", "Bars", "SingleNumber", "Table"]


def test_a_bar_reaches_from_zero_to_its_value(canvas: Canvas) -> None:
    values = torch.tensor([1.0, -0.5, 0.25, 0.0, 1.0])
    canvas.show_sheet(_sheet(values))
    view, image = canvas.view, canvas.image()
    plot, ink = view.plot, theme().input(1).getRgb()[:3]
    zero = plot.top() + 1.0 / 1.5 * (plot.height() - 1)
    for place, value in enumerate(values.tolist()):
        x = int(plot.left() + (place + 0.5) * plot.width() / 5)
        painted = np.flatnonzero((image[:, x, :3] == ink).all(axis=1))
        painted = painted[(painted >= plot.top()) & (painted <= plot.bottom())]
        y = plot.top() + (1.0 - value) / 1.5 * (plot.height() - 1)
        assert painted.min() == pytest.approx(min(y, zero), abs=1.5)
        assert painted.max() == pytest.approx(max(y, zero), abs=1.5)


def test_bars_narrower_than_a_pixel_never_lose_a_peak() -> None:
    values = np.random.default_rng(0).normal(size=5000)
    first, last = extents.covered(5000, 371, 0, 371 / 5000)
    low, high = extents.extents(values, first, last)
    assert first[0] == 0
    assert last[-1] == 5000
    assert (first[1:] <= last[:-1]).all()
    assert (low.min(), high.max()) == (values.min(), values.max())
    for pixel in (0, 17, 370):
        bars = values[int(pixel * 5000 / 371) : int(np.ceil((pixel + 1) * 5000 / 371))]
        assert (low[pixel], high[pixel]) == (bars.min(), bars.max())


def test_the_bar_under_the_pointer_is_the_one_that_is_painted_there(canvas: Canvas) -> None:
    canvas.show_sheet(_sheet(torch.arange(1.0, 11.0)))
    plot = canvas.view.plot
    for index in range(10):
        point = QPointF(plot.left() + (index + 0.5) * plot.width() / 10, plot.center().y())
        assert canvas.view.spot(point) == Pointed(0, (0, index))


def test_sorted_bars_stand_from_the_largest_to_the_least(canvas: Canvas) -> None:
    values = torch.tensor([0.3, 2.0, -1.0, 0.9])
    canvas.show_sheet(_sheet(values, sort="max"))
    plot = canvas.view.plot
    places = [
        QPointF(plot.left() + (place + 0.5) * plot.width() / 4, plot.center().y()) for place in range(4)
    ]
    assert [canvas.view.spot(point).cell[1] for point in places] == [1, 3, 0, 2]
    assert canvas.view.stepped(Pointed(0, (0, 1)), 1, 0) == Pointed(0, (0, 3))


def test_a_number_is_written_large(canvas: Canvas) -> None:
    canvas.show_sheet(_sheet(torch.tensor(3.25)))
    ink = theme()["text"].getRgb()[:3]
    assert (canvas.image()[..., :3] == ink).all(axis=2).sum() > 20


def test_a_table_writes_every_value_of_the_plane_that_its_sliders_choose(
    canvas: Canvas, qtbot: QtBot
) -> None:
    values = torch.arange(2 * 3 * 4 * 5 * 6 * 7).reshape(2, 3, 4, 5, 6, 7)
    canvas.show_sheet(_sheet(values, "table"))
    table = canvas.findChild(QTableView)
    sliders = canvas.findChildren(QSlider)
    assert len(sliders) == 4
    for slider, place in zip(sliders, (1, 2, 3, 4), strict=True):
        slider.setValue(place)
    model = table.model()
    assert (model.rowCount(), model.columnCount()) == (6, 7)
    assert model.index(5, 6).data() == str(int(values[1, 2, 3, 4, 5, 6]))
    told: list[Pointed] = []
    canvas.chosen.connect(told.append)
    table.clicked.emit(model.index(5, 6))
    flat = sheet_value(values, told[0])
    assert flat == int(values[1, 2, 3, 4, 5, 6])


def sheet_value(values: torch.Tensor, spot: Pointed) -> int:
    """The value that a place in the table's maps [1, rows, columns] stands for."""
    return int(
        arrays.as_maps(values.numpy(), reading="table").values[spot.channel, spot.cell[0], spot.cell[1]]
    )


def test_the_table_model_keeps_qts_rules(qtbot: QtBot) -> None:
    model = ArrayModel(np.arange(12.0).reshape(3, 4))
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    model.show_values(np.array([[True, False]]))
    assert model.index(0, 1).data() == "False"
    assert model.headerData(1, Qt.Orientation.Horizontal) == "1"
    model.show_values(np.array([[1 - 2j]]))
    assert model.index(0, 0).data() == "1.000 − 2.000i"
    assert tester.model() is model


def test_an_empty_tensor_and_a_missing_one_say_so(canvas: Canvas, caplog: pytest.LogCaptureFixture) -> None:
    canvas.show_sheet(_sheet(torch.zeros(0, 3)))
    ink = theme()["text_3"].getRgb()[:3]
    assert (canvas.image()[..., :3] == ink).all(axis=2).sum() > 20
    canvas.show_nothing(Column("A", "one", 1, reason="It was not asked for."))
    assert canvas.record is None
    assert (canvas.image()[..., :3] == ink).all(axis=2).sum() > 20
    assert caplog.records == []


def test_another_shape_takes_another_view_and_the_old_one_leaves_nothing(
    canvas: Canvas, qtbot: QtBot
) -> None:
    for values in (
        torch.zeros(0),
        torch.randn(1, 2, 3, 3),
        torch.randn(4),
        torch.zeros(0, 2),
        torch.tensor(1.0),
    ):
        canvas.show_sheet(_sheet(values))
        canvas.grab()
    assert canvas.children() == []


def test_waiting_tiles_are_plain_and_say_what_they_wait_for(canvas: Canvas) -> None:
    sheet = _sheet(torch.randn(1, 4, 8, 8))
    waiting = Column("B", "two", 2, reason="Running …", waiting=True)
    canvas.show_sheet(dataclasses.replace(sheet, column=waiting))
    image = canvas.image()
    tile = canvas.tile_rect(0)
    assert QColor(*map(int, image[tile.top() + 2, tile.left() + 2, :3])) == theme()["control"]
    assert canvas.view.spot(QPointF(tile.center())) is None


def test_an_error_while_painting_is_logged_once_and_kills_nothing(
    canvas: Canvas, caplog: pytest.LogCaptureFixture
) -> None:
    sheet = _sheet(torch.randn(1, 4, 8, 8))
    canvas.show_sheet(sheet)
    canvas.view.sheet = dataclasses.replace(sheet, colormap="no such map")
    for _ in range(3):
        canvas.grab()
    assert len(caplog.records) == 1
    assert canvas.rect().contains(QPoint(1, 1))


def test_the_lowest_number_of_an_axis_is_painted_with_its_minus(canvas: Canvas) -> None:
    canvas.show_sheet(_sheet(torch.tensor([[-0.07579, 0.05]])))
    plot = canvas.view.plot
    bottom = int(plot.bottom())
    strip = canvas.image()[bottom - 6 : bottom + 6, : int(plot.left()) - 4, :3].astype(int)
    inked = np.flatnonzero((abs(strip - strip[0, 0]) > 40).any(axis=(0, 2)))
    digit = QFontMetricsF(font("mono", 10)).horizontalAdvance("0")
    assert inked[-1] - inked[0] > 7.3 * digit  # eight signs, each as wide as a digit
    assert inked[0] > 0
