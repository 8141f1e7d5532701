"""What is under the pointer: hovering follows what is drawn there, and its marks stay in their tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui.inspector import Inspector
from hookviewer.gui.session import Session
from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import set_theme
from hookviewer.gui.wall import WallPanel
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.inputs import Input
from hookviewer.kinds import Kind

Make = Callable[..., tuple[Session, WallPanel]]


class Net(nn.Module):
    """Twelve maps, a layer with four maps of half the size, and six of that size."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Conv2d(1, 12, 3, padding=1)
        self.small = nn.Conv2d(12, 4, 3, stride=2, padding=1)
        self.last = nn.Conv2d(4, 6, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.small(self.wide(x))).mean((2, 3))


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[Make]:
    """Make a wall of a session with so many inputs that have run; `wide` is selected."""
    sessions: list[Session] = []

    def made(inputs: int = 1) -> tuple[Session, WallPanel]:
        set_theme("dark")
        session = Session()
        sessions.append(session)
        session.auto = False
        session.set_model(Net())
        session.add_inputs([Input(f"input{one}", (torch.randn(1, 1, 16, 24),)) for one in range(inputs)])
        session.tick(("wide", "small", "last"), True)
        session.select(path="wide", input=session.inputs[0].number)
        with qtbot.waitSignal(session.run_finished):
            session.run()
        panel = WallPanel(session)
        qtbot.addWidget(panel)
        panel.resize(900, 560)
        panel.show()
        qtbot.waitExposed(panel)
        QApplication.processEvents()
        return session, panel

    yield made
    for session in sessions:
        session.close()


def _canvas(panel: WallPanel, place: int = 0) -> Canvas:
    found = panel.findChild(QWidget, f"wall_{place}")
    assert isinstance(found, Canvas)
    return found


def _hover(widget: QWidget, point: QPoint) -> None:
    move = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(point),
        QPointF(widget.mapToGlobal(point)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(widget, move)


def _painted(canvas: Canvas) -> np.ndarray:
    """The canvas with its marks, RGB int [height, width, 3]."""
    image = QImage(canvas.size(), QImage.Format.Format_RGB888)
    image.fill(QColor("black"))
    painter = QPainter(image)
    canvas.render(painter, QPoint(0, 0))
    painter.end()
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width() * 3].reshape(image.height(), image.width(), 3).astype(int).copy()


def _under(canvas: Canvas, point: QPoint) -> Pointed | None:
    """The cell at a point, found by the tiles' rectangles instead of the grid's arithmetic."""
    values = canvas.record.array()[0]
    for channel, cells in enumerate(values):
        rect = canvas.tile_rect(channel)
        if rect.contains(point):
            row = (point.y() - rect.top()) * cells.shape[0] // rect.height()
            column = (point.x() - rect.left()) * cells.shape[1] // rect.width()
            return Pointed(channel, (row, column))
    return None


@pytest.mark.parametrize("change", ["layer", "sort", "difference", "size", "zoom", "untick"])
def test_hovering_follows_what_is_drawn_under_the_pointer(make: Make, change: str) -> None:
    session, panel = make(2)
    canvas = _canvas(panel)
    point = canvas.tile_rect(10).center()
    _hover(canvas, point)
    assert session.pointed == _under(canvas, point)
    {
        "layer": lambda: session.select(path="small"),
        "sort": lambda: session.set_look(sort="mean"),
        "difference": lambda: session.set_look(difference=True),
        "size": lambda: panel.resize(700, 420),
        "zoom": lambda: panel.zoom(3.0),
        "untick": lambda: session.tick_input(session.inputs[1].number, False),
    }[change]()
    QApplication.processEvents()
    expected = canvas.view.spot(QPointF(point)) if change == "zoom" else _under(canvas, point)
    assert session.pointed == expected
    assert panel.lanes.columns[0].canvas.view.sheet.pointed == expected


def test_hovering_ends_with_the_column_that_the_pointer_was_over(make: Make) -> None:
    session, panel = make(2)
    canvas = _canvas(panel, 1)
    _hover(canvas, canvas.tile_rect(3).center())
    assert session.pointed is not None
    session.tick_input(session.inputs[1].number, False)
    assert session.pointed is None


def test_no_mark_of_a_cell_that_a_map_does_not_have_is_painted(make: Make) -> None:
    session, panel = make(1)
    session.select(path="small", channel=3)
    canvas = _canvas(panel)
    before = _painted(canvas)
    session.point(Pointed(1, (15, 23)))  # a cell of a larger map
    rect = canvas.tile_rect(1)
    changed = np.argwhere((_painted(canvas) != before).any(axis=2))
    assert len(changed)  # the tile's outline and chip
    inside = [rect.contains(QPoint(int(x), int(y))) for y, x in changed]
    assert all(inside)


def test_hovering_the_big_map_follows_the_layer(make: Make, qtbot: QtBot) -> None:
    session, _ = make(1)
    inspector = Inspector(session)
    qtbot.addWidget(inspector)
    inspector.resize(300, 800)
    inspector.show()
    qtbot.waitExposed(inspector)
    big = inspector.big_map
    _hover(big, QPoint(big.width() - 3, big.height() - 3))
    assert session.pointed == Pointed(0, (15, 23))
    session.select(path="small", channel=2)
    assert session.pointed == Pointed(2, (7, 11))


@pytest.mark.parametrize("cell", [None, (2, 20)])
def test_without_the_pointer_the_keys_zoom_around_what_is_selected(
    make: Make, qtbot: QtBot, cell: tuple[int, int] | None
) -> None:
    session, panel = make(1)
    session.select(channel=11, cell=cell)
    canvas = _canvas(panel)

    def place() -> QPointF:
        rect = canvas.tile_rect(11)
        row, column = (0.5, 0.5) if cell is None else ((cell[0] + 0.5) / 16, (cell[1] + 0.5) / 24)
        return QPointF(rect.left() + column * rect.width(), rect.top() + row * rect.height())

    before = place()
    width = canvas.tile_rect(11).width()
    for _ in range(6):
        qtbot.keyClicks(canvas, "+")
    assert canvas.tile_rect(11).width() > 2 * width
    assert canvas.rect().contains(place().toPoint())
    assert (place() - before).manhattanLength() < canvas.width() / 4  # it is held where the wall ends
    for _ in range(3):
        qtbot.keyClicks(canvas, "-")
    assert canvas.rect().contains(place().toPoint())


def test_a_selected_channel_out_of_view_comes_into_it_with_a_zoom(make: Make) -> None:
    session, panel = make(1)
    panel.zoom(5)
    session.select(channel=11)
    canvas = _canvas(panel)
    assert not canvas.rect().intersects(canvas.tile_rect(11))
    panel.zoom(1.2)
    assert canvas.rect().intersects(canvas.tile_rect(11))


def test_with_the_pointer_the_keys_zoom_around_it(make: Make) -> None:
    session, panel = make(1)
    session.select(channel=0)
    canvas = _canvas(panel)
    point = canvas.tile_rect(5).center()
    _hover(canvas, point)
    spot = session.pointed
    panel.zoom(4)
    assert canvas.view.spot(QPointF(point)) == spot


def test_a_step_to_another_layer_keeps_the_channel_and_the_relative_cell(make: Make) -> None:
    session, panel = make(1)
    session.select(channel=3, cell=(14, 5))
    panel.step_layer(1)
    assert (session.selection.path, session.selection.channel) == ("small", 3)
    assert session.selection.cell == (7, 2)  # of 8 × 12 cells instead of 16 × 24
    session.select(path="wide", channel=9)
    session.select(path="small")
    assert session.selection.channel == 0  # it has four
    session.select(path="")  # a vector has neither
    assert (session.selection.channel, session.selection.cell) == (0, None)


def test_the_channel_stays_on_the_way_to_a_layer_whose_values_were_not_kept(make: Make, qtbot: QtBot) -> None:
    session, _ = make(1)
    session.tick(("small",), False)
    session.select(channel=2, cell=(15, 23))
    with qtbot.waitSignal(session.run_finished):
        session.run()
    assert session.runs[1].recording.record("small", Kind.OUTPUT).kept is None
    session.select(path="small")
    assert (session.selection.channel, session.selection.cell) == (2, (7, 11))
