"""What a cell sees of the picture, and the large map: enlarged, with numbers, lines, and a region."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from gui_nets import settled
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.blending import contours, outlined
from hookviewer.gui.field_lane import index_of
from hookviewer.gui.inspector import Inspector, window
from hookviewer.gui.inspector.window import Window
from hookviewer.gui.numbers import number
from hookviewer.gui.reading import read_out
from hookviewer.gui.session import Session
from hookviewer.gui.status_bar import StatusBar
from hookviewer.gui.theme import set_theme
from hookviewer.gui.wall.cell_numbers import is_bright
from hookviewer.inputs import Input


class Net(nn.Module):
    """A convolution of stride 2, a second one, and one behind an operation that has no rule."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Conv2d(3, 4, 3, 2, 1), nn.Conv2d(4, 4, 3, 1, 1)
        self.third = nn.Conv2d(4, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.third(torch.roll(self.second(self.first(x)), 1, 3)).mean((2, 3))


def _input(seed: int) -> Input:
    values = torch.randn(1, 3, 32, 48, generator=torch.Generator().manual_seed(seed))
    return Input(f"picture{seed}", (values,), image=Image.new("RGB", (48, 32), (90, 140, 60)))


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    set_theme("dark")
    one = Session()
    one.set_model(Net())
    one.add_inputs([_input(0), _input(1)])
    one.tick(["first", "second", "third"], True)
    settled(qtbot, one)
    one.select(path="second", channel=1, cell=(4, 10), input=1)
    yield one
    one.close()


@pytest.fixture
def inspector(qtbot: QtBot, session: Session) -> Inspector:
    made = Inspector(session)
    qtbot.addWidget(made)
    made.resize(340, 900)
    made.show()
    qtbot.waitExposed(made)
    QApplication.processEvents()
    return made


def _known(qtbot: QtBot, inspector: Inspector) -> None:
    qtbot.waitUntil(lambda: inspector.seen is not None, timeout=30_000)


def test_the_receptive_field_is_computed_and_written_with_the_way_it_was_found(
    qtbot: QtBot, session: Session, inspector: Inspector
) -> None:
    _known(qtbot, inspector)
    seen = inspector.seen
    assert seen is not None
    assert seen.box == (5, 17, 12, 24)  # 7 × 7 around twice the cell
    assert inspector.input_place.text() == "input (8, 20)"
    assert inspector.field.versions[0] == "sees 7 × 7 px, computed"
    assert "strides" in inspector.field.toolTip()
    assert read_out(session)[0].endswith("input (8, 20)   sees 7 × 7 px, computed")


def test_the_status_bar_says_the_same_place_as_soon_as_it_is_known(
    qtbot: QtBot, session: Session, inspector: Inspector
) -> None:
    bar = StatusBar(session)
    qtbot.addWidget(bar)
    _known(qtbot, inspector)
    assert inspector.input_place.text() == "input (8, 20)"
    assert "input (8, 20)" in bar.pixel.versions[0]


def test_moving_over_cells_asks_the_model_nothing(
    qtbot: QtBot, session: Session, inspector: Inspector
) -> None:
    _known(qtbot, inspector)
    settled(qtbot, session)
    session.select(cell=(0, 0))
    assert inspector.input_place.text() == "input (0, 0)"
    assert inspector.seen is not None
    assert inspector.seen.box == (0, 0, 4, 4)
    session.select(path="first")
    assert inspector.field.versions[0] == "sees 3 × 3 px, computed"
    assert not session.runner.busy


def test_where_it_cannot_be_computed_it_is_measured_and_that_is_said(
    qtbot: QtBot, session: Session, inspector: Inspector
) -> None:
    session.select(path="third", cell=(4, 10))
    _known(qtbot, inspector)
    assert inspector.seen is not None
    assert inspector.seen.box == (5, 15, 12, 22)
    assert inspector.field.versions[0] == "sees 7 × 7 px, measured"
    assert "since Roll is on the way" in inspector.field.toolTip()


def test_the_rectangle_is_drawn_on_the_picture(qtbot: QtBot, session: Session, inspector: Inspector) -> None:
    _known(qtbot, inspector)
    session.set_look(over="input")
    big = inspector.big_map
    plain, drawn = big.image(), big.grab().toImage()
    area, seen = big._area(), inspector.seen
    assert seen is not None
    left = area.left() + area.width() * seen.box.left / 48
    middle = area.top() + area.height() * (seen.box.top + 1) / 32
    near = [drawn.pixelColor(round(left) + step, round(middle)) for step in (0, 1, 2)]
    assert max(colour.lightness() for colour in near) > 180
    assert QColor(*map(int, plain[round(middle), round(left) + 1][:3])).lightness() < 120


def test_another_model_forgets_what_was_known(qtbot: QtBot, session: Session, inspector: Inspector) -> None:
    _known(qtbot, inspector)
    session.set_model(Net())
    assert inspector.seen is None


def test_a_drag_with_shift_gives_the_numbers_of_a_region_for_all_inputs(
    qtbot: QtBot, session: Session, inspector: Inspector
) -> None:
    big = inspector.big_map
    area = big._area()

    def at(row: float, column: float) -> QPoint:
        return QPointF(
            area.left() + column / 24 * area.width(), area.top() + row / 16 * area.height()
        ).toPoint()

    before = session.selection.cell
    qtbot.mousePress(big, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, at(10.5, 12.5))
    qtbot.mouseMove(big, at(6.5, 5.5))
    qtbot.mouseRelease(big, Qt.MouseButton.LeftButton, pos=at(6.5, 5.5))
    assert session.selection.region == (6, 5, 11, 13)
    assert session.selection.cell == before
    assert inspector.region.isVisible()
    assert list(inspector.region.heads) == ["A", "B"]
    rows = {row[0]: row[1:] for row in inspector.region.rows}
    parts = [
        session.runs[item.number].recording.record("second", "output").array()[0, 1, 6:11, 5:13]
        for item in session.inputs
    ]
    assert rows["mean"] == tuple(number(float(part.mean(dtype=np.float64))) for part in parts)
    assert rows["max"] == tuple(number(float(part.max())) for part in parts)
    assert rows["count"] == ("40", "40")
    assert inspector.region.csv().startswith("statistic,A,B\nmean,")
    session.select(region=None)
    assert not inspector.region.isVisible()


def test_the_tool_lets_a_plain_drag_draw_a_region_and_another_layer_drops_it(
    qtbot: QtBot, session: Session, inspector: Inspector
) -> None:
    inspector.framing.click()
    big = inspector.big_map
    middle = big._area().center().toPoint()
    qtbot.mousePress(big, Qt.MouseButton.LeftButton, pos=middle)
    qtbot.mouseRelease(big, Qt.MouseButton.LeftButton, pos=middle)
    assert session.selection.region is not None
    session.select(path="first")
    assert session.selection.region is None


def _turn(big: object, point: QPointF, notches: int) -> None:
    QGuiApplication.sendEvent(
        big,
        QWheelEvent(
            point,
            point,
            QPoint(),
            QPoint(0, 120 * notches),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        ),
    )


def test_the_wheel_enlarges_at_the_pointer_until_cells_have_numbers(
    qtbot: QtBot, session: Session, inspector: Inspector
) -> None:
    session.set_look(scale="full")
    big = inspector.big_map
    point = big._area().center()
    spot = big._spot(point)
    before = big.image()
    for _ in range(12):
        _turn(big, point, 1)
    assert big.part.rows == window.FEWEST
    assert big._spot(point) == spot
    assert (big.image() != before).any()
    top, left = big.part.top, big.part.left
    values = session.runs[1].recording.record("second", "output").array()[0, 1]
    shown = values[top : top + big.part.rows, left : left + big.part.columns]
    assert big.focus is not None
    assert (big._values(big.focus) == shown).all()
    image, painted = big.image(), big.grab().toImage()
    area = big._area()
    box = (round(area.left() + area.width() / big.part.columns), round(area.top() + area.height() / 3))
    inked = sum(
        painted.pixelColor(x, y).getRgb()[:3] != tuple(image[y, x][:3])
        for x in range(round(area.left()) + 4, box[0] - 4)
        for y in range(round(area.top()) + 24, box[1] - 4)
    )
    assert inked > 20  # the first cell's number
    qtbot.mouseDClick(big, Qt.MouseButton.LeftButton, pos=point.toPoint())
    assert big.part == Window(0, 0, 16, 24)


def test_lines_of_one_value_are_drawn_where_asked_for(
    qtbot: QtBot, session: Session, inspector: Inspector
) -> None:
    before = inspector.big_map.image()
    inspector.contour.click()
    after = inspector.big_map.image()
    assert (after[..., :3] == 255).all(axis=2).sum() > (before[..., :3] == 255).all(axis=2).sum() + 50


def test_a_line_runs_between_values_on_both_sides_of_it() -> None:
    ramp = np.tile(np.linspace(0, 1, 9), (3, 1))  # 0.25, 0.5 and 0.75 are reached at 2, 4 and 6
    lines = contours(ramp, (0.0, 1.0))
    assert np.flatnonzero(lines[0]).tolist() == [1, 3, 5]
    assert not contours(np.zeros((3, 3)), (0.0, 1.0)).any()
    colours = outlined(np.full((3, 9, 3), 90, np.uint8), lines)
    assert (colours[:, 1] == 255).all()
    assert (colours[2, 2] == 30).all()


def test_a_window_never_leaves_the_map() -> None:
    sizes = (20, 30)
    one = window.whole(sizes)
    for _ in range(30):
        one = window.zoomed(one, sizes, 0.99, 0.0, window.STEP)
        assert one.top + one.rows == 20
        assert one.left == 0
    assert one.shape == (3, 4)
    assert window.moved(one, sizes, -100, 100) == Window(0, 26, 3, 4)
    assert window.showing(one, sizes, (2, 9)) == Window(2, 6, 3, 4)
    for _ in range(30):
        one = window.zoomed(one, sizes, 0.5, 0.5, 1 / window.STEP)
    assert one == window.whole(sizes)


def test_the_values_of_a_cell_are_found_in_every_layout() -> None:
    values = torch.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    expected = values[1, :, 2, 3]
    assert torch.equal(values[index_of((2, 3, 4, 5), (4, 5), (2, 3), 1)], expected)
    last = values.permute(0, 2, 3, 1)
    assert torch.equal(last[index_of((2, 4, 5, 3), (4, 5), (2, 3), 1)], expected)
    assert torch.equal(values[1][index_of((3, 4, 5), (4, 5), (2, 3), 0)], expected)
    tokens = torch.cat([torch.zeros(2, 1, 3, dtype=torch.long), last.flatten(1, 2)], 1)
    assert torch.equal(tokens[index_of((2, 21, 3), (4, 5), (2, 3), 1)], expected)
    assert index_of((2, 7), (1, 7), (0, 3), 0) is None


@pytest.mark.parametrize(("colour", "bright"), [("#ffffff", True), ("#000000", False), ("#b73779", False)])
def test_numbers_are_dark_on_bright_colours(colour: str, bright: bool) -> None:
    assert is_bright(QColor(colour)) is bright
