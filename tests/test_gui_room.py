"""How large the window and its panels are: on small screens, after being small, as a person dragged them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import QEvent, QObject, QPointF, QRect, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from hookviewer.gui import settings
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.panel_sizes import first_size, usual, wanted
from hookviewer.gui.theme import set_theme


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    set_theme("dark")
    made = MainWindow()
    qtbot.addWidget(made)
    made.opening.expect([picture(0)])
    made.session.set_model(Tiny())
    made.resize(1280, 800)
    made.show()
    settled(qtbot, made.session)
    yield made
    made.close()


def sizes(window: MainWindow) -> dict[str, int]:
    panels = window.docks.panels
    return {
        "modules": panels["modules"].width(),
        "inspector": panels["inspector"].width(),
        "layers": panels["layers"].height(),
    }


def test_the_first_window_fits_its_screen() -> None:
    assert first_size(QRect(0, 0, 1920, 1200)).toTuple() == (1440, 900)
    assert first_size(QRect(0, 27, 1280, 773)).toTuple() == (1280, 741)
    assert first_size(QRect(0, 0, 800, 600)).toTuple() == (900, 568)


def test_panels_grow_back_when_the_window_does(qtbot: QtBot, window: MainWindow) -> None:
    before = sizes(window)
    assert before["modules"] == 300
    window.resize(900, 560)
    qtbot.wait(30)
    assert sizes(window)["modules"] < 240
    window.resize(1280, 800)
    qtbot.wait(30)
    assert sizes(window) == before


def test_a_layout_of_a_large_screen_fits_a_small_one(qtbot: QtBot, window: MainWindow) -> None:
    window.resize(1920, 1200)
    qtbot.wait(30)
    assert sizes(window)["modules"] == 420
    window.close()
    again = MainWindow()
    qtbot.addWidget(again)
    again.resize(1280, 800)
    again.session.set_model(Tiny())
    again.show()
    qtbot.wait(50)
    assert sizes(again)["modules"] == 300
    assert sizes(again)["inspector"] == 284
    again.close()


def _press(window: MainWindow, kind: QMouseEvent.Type) -> None:
    left, point = Qt.MouseButton.LeftButton, QPointF(5, 5)
    event = QMouseEvent(kind, point, point, left, left, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window, event)


def test_what_a_person_dragged_stays(qtbot: QtBot, window: MainWindow) -> None:
    _press(window, QMouseEvent.Type.MouseButtonPress)
    window.resizeDocks([window.docks.panels["modules"]], [350], Qt.Orientation.Horizontal)
    qtbot.wait(20)
    _press(window, QMouseEvent.Type.MouseButtonRelease)
    window.resize(1300, 780)
    qtbot.wait(30)
    assert sizes(window)["modules"] == 350
    assert settings.dragged() == {}
    window.close()
    assert settings.dragged()["modules"] == 350


def test_dragged_panels_leave_room_for_the_wall() -> None:
    assert wanted(1920, 1200, {"modules": 600})["modules"] == 600
    assert wanted(1000, 700, {"modules": 600})["modules"] == usual(1000, 700)["modules"]
    assert wanted(1280, 800, {"layers": 700})["layers"] == 400


class Laid(QObject):
    """Counts how often a window is asked to lay itself out anew."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.count = 0
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def test_words_that_change_do_not_lay_out_the_whole_window(qtbot: QtBot, window: MainWindow) -> None:
    window.session.tick([node.path for node in window.session.tree.walk()], True)
    settled(qtbot, window.session)
    paths = [node.path for node in window.session.tree.walk()]
    for path in paths * 2:  # the first round makes what is shown later again
        window.session.select(path=path)
        qtbot.wait(20)
    laid = Laid(window)
    for path in paths:
        window.session.select(path=path)
        qtbot.wait(20)
    assert laid.count == 0
    window.docks.panels["layers"].hide()
    qtbot.waitUntil(lambda: laid.count > 0, timeout=1000)  # and that is what is counted
