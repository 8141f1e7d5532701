"""Where the keys go: letters act on the wall from everywhere, and what closes gives the focus back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.state import Message
from hookviewer.gui.theme import set_theme


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    set_theme("dark")
    made = MainWindow()
    qtbot.addWidget(made)
    made.opening.expect([picture(0), picture(1)])
    made.session.set_model(Tiny())
    made.show()
    made.activateWindow()
    settled(qtbot, made.session)
    made.session.select(path="stem.0")
    settled(qtbot, made.session)
    yield made
    made.close()


def canvas(window: MainWindow, number: int) -> QWidget:
    found = window.findChild(QWidget, f"wall_{number}")
    assert found is not None
    return found


def press(qtbot: QtBot, key: Qt.Key) -> None:
    focus = QApplication.focusWidget()
    assert focus is not None
    qtbot.keyClick(focus, key)


def test_the_page_of_keys_gives_the_focus_back(qtbot: QtBot, window: MainWindow) -> None:
    canvas(window, 1).setFocus()
    page = window.commands.show_keys()
    assert page.hasFocus()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is canvas(window, 1)
    press(qtbot, Qt.Key.Key_G)
    assert window.session.selection.shown == "gradient"


def test_a_page_that_was_opened_from_nowhere_gives_the_focus_to_the_wall(
    qtbot: QtBot, window: MainWindow
) -> None:
    canvas(window, 0).clearFocus()
    page = window.commands.show_about()
    page.close_page()
    assert window.wall.isAncestorOf(QApplication.focusWidget())


def test_a_message_that_is_closed_by_its_button_gives_the_focus_to_the_wall(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.session.tell(Message("error", "No.", "Do this.", undo=lambda: None))
    button = window.messages.bars[0].buttons[0]
    button.setFocus(Qt.FocusReason.TabFocusReason)
    assert button.hasFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert window.messages.bars == []
    assert window.wall.isAncestorOf(QApplication.focusWidget())


def test_no_button_or_choice_takes_the_focus_when_it_is_clicked(window: MainWindow) -> None:
    quiet = [*window.findChildren(QAbstractButton), *window.findChildren(QComboBox)]
    taking = [one for one in quiet if one.focusPolicy() & Qt.FocusPolicy.ClickFocus]
    assert len(quiet) > 30
    assert taking == []


def test_a_click_on_a_button_leaves_the_focus_on_the_wall(qtbot: QtBot, window: MainWindow) -> None:
    canvas(window, 0).setFocus()
    qtbot.mouseClick(window.docks._expand, Qt.MouseButton.LeftButton)
    assert canvas(window, 0).hasFocus()


def test_letters_act_on_the_wall_from_the_tree_and_the_inputs(qtbot: QtBot, window: MainWindow) -> None:
    tree, inputs = window.docks.modules.tree, window.docks.inputs.list
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, 8))
    tree.setFocus()
    before = window.session.selection.path
    press(qtbot, Qt.Key.Key_D)
    assert window.session.look.difference
    assert window.session.selection.path == before
    inputs.setFocus()
    press(qtbot, Qt.Key.Key_D)
    assert not window.session.look.difference


def test_arrows_and_space_stay_the_trees(qtbot: QtBot, window: MainWindow) -> None:
    tree = window.docks.modules.tree
    tree.setFocus()
    path = window.session.selection.path
    ticked = path in window.session.plan.paths
    press(qtbot, Qt.Key.Key_Space)
    assert (path in window.session.plan.paths) is not ticked
    press(qtbot, Qt.Key.Key_Down)
    assert window.session.selection.path != path
