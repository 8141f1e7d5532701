"""The page *How hooks work*: the list of lessons, and one lesson with its numbers and its lines of torch."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QStackedLayout, QVBoxLayout, QWidget

from hookviewer.gui.parts import button, column, frame, label, rule
from hookviewer.gui.scrolling import ScrollDown
from hookviewer.gui.tutorial_course import Course
from hookviewer.gui.tutorial_lesson import LessonPage
from hookviewer.tutorials import LESSONS, Lesson


class TutorialPage(QFrame):
    """Lists the lessons; a click on one shows it in place of the list."""

    def __init__(self, course: Course, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tutorial_page")
        self.course = course
        self.lesson = LessonPage(course)
        self.lesson.left.connect(self.show_list)
        self.lesson.stepped.connect(self.step)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._list())
        self._stack.addWidget(self.lesson)
        self._soon = QTimer(self, singleShot=True, interval=30)
        self._soon.timeout.connect(self.lesson.refresh)
        course.changed.connect(self._soon.start)

    def show_list(self) -> None:
        """Show the list of all lessons."""
        self._stack.setCurrentIndex(0)

    def show_lesson(self, lesson: Lesson) -> None:
        """Show one lesson; nothing is opened yet."""
        self.lesson.show_lesson(lesson)
        self._stack.setCurrentIndex(1)

    def step(self, by: int) -> None:
        """Show the lesson after the present one, or before it."""
        place = LESSONS.index(self.lesson.lesson) + by
        if 0 <= place < len(LESSONS):
            self.show_lesson(LESSONS[place])

    def _list(self) -> QWidget:
        intro = label(
            self.tr(
                "A hook is a function that torch calls with a tensor on its way. Here every kind of hook can "
                "be tried on a small model: what it shows stands in the window, and beside it the lines of "
                "torch that do the same."
            ),
            "second",
        )
        intro.setWordWrap(True)
        box = QVBoxLayout()
        box.setSpacing(0)
        box.setContentsMargins(0, 0, 0, 0)
        self.entries = [self._entry(lesson) for lesson in LESSONS]
        for entry in self.entries:
            box.addWidget(entry)
            box.addWidget(rule())
        return scrolled(column(intro, 10, rule(), box, None, margins=(14, 4, 14, 12)))

    def _entry(self, lesson: Lesson) -> QWidget:
        title = button(lesson.title, "link")
        title.setObjectName(f"lesson_{lesson.name}")
        title.clicked.connect(partial(self.show_lesson, lesson))
        call = label(lesson.call, "caption", 11, mono=True)
        return frame(column(title, call, spacing=1, margins=(0, 6, 0, 7)))


def scrolled(layout: QVBoxLayout) -> ScrollDown:
    """Return a layout in an area that scrolls down only."""
    body = QFrame()
    body.setLayout(layout)
    return ScrollDown(body)
