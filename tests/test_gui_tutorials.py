"""How hooks work: each lesson is opened, tried and read in the window; its numbers are those of torch."""

from __future__ import annotations

import pytest
from gui_nets import Tiny, picture, settled
from kept_window import shown_window
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from hookviewer.gui.main_window import MainWindow
from hookviewer.gui.state import Shown
from hookviewer.gui.tutorial_course import Course
from hookviewer.gui.tutorial_dock import NAME, show_tutorial
from hookviewer.gui.tutorial_line import LineView
from hookviewer.gui.tutorial_numbers import written
from hookviewer.gui.tutorial_page import TutorialPage
from hookviewer.kinds import Kind
from hookviewer.tutorials import LESSONS, Lesson, evaluated

BY_NAME = {lesson.name: lesson for lesson in LESSONS}


@pytest.fixture
def window(qtbot: QtBot, kept: list[MainWindow]) -> MainWindow:
    made, _ = shown_window(kept, 1400, 900)
    session = made.session
    session.editing.clear()
    for item in session.inputs:
        session.take_off(item.number)
    settled(qtbot, session)
    return made


@pytest.fixture
def page(window: MainWindow) -> TutorialPage:
    return show_tutorial(window.session, window.opening, window)


def press(qtbot: QtBot, page: TutorialPage, button: QPushButton) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    settled(qtbot, page.course._session)
    qtbot.waitUntil(lambda: not page._soon.isActive())


def opened(qtbot: QtBot, page: TutorialPage, name: str) -> Lesson:
    """Choose a lesson in the list and open its model, with the mouse."""
    page.show_list()
    entry = page.findChild(QPushButton, f"lesson_{name}")
    assert entry is not None
    qtbot.mouseClick(entry, Qt.MouseButton.LeftButton)
    assert page.lesson.go.text() == "Open its model"
    press(qtbot, page, page.lesson.go)
    qtbot.waitUntil(lambda: page.lesson.go.text() == "Try it")
    return BY_NAME[name]


def read(page: TutorialPage) -> dict[str, str]:
    """Return what stands beside the name of each number."""
    return {view.line.number.torch: view.here.text() for view in page.lesson.views}


def marks(page: TutorialPage) -> set[bool | None]:
    return {view.line.same for view in page.lesson.views}


def test_help_has_the_page(window: MainWindow) -> None:
    assert window.findChild(TutorialPage) is None  # it costs nothing until it is asked for
    window.commands.actions["tutorial"].trigger()
    found = window.findChild(TutorialPage)
    assert found is not None
    assert found.isVisible()
    assert len(found.entries) == len(LESSONS)


def test_every_lesson_that_is_tried_has_the_numbers_of_torch(
    qtbot: QtBot, window: MainWindow, page: TutorialPage
) -> None:
    for lesson in LESSONS:
        if not lesson.takes_time:
            try_and_read(qtbot, window, page, lesson.name)


def try_and_read(qtbot: QtBot, window: MainWindow, page: TutorialPage, name: str) -> None:
    lesson = opened(qtbot, page, name)
    assert window.session.settings.target == lesson.target
    assert window.session.plan.paths == set(lesson.ticks)
    assert not all(marks(page))  # something is still to be seen
    press(qtbot, page, page.lesson.go)
    qtbot.waitUntil(lambda: marks(page) == {True})
    values = evaluated(lesson).values
    assert read(page) == {one.torch: written(values[one.torch]) for one in lesson.numbers}
    assert window.session.selection.path == lesson.hooked
    assert window.session.selection.shown == Shown(lesson.shown)
    assert page.lesson.printed.toPlainText() == evaluated(lesson).printed
    press(qtbot, page, page.lesson.back)
    assert not page.course.tried
    assert not window.session.editing.listed
    assert {run.hooks_left for run in window.session.runs.values()} == {0}


def test_the_code_of_a_whole_network_waits_for_the_run_of_the_window(
    qtbot: QtBot, window: MainWindow
) -> None:
    page = TutorialPage(Course(window.session, window.opening))  # it has run no code yet
    qtbot.addWidget(page)
    page.show_lesson(BY_NAME["grad_cam"])
    assert not window.session.runner.busy
    page.show_lesson(BY_NAME["removal"])
    assert window.session.runner.busy
    settled(qtbot, window.session)


def test_an_edit_that_is_moved_gives_another_number_and_the_page_says_so(
    qtbot: QtBot, window: MainWindow, page: TutorialPage
) -> None:
    opened(qtbot, page, "order")
    press(qtbot, page, page.lesson.go)
    qtbot.waitUntil(lambda: read(page)["w.grad"] == "[12]")
    editing = window.session.editing
    editing.move(editing.listed[1].number, 0)
    settled(qtbot, window.session)
    qtbot.waitUntil(lambda: read(page)["w.grad"] == "[4]")
    line = {view.line.number.torch: view.line for view in page.lesson.views}["w.grad"]
    assert line.same is False
    assert line.torch == "[12]"


def test_the_code_is_copied_as_it_stands(qtbot: QtBot, page: TutorialPage) -> None:
    page.show_lesson(BY_NAME["forward_pre"])
    qtbot.mouseClick(page.lesson.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == BY_NAME["forward_pre"].code
    assert page.lesson.code.toPlainText() == BY_NAME["forward_pre"].code.rstrip("\n")


def test_a_number_is_looked_at_where_it_stands(qtbot: QtBot, window: MainWindow, page: TutorialPage) -> None:
    opened(qtbot, page, "full_backward")
    press(qtbot, page, page.lesson.go)
    view = next(one for one in page.lesson.views if one.line.number.torch == "seen[fc2][1]")
    qtbot.mouseClick(view.place, Qt.MouseButton.LeftButton)
    assert window.session.selection.path == "fc2"
    assert window.session.selection.shown is Shown.GRADIENT


def test_a_lesson_takes_inputs_of_others_off_the_ticks_and_its_own_away_again(
    qtbot: QtBot, window: MainWindow, page: TutorialPage
) -> None:
    session = window.session
    session.set_model(Tiny())
    session.add_inputs([picture(0)])
    settled(qtbot, session)
    opened(qtbot, page, "full_backward")
    assert [item.input.name for item in session.ticked_inputs] == ["values:[[1., 1., 1.]]"]
    assert session.current_input is not None
    assert session.current_input.input.spec == "values:[[1., 1., 1.]]"
    assert Kind.GRAD_INPUT in session.plan.kinds
    opened(qtbot, page, "change_gradient")
    names = [item.input.name for item in session.inputs]
    assert "values:[[1., 1., 1.]]" not in names
    assert {"picture0", "values:[2.]"} < set(names)
    assert Kind.GRAD_INPUT not in session.plan.kinds


def test_another_model_ends_the_lesson(qtbot: QtBot, window: MainWindow, page: TutorialPage) -> None:
    opened(qtbot, page, "full_backward")
    window.session.set_model(Tiny())
    settled(qtbot, window.session)
    qtbot.waitUntil(lambda: page.lesson.go.text() == "Open its model")
    assert Kind.GRAD_INPUT not in window.session.plan.kinds
    assert page.lesson.views[0].here.text() == "Open the model first."


def test_the_page_is_a_panel_beside_the_others_that_can_be_closed(
    qtbot: QtBot, window: MainWindow, page: TutorialPage
) -> None:
    window.session.set_model(Tiny())
    settled(qtbot, window.session)
    panel = window.findChild(type(window.docks.panels["inspector"]), NAME)
    assert panel is not None
    qtbot.waitUntil(lambda: panel.width() > 280)
    assert panel.x() > window.docks.panels["inspector"].x()
    panel.hide()
    show_tutorial(window.session, window.opening, window)
    assert panel.isVisible()
    assert len(window.findChildren(TutorialPage)) == 1


def test_the_lessons_are_walked_by_the_arrows(qtbot: QtBot, page: TutorialPage) -> None:
    page.show_lesson(LESSONS[0])
    assert not page.lesson.before.isEnabled()
    for lesson in LESSONS[1:]:
        qtbot.mouseClick(page.lesson.after, Qt.MouseButton.LeftButton)
        assert page.lesson.title.text() == lesson.title
        QApplication.processEvents()  # which deletes nothing
        shown = [view for view in page.lesson.findChildren(LineView) if view.isVisibleTo(page.lesson)]
        assert [view.line.number for view in shown] == list(lesson.numbers)
    assert not page.lesson.after.isEnabled()
