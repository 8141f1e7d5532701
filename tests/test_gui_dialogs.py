"""The dialog that asks for a model by name: its proposals, Return, and Open."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from hookviewer.gui import recent
from hookviewer.gui.dialogs import ModelDialog
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.model_list import fitting

NAMES = (
    "demo:mobilenet_v2",
    "demo:three_layers",
    "torchvision.models:resnet18",
    "torchvision.models:resnet50",
    "torchvision.models:wide_resnet50_2",
)


@pytest.fixture
def dialog(qtbot: QtBot) -> ModelDialog:
    recent.remember_model("mine.nets:build?depth=3", "/nowhere/gone.pt")
    recent.remember_model("mine.nets:build?depth=2")
    made = ModelDialog("", NAMES, weights="given.pt")
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.show()
    return made


def test_an_empty_field_proposes_recent_models_demos_and_examples(dialog: ModelDialog) -> None:
    assert dialog.models.specs() == [
        "mine.nets:build?depth=2",
        "demo:mobilenet_v2",
        "demo:three_layers",
        "torchvision.models:resnet18",
    ]
    assert not dialog.go.isEnabled()


def test_words_choose_among_all_names() -> None:
    assert fitting(NAMES, "resnet50") == [NAMES[3], NAMES[4]]
    assert fitting(NAMES, "RES 18") == [NAMES[2]]
    assert fitting(NAMES, "zzz") == []
    assert fitting(("a:b", "c:d"), "") == ["a:b", "c:d"]


def test_one_return_opens_a_complete_name(qtbot: QtBot, dialog: ModelDialog) -> None:
    qtbot.keyClicks(dialog.name, "torchvision.models:resnet18")
    assert dialog.go.isEnabled()
    with qtbot.waitSignal(dialog.chosen) as told:
        qtbot.keyClick(dialog.name, Qt.Key.Key_Return)
    assert told.args == ["torchvision.models:resnet18", "given.pt"]
    assert not dialog.isVisible()


def test_a_row_fills_the_fields(qtbot: QtBot, dialog: ModelDialog) -> None:
    qtbot.keyClick(dialog.name, Qt.Key.Key_Down)
    assert (dialog.name.text(), dialog.arguments.text()) == ("mine.nets:build", "depth=2")
    qtbot.keyClick(dialog.name, Qt.Key.Key_Down)
    assert (dialog.name.text(), dialog.arguments.text()) == ("demo:mobilenet_v2", "")
    item = dialog.models.item(dialog.models.count() - 1)
    place = dialog.models.visualItemRect(item).center()
    qtbot.mouseClick(dialog.models.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert dialog.spec() == "torchvision.models:resnet18"
    assert dialog.go.isEnabled()


def test_return_in_an_empty_field_asks_for_nothing(qtbot: QtBot, dialog: ModelDialog) -> None:
    with qtbot.assertNotEmitted(dialog.chosen, wait=50):
        qtbot.keyClick(dialog.name, Qt.Key.Key_Return)
    assert dialog.isVisible()


def test_random_weights_are_said_once(qtbot: QtBot) -> None:
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    window.opening.open("torchvision.models:squeezenet1_1", inputs=["demo:ones"])
    qtbot.waitUntil(lambda: window.session.model is not None, timeout=30_000)
    words = [bar.message.what for bar in window.messages.bars]
    assert words.count("Random weights:") == 1
    assert "Random weights" in window.run_bar.model.toolTip()
    window.close()
