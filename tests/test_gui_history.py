"""Undo and redo: ticks, removed inputs and the look come back, and nothing else is a step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gui_nets import Tiny, picture, settled
from pytestqt.qtbot import QtBot

from hookviewer.gui import history, settings
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.state import COLOURS, Shown
from hookviewer.gui.theme import theme


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow()
    qtbot.addWidget(made)
    made.opening.expect([picture(0), picture(1)])
    made.session.set_model(Tiny())
    settled(qtbot, made.session)
    yield made
    made.close()


def undo(window: MainWindow) -> None:
    window.commands.actions["undo"].trigger()


def redo(window: MainWindow) -> None:
    window.commands.actions["redo"].trigger()


def test_what_was_ticked_at_the_start_is_no_step(window: MainWindow) -> None:
    assert window.session.plan.paths
    assert not window.history.stack.canUndo()
    assert not window.commands.actions["undo"].isEnabled()


def test_ticks_come_back_and_go_again(qtbot: QtBot, window: MainWindow) -> None:
    session, before = window.session, window.session.plan.paths
    session.tick(["head"], "head" not in before)
    after = session.plan.paths
    assert window.commands.actions["undo"].text() in ("Undo: tick head", "Undo: untick head")
    session.tick(after, False)
    undo(window)
    assert session.plan.paths == after
    undo(window)
    assert session.plan.paths == before
    redo(window)
    assert session.plan.paths == after
    assert not window.history.stack.isClean()
    settled(qtbot, session)


def test_a_removed_input_comes_back_at_its_place_with_its_run(qtbot: QtBot, window: MainWindow) -> None:
    session = window.session
    first, run = session.inputs[0], session.runs[1]
    session.remove_input(1)
    settled(qtbot, session)
    undo(window)
    assert session.inputs[0] == first
    assert session.runs[1] is run
    redo(window)
    assert [item.number for item in session.inputs] == [2]
    undo(window)
    assert [item.number for item in session.inputs] == [1, 2]


def test_a_removal_undone_by_its_message_is_not_undone_twice(qtbot: QtBot, window: MainWindow) -> None:
    session = window.session
    session.remove_input(2)
    window.messages.bars[0].buttons[0].click()
    undo(window)
    assert [item.number for item in session.inputs] == [1, 2]


def test_ticks_of_inputs_are_steps(qtbot: QtBot, window: MainWindow) -> None:
    window.session.tick_input(2, False)
    undo(window)
    assert window.session.item(2).ticked
    settled(qtbot, window.session)


def test_changes_of_the_look_are_steps_and_quick_ones_one_step(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = window.session
    session.set_look(colormap="viridis")
    session.set_look(sort="mean")
    for value in range(10):
        session.set_look(levels=(0.0, 1.0 + value))
    assert window.history.stack.count() == 3
    undo(window)
    assert session.look.levels is None
    redo(window)
    assert session.look.levels == (0.0, 10.0)
    monkeypatch.setattr(history, "JOIN_S", -1.0)
    session.set_look(levels=(0.0, 20.0))
    assert window.history.stack.count() == 4
    for _ in range(3):
        undo(window)
    assert (session.look.sort, session.look.colormap, session.look.levels) == ("channel", "viridis", None)


def test_levels_that_go_with_their_layer_are_no_step(qtbot: QtBot, window: MainWindow) -> None:
    session = window.session
    session.select(path="stem.0")
    session.set_look(levels=(0.0, 2.0))
    count = window.history.stack.count()
    session.select(path="body.0", shown=Shown.GRADIENT)
    assert session.look.levels is None
    assert window.history.stack.count() == count
    undo(window)
    assert session.selection.path == "body.0"
    assert session.look.levels is None
    settled(qtbot, session)


def test_another_model_begins_anew_and_a_reload_does_not(qtbot: QtBot, window: MainWindow) -> None:
    session = window.session
    session.tick(["head"], "head" not in session.plan.paths)
    before = session.plan.paths
    window.opening.reload()
    settled(qtbot, session)
    undo(window)
    assert session.plan.paths == before ^ {"head"}
    session.set_model(Tiny())
    settled(qtbot, session)
    assert not window.history.stack.canUndo()


def test_settings_are_reset_and_put_back(window: MainWindow) -> None:
    window.commands.set_theme("light")
    window.commands.set_budget(1 << 28)
    again = MainWindow()
    assert again.session.settings.budget == 1 << 28
    again.close()
    window.commands.actions["reset_settings"].trigger()
    assert (theme().name, window.session.settings.budget) == ("dark", 2 << 30)
    assert settings.theme_name() == "dark"
    window.messages.bars[0].buttons[0].click()
    assert (theme().name, window.session.settings.budget) == ("light", 1 << 28)
    window.commands.set_theme("dark")


def test_six_listed_inputs_differ_in_colour_whatever_was_removed_before(
    qtbot: QtBot, window: MainWindow
) -> None:
    session = window.session
    session.set_auto(False)
    for seed in range(6 - len(session.inputs)):
        session.add_inputs([picture(seed)])
    for gone in (1, 1, 4):  # the places of those that are taken off, one after the other
        session.take_off(session.inputs[gone].number)
        session.add_inputs([picture(gone)])
        colours = {theme().input(item.number).name() for item in session.inputs}
        assert len(colours) == len(session.inputs) == len(theme().inputs) == COLOURS
    assert len({item.number for item in session.inputs}) == 6
