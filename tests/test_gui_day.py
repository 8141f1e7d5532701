"""A working day: the log, reports, hooks that are counted, targets of several outputs, closing in a run."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator

import pytest
import torch
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import qWarning
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from torch import nn

from hookviewer.gui import log
from hookviewer.gui.about_page import AboutPage
from hookviewer.gui.guard import guarded
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.state import TargetChoice


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow()
    qtbot.addWidget(made)
    made.opening.expect([picture(0)])
    made.session.set_model(Tiny())
    made.show()
    settled(qtbot, made.session)
    yield made
    made.close()


def logged() -> str:
    return (log.folder() / log.NAME).read_text(encoding="utf-8")


def test_whatever_goes_wrong_is_in_the_log_and_in_the_window(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "excepthook", lambda *what: None)
    monkeypatch.setattr(threading, "excepthook", lambda what: None)
    window.catcher.install()

    class Painted:
        @guarded
        def paint(self) -> None:
            raise ZeroDivisionError("in a paint")

    sys.excepthook(ValueError, ValueError("in the main thread"), None)
    thread = threading.Thread(target=lambda: [].pop())
    thread.start()
    thread.join()
    Painted().paint()
    qWarning("Qt is worried")
    qtbot.waitUntil(lambda: len(window.messages.bars) == 3, timeout=5_000)
    said = " ".join(bar.message.what for bar in window.messages.bars)
    for words in ("in the main thread", "pop from empty list", "in a paint"):
        assert words in said
        assert words in logged()
    assert "Traceback" in logged()
    assert "hookviewer.qt: Qt is worried" in logged()
    assert "Started: hookviewer" in logged()
    next(bar for bar in window.messages.bars if "paint" in bar.message.what).buttons[0].click()
    assert "ZeroDivisionError" in QGuiApplication.clipboard().text()
    window.catcher.remove()
    assert logging.getLogger("hookviewer").handlers == []
    assert "Qt: Qt is worried" in capfd.readouterr().err


def test_two_windows_share_one_log(qtbot: QtBot, window: MainWindow) -> None:
    other = MainWindow()
    qtbot.addWidget(other)
    window.catcher.install()
    other.catcher.install()
    logging.getLogger("hookviewer").warning("once")
    other.close()
    logging.getLogger("hookviewer").warning("still")
    window.catcher.remove()
    assert (logged().count("once"), logged().count("still")) == (1, 1)


def test_the_about_page_copies_a_report(qtbot: QtBot, window: MainWindow) -> None:
    window.catcher.install()
    logging.getLogger("hookviewer").warning("what happened before")
    over = window.commands.show_about()
    page = over.findChild(AboutPage)
    words = " ".join(label.text() for label in page.findChildren(QLabel))
    assert torch.__version__ in words
    page.copy.click()
    assert torch.__version__ in QGuiApplication.clipboard().text()
    assert "what happened before" in QGuiApplication.clipboard().text()
    window.catcher.remove()


class Waits(nn.Module):
    """Stands still in its forward pass until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 2, 1), nn.ReLU()
        self.inside, self.go = threading.Event(), threading.Event()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        self.inside.set()
        self.go.wait(20)
        return self.last(x)


def test_hooks_in_place_are_counted_while_they_are(qtbot: QtBot, window: MainWindow) -> None:
    model = Waits()
    model.last.register_forward_hook(lambda *what: None)  # one of the user's own
    window.opening.expect([picture(0)])
    window.session.set_model(model)
    label = window.findChild(QLabel, "hooks")
    qtbot.waitUntil(lambda: label.text() == "hooks in place 6", timeout=10_000)
    model.go.set()
    settled(qtbot, window.session)
    assert label.text() in ("hooks in place 0", "0 hooks")
    assert window.session.runs[1].hooks_left == 0


def test_closing_in_a_run_hides_at_once_and_ends_with_the_operation(qtbot: QtBot) -> None:
    made = MainWindow()
    qtbot.addWidget(made)
    model = Waits()
    made.opening.expect([picture(0)])
    made.session.set_model(model)
    made.show()
    qtbot.waitUntil(model.inside.is_set, timeout=10_000)
    started = time.monotonic()
    made.close()
    assert not made.isVisible()
    assert time.monotonic() - started < 3.0
    model.go.set()
    made.session.runner.join()
    assert not model.first._forward_hooks
    assert not model.last._forward_hooks
    assert not [one for one in threading.enumerate() if one.name.startswith("hookviewer-model")]


class Fails(Waits):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        super().forward(x)
        raise ValueError("at the end")


@pytest.mark.parametrize("kind", [Waits, Fails])
def test_an_input_taken_off_the_list_while_it_runs_leaves_no_run(
    qtbot: QtBot, window: MainWindow, kind: type[Waits]
) -> None:
    model, session = kind(), window.session
    window.opening.expect([picture(0)])
    session.set_model(model)
    qtbot.waitUntil(model.inside.is_set, timeout=10_000)
    session.remove_input(session.inputs[-1].number)
    listed = {item.number for item in session.inputs}
    model.go.set()
    settled(qtbot, session)
    assert set(session.runs) <= listed


class Several(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 4, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        maps = self.first(x)
        return maps.mean((2, 3)), maps * 2, maps.mean()


def test_each_tensor_of_the_output_can_be_the_target(qtbot: QtBot, window: MainWindow) -> None:
    session, box = window.session, window.run_bar.target
    window.opening.expect([picture(0)])
    session.set_model(Several())
    settled(qtbot, session)
    texts = [box.itemText(place) for place in range(box.count())]
    wanted = ["Top class of [0]", "Sum of [0]", "Top class of [1]", "Sum of [1]", "Sum of [2]"]
    assert [text for text in texts if " of [" in text] == wanted
    box.setCurrentIndex(texts.index("Sum of [1]"))
    settled(qtbot, session)
    number = session.inputs[-1].number
    assert session.settings.target == TargetChoice("sum", leaf="[1]")
    gradient = session.runs[number].recording.record("first", "grad_output").array()
    assert gradient == pytest.approx(2.0)
    assert box.currentText() == "Sum of [1]"


def test_the_arrows_of_the_inspector_walk_in_the_order_of_the_tiles(qtbot: QtBot, window: MainWindow) -> None:
    session, docks = window.session, window.docks
    session.select(path="stem.0")
    settled(qtbot, session)
    session.set_look(sort="mean")
    order = [int(channel) for channel in docks._wall().order]
    assert order != sorted(order)
    session.select(channel=order[0])
    walked = []
    for _ in order:
        walked.append(session.selection.channel)
        docks._arrows[1].click()
    assert walked == order
    docks._arrows[0].click()
    assert session.selection.channel == order[-2]
