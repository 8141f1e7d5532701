"""Edits through the window: the form, the list, menus, marks, undo, and what is written of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gui_nets import Tiny, picture, settled
from PySide6.QtCore import QMimeData, QModelIndex, QPoint, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from hookviewer.gui.before_after import changes
from hookviewer.gui.edit_choice import EditChoice
from hookviewer.gui.edit_dialog import EditDialog
from hookviewer.gui.edit_list import MIME, NUMBER, OUTCOME, switch_rect
from hookviewer.gui.export_entries import Shown, wall_entries
from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.module_delegate import ROW_HEIGHT
from hookviewer.gui.state import PLAIN, Pointed
from hookviewer.gui.theme import theme
from hookviewer.gui.wall.tile_menu import tile_menu
from hookviewer.kinds import Kind

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture(scope="module")
def kept() -> Iterator[list[MainWindow]]:
    """Hold the window of all tests here: making one takes longer than most of them."""
    made: list[MainWindow] = []
    yield made
    for window in made:
        window.close()


@pytest.fixture
def window(qtbot: QtBot, kept: list[MainWindow]) -> Iterator[MainWindow]:
    if not kept:
        kept.append(MainWindow())
        kept[0].opening.expect([picture(0), picture(1)])
        kept[0].session.set_model(Tiny())
    made, session = kept[0], kept[0].session
    settled(qtbot, session)
    session.editing.clear()
    session.set_auto(True)
    session.tick_input(2, False)
    session.select(path="stem.2", channel=0, region=None)
    session.set_look(difference=False)
    settled(qtbot, session)
    made.history.begin()
    yield made
    session.editing.clear()
    settled(qtbot, session)


def latest(window: MainWindow) -> int:
    """Return the number of the latest edit."""
    return window.session.editing.listed[-1].number


def words(window: MainWindow) -> list[str]:
    return [one.choice.words for one in window.session.editing.listed]


def form(window: MainWindow) -> EditDialog:
    dialogs = [one for one in window.findChildren(EditDialog) if one.isVisible()]
    assert len(dialogs) == 1
    return dialogs[0]


def asked(window: MainWindow, action: str = "edit_layer") -> EditDialog:
    window.commands.actions[action].trigger()
    return form(window)


def typed(line: QLineEdit, text: str) -> None:
    line.setFocus()
    line.selectAll()
    line.insert(text)  # as the clipboard does: it holds what no key has, like a true minus


# ------------------------------------------------------------------ the form


def test_the_form_says_what_will_happen_and_what_cannot(qtbot: QtBot, window: MainWindow) -> None:
    dialog = asked(window)
    assert dialog.sentence.text() == "Zero stem.2 output."
    typed(dialog.channels, "2, 4-5")
    assert dialog.sentence.text() == "Zero channels 2, 4, 5 of stem.2 output."
    assert dialog.shape.text() == "of 1×6×8×8"
    for line, text, problem in (
        (dialog.channels, "6", "There is no channel 6 here: they go from 0 to 5."),
        (dialog.channels, "x", "x is no list of numbers: write them like 3, 7-12."),
        (
            dialog.rows,
            "7-9",
            "The rectangle does not lie in the maps: they have rows 0 to 7 and columns 0 to 7.",
        ),
        (dialog.path, "body.7", "The model has no layer body.7."),
        (dialog.path, "aux", "It was not called in this run"),
    ):
        before = line.text()
        typed(line, text)
        assert problem in dialog.problem.text()
        assert dialog.problem.isVisible()
        assert not dialog.go.isEnabled()
        line.setText(before)
    dialog.operation.setCurrentIndex(dialog.operation.findData("scale"))
    typed(dialog.fields.number, "−0,5")
    assert dialog.sentence.text() == "Scale channels 2, 4, 5 of stem.2 output by −0.5."
    qtbot.mouseClick(dialog.go, LEFT)
    settled(qtbot, window.session)
    assert words(window) == ["scale channels 2, 4, 5 of stem.2 output by −0.5"]
    assert window.session.editing.outcome(latest(window)).words == "In force"


def test_gradients_have_operations_of_their_own(qtbot: QtBot, window: MainWindow) -> None:
    dialog = asked(window)
    dialog.where.setCurrentIndex(dialog.where.findData(Kind.PARAM_GRAD))
    assert "the model" not in dialog.sentence.text()
    typed(dialog.path, "stem.0")
    names = [dialog.leaf.itemText(place) for place in range(dialog.leaf.count())]
    assert names == ["All parameters", "weight", "bias"]
    dialog.leaf.setCurrentIndex(1)
    dialog.operation.setCurrentIndex(dialog.operation.findData("reverse"))
    assert dialog.sentence.text() == "Reverse the gradient of stem.0 weight."
    assert dialog.operation.findData("noise") < 0
    dialog.reject()


def test_the_alias_of_a_shared_layer_means_its_first_name_and_each_call_can_be_chosen(
    qtbot: QtBot, window: MainWindow
) -> None:
    dialog = asked(window)
    typed(dialog.path, "again.0")
    assert not dialog.call.isHidden()
    dialog.call.setCurrentIndex(2)
    assert dialog.sentence.text() == "Zero body.0 output, call 2."
    dialog.accept()
    settled(qtbot, window.session)
    assert window.session.editing.outcome(latest(window)).words == "In force"


def test_a_function_is_taken_from_a_file(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def negative(tensor):\n    return -tensor\n")
    dialog = asked(window)
    dialog.operation.setCurrentIndex(dialog.operation.findData("function"))
    assert not dialog.go.isEnabled()
    dialog.fields.file.setText(f"{file}:positive")
    assert dialog.sentence.text() == "Pass stem.2 output through mine.py:positive."
    dialog.accept()
    assert "has no function positive: it has negative" in dialog.problem.text()
    dialog.fields.file.setText(f"{file}:negative")
    dialog.accept()
    settled(qtbot, window.session)
    plain, edited = (window.session.runs[one.number] for one in window.session.ticked_inputs)
    before, after = (run.recording.record("stem.2", Kind.OUTPUT).tensor() for run in (plain, edited))
    assert bool((after == -before).all())


def test_an_edit_is_chosen_again_with_what_it_was_told(qtbot: QtBot, window: MainWindow) -> None:
    session = window.session
    session.editing.add(EditChoice("stem.2", "patch", channels=(1,), index=[1], of=(2,), names=("picture1",)))
    session.editing.add(EditChoice("stem.2", "noise", numbers=(None, 7.0)))
    settled(qtbot, session)
    rows = window.docks.edits.list
    rows.show_edit(order(window)[0])
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    dialog = form(window)
    assert dialog.fields.source.currentText() == "picture1"
    assert dialog.channels.text() == "1"
    typed(dialog.channels, "0-2")
    qtbot.mouseClick(dialog.go, LEFT)
    settled(qtbot, session)
    assert words(window)[0] == "put that of picture1 in place of channels 0–2 of stem.2 output"
    assert [one.operation for one in (row.choice for row in session.editing.listed)] == ["patch", "noise"]


# ------------------------------------------------------------------ the list


def three(window: MainWindow) -> None:
    """Have three edits, and run only when a test says so."""
    window.session.set_auto(False)
    for factor in (2.0, 3.0, 4.0):
        window.session.editing.add(EditChoice("stem.2", "scale", numbers=(factor,)))


def order(window: MainWindow) -> list[int]:
    return [one.number for one in window.session.editing.listed]


def test_the_panel_comes_with_the_first_edit_and_goes_with_the_last(qtbot: QtBot, window: MainWindow) -> None:
    panel = window.docks.panels["edits"]
    assert panel.isHidden()
    three(window)
    assert not panel.isHidden()
    assert panel.caption.text() == "3"
    rows = window.docks.edits.list
    rows.setFocus()
    for _ in range(3):
        qtbot.keyClick(rows, Qt.Key.Key_Delete)
    assert panel.isHidden()
    assert window.session.variants == (PLAIN,)
    settled(qtbot, window.session)


def test_rows_are_moved_by_keys_tools_and_the_mouse(qtbot: QtBot, window: MainWindow) -> None:
    three(window)
    rows, panel = window.docks.edits.list, window.docks.edits
    QAbstractItemModelTester(rows.rows, QAbstractItemModelTester.FailureReportingMode.Fatal)
    first, second, third = order(window)
    rows.show_edit(third)
    qtbot.keyClick(rows, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert order(window) == [first, third, second]
    assert rows.number == third
    qtbot.mouseClick(panel.earlier, LEFT)
    assert order(window) == [third, first, second]
    assert not panel.earlier.isEnabled()
    dragged = rows.rows.mimeData([rows.rows.index(0)])
    assert rows.rows.dropMimeData(dragged, Qt.DropAction.MoveAction, 3, 0, QModelIndex()) is False
    assert order(window) == [first, second, third]
    assert not rows.rows.dropMimeData(QMimeData(), Qt.DropAction.MoveAction, 0, 0, QModelIndex())
    assert dragged.hasFormat(MIME)
    settled(qtbot, window.session)


def test_a_click_on_the_switch_switches_and_undo_takes_every_step_back(
    qtbot: QtBot, window: MainWindow
) -> None:
    three(window)
    session, rows = window.session, window.docks.edits.list
    before = session.editing.listed
    point = switch_rect(rows.visualRect(rows.rows.index(1))).center()
    qtbot.mouseClick(rows.viewport(), LEFT, NONE, point)
    assert [one.on for one in session.editing.listed] == [True, False, True]
    assert rows.rows.index(1).data(OUTCOME).words == "Switched off"
    assert window.history.stack.undoText() == "switch off: scale stem.2 output by 3"
    session.editing.move(before[0].number, 2)
    assert window.history.stack.undoText() == "order of edits"
    session.editing.remove(before[0].number)
    undo, redo = window.commands.actions["undo"], window.commands.actions["redo"]
    for _ in range(3):
        undo.trigger()
    assert session.editing.listed == before
    for _ in range(3):
        undo.trigger()
    assert session.editing.listed == ()
    assert session.variants == (PLAIN,)
    for _ in range(4):
        redo.trigger()
    assert [one.on for one in session.editing.listed] == [True, False, True]
    session.run()
    settled(qtbot, session)
    edited = session.runs[session.ticked_inputs[1].number]
    plain = session.runs[1]
    pair = [run.recording.record("stem.2", Kind.OUTPUT).tensor() for run in (plain, edited)]
    assert bool((pair[1] == 8 * pair[0]).all())


def test_a_row_says_in_its_colour_that_an_edit_changed_nothing(qtbot: QtBot, window: MainWindow) -> None:
    window.session.editing.add(EditChoice("stem.2", "clamp", numbers=(0.0, None)))
    settled(qtbot, window.session)
    rows = window.docks.edits.list
    rows.clearSelection()
    assert rows.rows.index(0).data(OUTCOME).words.startswith("Changed nothing")
    rows.resize(300, 200)
    assert painted(rows.viewport().grab(rows.visualRect(rows.rows.index(0))).toImage(), theme()["warn"])


def painted(image: QImage, colour: QColor) -> bool:
    """Return whether a colour is there, nearly: icons are drawn smoothly."""
    wanted = colour.getRgb()[:3]
    return any(
        max(abs(one - other) for one, other in zip(image.pixelColor(x, y).getRgb()[:3], wanted, strict=True))
        < 12
        for y in range(image.height())
        for x in range(image.width())
    )


# ------------------------------------------------------------------ around it


def test_an_edited_layer_has_a_pencil_in_the_tree(qtbot: QtBot, window: MainWindow) -> None:
    tree = window.docks.modules.tree
    tree.resize(420, 500)
    window.docks.modules.reveal("stem.1")
    index = window.docks.modules._row("stem.1")

    def marked() -> bool:
        return painted(tree.viewport().grab(tree.visualRect(index)).toImage(), theme()["warn"])

    assert tree.visualRect(index).height() >= ROW_HEIGHT
    assert not marked()
    window.session.editing.add(EditChoice("stem.1"))
    settled(qtbot, window.session)
    assert marked()
    window.session.editing.switch(latest(window), False)
    settled(qtbot, window.session)
    assert not marked()


def test_a_right_click_zeroes_the_channel_under_the_pointer(qtbot: QtBot, window: MainWindow) -> None:
    session, wall = window.session, window.wall
    session.select(region=(1, 1, 4, 5))
    assert wall.wall is not None
    menu = tile_menu(wall, wall.wall.columns[0], Pointed(4, (2, 2)))
    texts = {action.text(): action for action in menu.actions()}
    texts["Zero channel 4"].trigger()
    settled(qtbot, session)
    assert words(window) == ["zero channel 4 of stem.2 output"]
    texts["Edit this rectangle…"].trigger()
    assert form(window).rows.text() == "1-3"
    assert form(window).places.text() == "1-4"
    form(window).accept()
    settled(qtbot, session)
    assert words(window)[1] == "zero rows 1–3, columns 1–4 of stem.2 output"
    menu.deleteLater()


def test_the_menu_of_the_tree_and_of_the_layer_ask_too(qtbot: QtBot, window: MainWindow) -> None:
    modules = window.docks.modules
    menu = modules.menu(modules._row("again.0"))
    next(action for action in menu.actions() if action.text() == "Edit this layer…").trigger()
    assert form(window).path.text() == "body.0"
    form(window).reject()
    menu.deleteLater()
    qtbot.waitUntil(lambda: not window.findChildren(EditDialog))
    window.session.select(channel=3)
    assert asked(window, "edit_channel").channels.text() == "3"
    form(window).reject()
    window.commands.actions["zero_channel"].trigger()
    assert words(window) == ["zero channel 3 of stem.2 output"]
    settled(qtbot, window.session)


def test_the_likely_classes_stand_before_and_after(qtbot: QtBot, window: MainWindow) -> None:
    session, top = window.session, window.docks.inputs.top
    assert top.after == ()
    session.editing.add(EditChoice("head", "scale", numbers=(-3.0,)))
    settled(qtbot, session)
    plain, edited = (session.runs[one.number] for one in session.ticked_inputs)
    scores = [run.recording.output.double().softmax(1)[0] for run in (plain, edited)]
    for guess, after in zip(top.guesses, top.after, strict=True):
        assert guess.share == pytest.approx(float(scores[0][guess.index]))
        assert after == pytest.approx(float(scores[1][guess.index]))
    best = plain.guesses[0]
    assert f"{best.name} {best.share:.3f} → {float(scores[1][best.index]):.3f}" in top.accessibleName()
    assert len(changes(plain, edited, 2)) == 2
    assert {one.guess.index for one in changes(plain, edited, 2)} == {best.index, edited.guesses[0].index}
    session.editing.clear()
    settled(qtbot, session)
    assert top.after == ()


def test_captions_of_edited_columns_and_of_the_difference_name_the_edits(
    qtbot: QtBot, window: MainWindow
) -> None:
    session = window.session
    session.editing.add(EditChoice("stem.2", "scale", numbers=(2.0,)))
    session.set_look(difference=True)
    settled(qtbot, session)
    shown = Shown(
        session.ticked_inputs, session.runs, session.selection, session.look, session.settings, "Tiny"
    )
    plain, edited, difference = wall_entries(shown)
    assert plain.caption.edits == ""
    for entry in (edited, difference):
        assert entry.caption.edits == "scale stem.2 output by 2"
        assert entry.caption.lines()[-1] == "edits: scale stem.2 output by 2"
        assert entry.identity["edits"] == "scale stem.2 output by 2"
    assert edited.caption.input == "picture0 · edited"


def test_the_status_bar_counts_no_hooks_after_a_run_with_edits(qtbot: QtBot, window: MainWindow) -> None:
    counted: list[int] = []
    window.session.run_progressed.connect(lambda progress: counted.append(progress.hooks))
    three(window)
    window.session.run()
    settled(qtbot, window.session)
    assert any(counted)
    assert all(run.hooks_left == 0 for run in window.session.runs.values())
    rows = window.docks.edits.list
    assert rows.indexAt(QPoint(30, 30)).data(NUMBER) == order(window)[0]
