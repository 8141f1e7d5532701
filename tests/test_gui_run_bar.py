"""The run bar: what its boxes set, what can be pressed when, and how it gives way."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
import torch
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from hookviewer.errors import HookViewerError
from hookviewer.gui.devices import devices
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.numbers import number
from hookviewer.gui.state import Guess, TargetChoice
from hookviewer.gui.target_dialog import TargetDialog
from hookviewer.gui.target_pages import ClassPage


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


def box(window: MainWindow, name: str) -> QComboBox:
    found = window.findChild(QComboBox, name)
    assert found is not None
    return found


def test_the_boxes_have_their_names_and_say_them(window: MainWindow) -> None:
    for name in ("device", "mode", "target"):
        assert box(window, name).accessibleName()


def test_the_device_box_lists_what_torch_finds(window: MainWindow) -> None:
    device = box(window, "device")
    found = [device.itemData(place) for place in range(device.count())]
    assert found == devices()
    assert found[0] == "cpu"
    assert ("cuda:0" in found) is torch.cuda.is_available()


def test_the_mode_box_sets_the_mode_of_the_run(qtbot: QtBot, window: MainWindow) -> None:
    box(window, "mode").setCurrentText("train")
    assert window.session.settings.mode == "train"
    settled(qtbot, window.session)
    assert window.session.runs[1].settings.mode == "train"
    mode = window.run_bar.mode
    qtbot.mouseClick(mode, Qt.MouseButton.LeftButton, pos=mode.segment(0).center().toPoint())
    assert window.session.settings.mode == "eval"


def test_the_target_box_names_the_likely_classes(window: MainWindow) -> None:
    target, guesses = box(window, "target"), window.session.runs[1].guesses
    assert target.currentText() == f"Top class: {guesses[0].name}"
    texts = [target.itemText(place) for place in range(target.count())]
    assert texts[1] == "Sum of the output"
    assert texts[2 : 2 + len(guesses)] == [f"{guess.name}  {guess.share:.2f}" for guess in guesses]
    assert texts[-2:] == ["Target…", "No gradients"]


def test_choosing_a_target_runs_with_it(qtbot: QtBot, window: MainWindow) -> None:
    box(window, "target").setCurrentText("Sum of the output")
    assert window.session.settings.target == TargetChoice("sum")
    settled(qtbot, window.session)
    run = window.session.runs[1]
    with torch.no_grad():
        alone = copy.deepcopy(window.session.model).eval()
        total = float(alone(*window.session.inputs[0].input.args).sum())
    assert run.recording.target_value == pytest.approx(total, rel=1e-5)
    assert box(window, "target").currentText() == "Sum of the output"


def test_the_target_box_follows_what_is_set_elsewhere_and_tells_the_value(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.session.set_settings(target=TargetChoice("sum"))
    settled(qtbot, window.session)
    target, value = box(window, "target"), window.session.runs[1].recording.target_value
    assert target.currentText() == "Sum of the output"
    assert value is not None
    assert target.toolTip().splitlines() == [
        "The gradient starts from the sum of the output.",
        f"picture0: {number(value)}",
    ]
    assert target.width() >= target.sizeHint().width()


def test_any_class_can_be_searched_and_chosen(qtbot: QtBot, window: MainWindow) -> None:
    target = box(window, "target")
    target.setCurrentIndex(target.findText("Target…"))
    dialog = window.findChild(TargetDialog)
    assert dialog is not None
    assert target.currentText().startswith("Top class")
    page = dialog.page
    assert isinstance(page, ClassPage)
    page.search.setText("class 3")
    assert dialog.sentence.text() == "The gradient starts from the score of class 3, class 3."
    qtbot.keyClick(page.search, Qt.Key.Key_Return)
    assert window.session.settings.target == TargetChoice("class", 3)
    settled(qtbot, window.session)
    assert "class 3" in target.currentText()


def test_the_class_page_finds_by_number_and_by_name_and_begins_with_the_likely(qtbot: QtBot) -> None:
    names = ["tench", "goldfish", "great white shark"]
    page = ClassPage(names, (Guess(2, names[2], 0.9), Guess(0, names[0], 0.1)))
    qtbot.addWidget(page)
    rows = page.list.model()
    shown = [rows.data(rows.index(row, 0)) for row in range(rows.rowCount())]
    assert shown == ["2   great white shark   0.90", "0   tench   0.10", "1   goldfish"]
    for words, expected in (("", 2), ("gold", 1), ("1", 1), ("TEN", 0)):
        page.search.setText(words)
        assert page.choice(None) == TargetChoice("class", expected)
    page.search.setText("whale")
    with pytest.raises(HookViewerError, match="another word"):
        page.choice(None)


def test_run_and_stop_are_on_when_they_can_be_done(qtbot: QtBot, window: MainWindow) -> None:
    bar, session = window.run_bar, window.session
    assert (bar.run.isEnabled(), bar.stop.isEnabled()) == (True, False)
    session.run()
    assert (bar.run.isEnabled(), bar.stop.isEnabled()) == (False, True)
    settled(qtbot, session)
    assert (bar.run.isEnabled(), bar.stop.isEnabled()) == (True, False)
    session.tick_input(1, False)
    assert not bar.run.isEnabled()


def test_pressing_run_runs_all_anew(qtbot: QtBot, window: MainWindow) -> None:
    before = window.session.runs[1].recording
    with qtbot.waitSignal(window.session.run_finished, timeout=20_000):
        qtbot.mouseClick(window.run_bar.run, Qt.MouseButton.LeftButton)
    assert window.session.runs[1].recording is not before


def test_the_auto_switch_and_its_action_are_one(window: MainWindow) -> None:
    window.run_bar.auto.click()
    assert not window.session.auto
    assert not window.commands.actions["auto"].isChecked()
    window.commands.actions["auto"].trigger()
    assert window.session.auto
    assert window.run_bar.auto.isChecked()


def test_the_bar_gives_way_in_its_order(qtbot: QtBot, window: MainWindow) -> None:
    bar = window.run_bar
    window.resize(1500, 700)
    qtbot.wait(20)
    assert bar.add.text().strip() == "Add input"
    window.resize(window.minimumWidth(), 700)
    qtbot.wait(20)
    assert bar.add.text() == ""
    assert bar.target.shown_text() == "Top class"
    right = bar.export.mapTo(bar, bar.export.rect().bottomRight()).x()
    assert right <= bar.width()


def test_without_a_model_nothing_can_be_run(qtbot: QtBot) -> None:
    made = MainWindow()
    qtbot.addWidget(made)
    made.show()
    for widget in (made.run_bar.run, made.run_bar.stop, made.run_bar.add, made.run_bar.export):
        assert not widget.isEnabled()
    assert made.run_bar.model.text().strip() == "Open model"
    made.close()


def test_scrolling_over_a_box_changes_nothing(qtbot: QtBot, window: MainWindow) -> None:
    before = window.session.settings
    for name in ("device", "mode", "target"):
        qtbot.keyClick(window, Qt.Key.Key_F24)
        box(window, name).wheelEvent(_Wheel())
    assert window.session.settings == before


class _Wheel:
    def ignore(self) -> None:
        pass
