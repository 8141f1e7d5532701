"""The inspector shows the selected channel: its pixels, its numbers, its levels, and what is like it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from hookviewer.gui.blending import blocky, mixed, strength
from hookviewer.gui.inspector import Inspector
from hookviewer.gui.inspector.big_map import BigMap
from hookviewer.gui.inspector.level_plot import tick_words, ticks
from hookviewer.gui.inspector.profile import limits
from hookviewer.gui.numbers import number
from hookviewer.gui.session import Session
from hookviewer.gui.state import Run, Settings, Shown
from hookviewer.gui.theme import set_theme
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record, Recording
from hookviewer.render import to_rgba

Made = Callable[..., tuple[Session, Inspector]]


def _record(values: torch.Tensor, kind: Kind) -> Record:
    return Record(Key("conv", kind), tuple(values.shape), values.dtype, kept=values.contiguous())


def _values(seed: int = 1) -> torch.Tensor:
    return torch.randn(1, 5, 6, 8, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[Made]:
    """Make an inspector of a session that holds hand-made runs."""
    sessions: list[Session] = []

    def made(*outputs: torch.Tensor, picture: bool = True) -> tuple[Session, Inspector]:
        set_theme("dark")
        session = Session()
        sessions.append(session)
        session.auto = False
        photograph = Image.new("RGB", (80, 60), (200, 100, 50)) if picture else None
        session.add_inputs(
            [Input(f"input{place}", (torch.zeros(1),), image=photograph) for place, _ in enumerate(outputs)]
        )
        runs = {}
        for item, output in zip(session.inputs, outputs, strict=True):
            records = [_record(output, Kind.OUTPUT), _record(output * 2, Kind.GRAD_OUTPUT)]
            runs[item.number] = Run(Recording({one.key: one for one in records}), Settings())
        session.set_runs(runs)
        session.select(path="conv", input=1)
        inspector = Inspector(session)
        qtbot.addWidget(inspector)
        inspector.resize(340, 900)
        inspector.show()
        qtbot.waitExposed(inspector)
        QApplication.processEvents()
        inspector.refresh_slow()
        return session, inspector

    yield made
    for session in sessions:
        session.close()


def _big(inspector: Inspector) -> BigMap:
    found = inspector.findChild(QWidget, "big_map")
    assert isinstance(found, BigMap)
    return found


def _map_part(big: BigMap) -> np.ndarray:
    box = big.box
    return big.image()[box.top : box.bottom, box.left : box.right]


def test_the_big_map_is_the_selected_channel_cell_by_cell(make: Made) -> None:
    values = _values()
    session, inspector = make(values)
    session.set_look(scale="full")
    session.select(channel=3)
    part = _map_part(_big(inspector))
    height, width = part.shape[:2]
    rows = [int((y + 0.5) / height * 6) for y in range(height)]
    columns = [int((x + 0.5) / width * 8) for x in range(width)]
    levels = (float(values.min()), float(values.max()))
    expected = to_rgba(values[0, 3].numpy(), levels, "magma")[np.ix_(rows, columns)]
    assert (part == expected).all()


def test_the_value_the_cell_and_its_place_in_the_input_are_written(make: Made) -> None:
    values = _values()
    session, inspector = make(values)
    session.select(channel=2, cell=(4, 7))
    assert inspector.value.text() == number(float(values[0, 2, 4, 7]))
    assert inspector.place.text() == "y 4  x 7"
    assert inspector.input_place.text() == "input ≈ (45, 75)"


def test_a_click_on_the_big_map_chooses_the_cell_under_it(make: Made, qtbot: QtBot) -> None:
    session, inspector = make(_values())
    big = _big(inspector)
    box = big.box
    point = QPoint(box.left + int(2.5 / 8 * box.size[0]), box.top + int(1.5 / 6 * box.size[1]))
    qtbot.mouseClick(big, Qt.MouseButton.LeftButton, pos=point)
    assert session.selection.cell == (1, 2)
    assert session.pointed is not None
    assert session.pointed.cell == (1, 2)


def test_statistics_are_those_of_the_channel_and_of_the_layer(make: Made) -> None:
    values = _values()
    values[0, 1, 0, :3] = 0
    session, inspector = make(values)
    session.select(channel=1)
    inspector.refresh_slow()
    rows = {name: (own, layer) for name, own, layer in inspector.statistics.rows}
    own, layer = values[0, 1].numpy(), values.numpy()
    written = {
        "mean": (own.mean(), layer.mean()),
        "std": (own.std(), layer.std()),
        "min": (own.min(), layer.min()),
        "max": (own.max(), layer.max()),
        "|grad|": (np.linalg.norm(2 * own), np.linalg.norm(2 * layer)),
    }
    for name, numbers in written.items():
        assert [float(text.replace("−", "-")) for text in rows[name]] == pytest.approx(numbers, abs=6e-4)
    assert rows["zeros"] == ("6.2 %", "1.2 %")
    assert rows["NaN, inf"] == ("0", "0")
    assert inspector.statistics.csv().startswith("statistic,channel,layer\nmean,")


def test_the_most_similar_channels_are_those_of_the_highest_correlation(make: Made, qtbot: QtBot) -> None:
    values = _values()
    values[0, 4] = values[0, 1] * 3 + 1
    session, inspector = make(values)
    session.select(channel=1)
    inspector.refresh_slow()
    matrix = np.corrcoef(values[0].reshape(5, -1).numpy())
    expected = [int(one) for one in np.argsort(-matrix[1]) if one != 1]
    assert inspector.similar.channels == expected
    assert expected[0] == 4
    qtbot.mouseClick(
        inspector.similar, Qt.MouseButton.LeftButton, pos=inspector.similar.rect_of(0).center().toPoint()
    )
    assert session.selection.channel == 4


def test_dragging_a_handle_sets_the_levels_and_a_double_click_gives_them_back(
    make: Made, qtbot: QtBot
) -> None:
    session, inspector = make(_values())
    session.set_look(scale="full")
    plot = inspector.levels
    high = inspector.focus.levels[1]
    start = QPoint(round(plot.x_of(high)), 20)
    aim = QPoint(start.x() - 60, 20)
    value = plot.value_at(aim.x())
    qtbot.mousePress(plot, Qt.MouseButton.LeftButton, pos=start)
    from PySide6.QtCore import QEvent, QPointF
    from PySide6.QtGui import QMouseEvent

    moved = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(aim),
        QPointF(plot.mapToGlobal(aim)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(plot, moved)
    qtbot.mouseRelease(plot, Qt.MouseButton.LeftButton, pos=aim)
    assert session.look.levels == pytest.approx((inspector.focus.levels[0], value))
    qtbot.mouseDClick(plot, Qt.MouseButton.LeftButton, pos=aim)
    assert session.look.levels is None


def test_the_overlay_shows_the_photograph_where_the_map_is_weak() -> None:
    colours = np.full((2, 2, 3), 250, np.uint8)
    under = np.full((2, 2), 100, np.uint8)
    share = np.array([[0.0, 1.0], [0.5, 1.0]])
    picture = mixed(colours, under, share, 0.5).astype(float)
    ground = 100 * (0.8 - 0.15)
    for place, cover in (((0, 0), 0.05), ((0, 1), 0.5), ((1, 0), 0.275)):
        assert picture[place] == pytest.approx(250 * cover + ground * (1 - cover), abs=0.6)


def test_strength_counts_from_zero_where_zero_is_in_the_middle() -> None:
    values = np.array([[-2.0, 0.0], [1.0, np.nan]], np.float32)
    assert strength(blocky(values, 2, 2), (-2.0, 2.0)).tolist() == [[1.0, 0.0], [0.5, 1.0]]
    assert strength(values, (0.0, 2.0)).tolist() == [[0.0, 0.0], [0.5, 1.0]]


def test_grad_cam_is_looked_at_over_the_picture_until_the_user_chooses(make: Made) -> None:
    session, inspector = make(_values())
    assert inspector.mode.index == 0
    session.select(shown=Shown.GRAD_CAM)
    assert inspector.mode.index == 1
    inspector.mode.buttons[2].click()
    part = _map_part(_big(inspector))
    assert (part[..., :3] == (200, 100, 50)).all()
    session.select(shown=Shown.OUTPUT)
    assert inspector.mode.index == 2


def test_the_selected_input_is_the_one_in_focus(make: Made) -> None:
    first, second = _values(1), _values(2)
    session, inspector = make(first, second)
    session.select(channel=2, cell=(0, 0))
    assert inspector.value.text() == number(float(first[0, 2, 0, 0]))
    session.select(input=2)
    assert inspector.value.text() == number(float(second[0, 2, 0, 0]))


def test_a_channel_that_the_layer_lacks_is_not_looked_for(make: Made) -> None:
    session, inspector = make(_values())
    session.select(channel=400, cell=(90, 90))
    assert inspector.focus.channel == 4
    assert inspector.focus.cell == (5, 7)


def test_an_empty_inspector_says_why(make: Made) -> None:
    session, inspector = make(_values())
    session.tick_input(1, False)
    QApplication.processEvents()
    assert inspector.focus is None
    assert inspector.reason.text() == "Open a model to look inside."
    session.model = torch.nn.Identity()
    inspector.refresh()
    assert inspector.reason.text() == "Tick an input, and its maps can be looked at here."


@pytest.mark.parametrize(
    "values",
    [
        torch.zeros(1, 2, 4, 4),
        torch.full((1, 2, 4, 4), float("nan")),
        torch.randn(9),
        torch.tensor(2.0),
        torch.randn(1, 1, 1, 1),
        torch.randn(2, 3, 4, 5, 6).to(torch.complex64),
        torch.tensor([[True, False]]),
        torch.zeros(0, 4),
    ],
    ids=lambda values: f"{tuple(values.shape)} {values.dtype}",
)
def test_any_record_can_be_inspected(
    make: Made, values: torch.Tensor, caplog: pytest.LogCaptureFixture
) -> None:
    session, inspector = make(values)
    for shown in Shown:
        session.select(shown=shown)
        inspector.refresh_slow()
        inspector.grab()
    assert caplog.records == []


def test_sections_fold_away(make: Made) -> None:
    _, inspector = make(_values())
    section = inspector._levels
    assert section.body.isVisible()
    section.arrow.click()
    assert not section.body.isVisible()
    assert not section.is_open


def test_ticks_are_round_and_have_zero_among_them() -> None:
    assert ticks(-0.03, 0.03) == pytest.approx([-0.03, -0.02, -0.01, 0, 0.01, 0.02, 0.03], abs=1e-9)
    assert [tick_words(value) for value in (0.5, -1.0, 1e-5, 1500.0)] == ["0.5", "−1", "1e−5", "1.5e3"]


def test_the_profile_has_zero_and_all_finite_values_in_its_range() -> None:
    assert limits(np.array([1.0, np.nan]), np.array([3.0])) == (0.0, 3.0)
    assert limits(np.array([np.nan]), np.array([np.inf])) == (0.0, 1.0)


def test_the_segments_and_the_look_say_how_the_map_lies_on_the_picture(make: Made) -> None:
    session, inspector = make(_values())
    inspector.mode.buttons[1].click()
    assert session.look.over == "overlay"
    session.set_look(over="input")
    assert inspector.mode.index == 2
    session.set_look(over="auto")
    session.select(shown=Shown.GRAD_CAM)
    assert inspector.mode.index == 1


def test_levels_are_set_by_keys_once_they_have_the_focus(make: Made, qtbot: QtBot) -> None:
    session, inspector = make(_values())
    session.set_look(scale="full")
    inspector._levels.arrow.setChecked(True)
    session.ask_levels()
    assert inspector._levels.is_open
    plot = inspector.levels
    low, high = inspector.focus.levels
    step = (plot.value_at(plot.width()) - plot.value_at(0)) / 200
    qtbot.keyClick(plot, Qt.Key.Key_Left)
    assert session.look.levels == pytest.approx((low, high - step))
    qtbot.keyClick(plot, Qt.Key.Key_Down)
    qtbot.keyClick(plot, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert session.look.levels[0] > low + 5 * step
    qtbot.keyClick(plot, Qt.Key.Key_Delete)
    assert session.look.levels is None


def test_a_hidden_inspector_says_where_the_levels_are(make: Made) -> None:
    session, inspector = make(_values())
    told = []
    session.message_told.connect(told.append)
    inspector.hide()
    session.ask_levels()
    assert [message.what for message in told] == ["The levels are in the inspector."]


def _lines(inspector: Inspector) -> list[list[str]]:
    return [line.split(",") for line in inspector.statistics.csv().splitlines()]


def test_another_input_is_never_shown_in_place_of_the_selected_one(make: Made) -> None:
    session, inspector = make(_values(1), _values(2))
    session.model = torch.nn.Identity()
    first = session.inputs[0].number
    dropped = {number: run for number, run in session.runs.items() if number != first}
    session.set_runs(dropped)  # as while it is run again with other settings
    QApplication.processEvents()
    inspector.refresh_slow()
    assert inspector.focus is None
    assert not _big(inspector).isVisible()
    assert not inspector.statistics.isVisible()
    assert inspector.reason.isVisible()
    assert "not run yet" in inspector.reason.text().lower()
    session.select(input=session.inputs[1].number)
    assert inspector.focus is not None
    assert inspector.focus.column.number == session.inputs[1].number


def test_numbers_of_one_input_never_stand_beside_the_map_of_another(make: Made) -> None:
    one, other = _values(1), _values(2)
    session, inspector = make(one, other)
    before = {text for line in _lines(inspector)[1:] for text in line[1:]}
    assert number(float(one[0, 0].mean())) in before
    session.select(input=session.inputs[1].number)
    now = {text for line in _lines(inspector)[1:] for text in line[1:]}
    assert number(float(one[0, 0].mean())) not in now
    assert inspector.similar.channels == []
    inspector.refresh_slow()
    then = {text for line in _lines(inspector)[1:] for text in line[1:]}
    assert number(float(other[0, 0].mean())) in then
    assert inspector.similar.channels
