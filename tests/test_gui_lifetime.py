"""What is left of a closed window: nothing that keeps its widgets or its model."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator

import pytest
from gui_nets import Tiny, picture, settled
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

import hookviewer
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.messages import Catcher
from hookviewer.gui.theme import keeper, set_theme


@pytest.fixture(autouse=True)
def without_leftovers(qtbot: QtBot) -> Iterator[None]:
    gc.collect()
    yield
    set_theme("dark")


def shown_and_closed(qtbot: QtBot) -> tuple[list[weakref.ref[object]], int]:
    """Show a net and close the window; return references to what should be gone, and the widgets left."""
    model = Tiny()
    window = hookviewer.view(model, [picture(0), picture(1)], block=False)
    settled(qtbot, window.session)
    window.commands.show_keys()
    window.session.select(path="body.0")
    settled(qtbot, window.session)
    window.docks.modules.filter.setText("conv")
    gone = [weakref.ref(one) for one in (model, window, window.session, window.wall, window.docks)]
    window.close()
    del window, model
    qtbot.wait(20)
    gc.collect()
    return gone, len(QApplication.allWidgets())


def test_closed_windows_free_their_models_and_widgets(qtbot: QtBot) -> None:
    found = [shown_and_closed(qtbot) for _ in range(3)]
    assert [one() for gone, _ in found for one in gone] == [None] * 15
    assert len({count for _, count in found}) == 1


def test_a_window_that_is_held_may_be_closed_twice_and_keeps_its_runs(qtbot: QtBot) -> None:
    window = hookviewer.view(Tiny(), [picture(0)], block=False)
    settled(qtbot, window.session)
    window.close()
    qtbot.wait(20)
    assert window.session.runs[1].recording.record("stem.0", "output").shape == (1, 6, 8, 8)
    assert not window.isVisible()
    window.close()
    window.deleteLater()


def test_windows_closed_in_the_order_of_opening_give_the_hooks_back(qtbot: QtBot) -> None:
    before = sys.excepthook
    catchers = [Catcher(lambda message: None) for _ in range(2)]
    for catcher in catchers:
        catcher.install()
    for catcher in catchers:
        catcher.remove()
    assert sys.excepthook is before


def test_only_another_theme_polishes_widgets_again(qtbot: QtBot) -> None:
    class Counting(QLabel):
        times = 0

        def changeEvent(self, event: object) -> None:
            self.times += 1

    set_theme("dark")
    told = []
    keeper().changed.connect(lambda: told.append(keeper().theme.name))
    witness = Counting("x")
    qtbot.addWidget(witness)
    witness.show()
    witness.times = 0
    set_theme("dark")
    assert (witness.times, told) == (0, [])
    set_theme("light")
    assert witness.times > 0
    assert told == ["light"]


def test_the_last_reference_frees_a_closed_window_without_the_collector(qtbot: QtBot) -> None:
    window = hookviewer.view(Tiny(), [picture(0)], block=False)
    settled(qtbot, window.session)
    window.close()
    qtbot.wait(20)
    gone = weakref.ref(window)
    gc.disable()  # it may run on any thread, and in the middle of Qt's loops
    try:
        del window
        assert gone() is None
    finally:
        gc.enable()


def test_a_window_that_nobody_holds_is_freed_by_the_event_loop(qtbot: QtBot) -> None:
    window = hookviewer.view(Tiny(), [picture(0)], block=False)
    settled(qtbot, window.session)
    gone = weakref.ref(window)
    window.close()
    del window
    qtbot.waitUntil(lambda: gone() is None, timeout=2000)


def test_a_window_without_a_view_is_freed_too(qtbot: QtBot) -> None:
    window = MainWindow()
    window.show()
    window.close()
    gone = weakref.ref(window)
    del window
    qtbot.wait(20)
    gc.collect()
    assert gone() is None
