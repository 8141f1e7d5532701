"""One lesson: what to look at, the button that tries it, its numbers, and the lines of torch."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QTextEdit, QVBoxLayout, QWidget

from hookviewer.gui.inspector.section import Section
from hookviewer.gui.parts import button, column, frame, label, row, tool
from hookviewer.gui.scrolling import ScrollDown
from hookviewer.gui.theme import SEMIBOLD, font
from hookviewer.gui.tutorial_course import Course
from hookviewer.gui.tutorial_line import LineView
from hookviewer.tutorials import LESSONS, Lesson

TICK_MS = 1500


class LessonPage(QFrame):
    """Shows a lesson of a course, and follows what comes of it."""

    left = Signal()
    stepped = Signal(int)

    def __init__(self, course: Course, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lesson")
        self._course = course
        self.lesson = LESSONS[0]
        self.views: list[LineView] = []
        self._make_parts()
        self._lay_out()
        self.go.clicked.connect(self._on_go)
        self.back.clicked.connect(course.take_back)
        self.copy.clicked.connect(self._on_copy)

    def _make_parts(self) -> None:
        self.every = tool("list-checks", self.tr("All lessons"), size=24)
        self.before = tool("chevron-left", self.tr("Lesson before"), size=24)
        self.after = tool("chevron-right", self.tr("Next lesson"), size=24)
        self.every.clicked.connect(self.left)
        self.before.clicked.connect(lambda: self.stepped.emit(-1))
        self.after.clicked.connect(lambda: self.stepped.emit(1))
        self.place = label("", "caption", 11)
        self.title, self.call = label("", "", 15, weight=SEMIBOLD), label("", "caption", 11, mono=True)
        self.look, self.state = label("", "second"), label("", "caption", 11)
        for text in (self.title, self.call, self.look, self.state):
            text.setWordWrap(True)
        self.go, self.back = button("", "primary"), button(self.tr("Take it back"))
        self.go.setObjectName("try_it")
        self.copy = tool("copy", self.tr("Copy the code"), size=24)
        self.copied = label("", "ok", 11)
        self.code, self.printed = _text(self.tr("The lines of torch")), _text(self.tr("What they print"))

    def _lay_out(self) -> None:
        self._lines = QVBoxLayout()
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(8)
        head = row(self.every, self.place, None, self.before, self.after, spacing=4, margins=(8, 0, 8, 0))
        top = column(
            *(self.title, 2, self.call, 8, self.look, 10),
            *(row(self.go, self.back, None, spacing=8), 6, self.state),
            margins=(14, 6, 14, 12),
        )
        here = label(self.tr("here, and in torch"), "caption", 11)
        parts = (
            frame(top),
            Section(self.tr("Numbers"), frame(self._lines), here, margins=(14, 2, 14, 10)),
            Section(self.tr("In torch"), self.code, self.copied, self.copy, margins=(12, 0, 12, 8)),
            Section(self.tr("It prints"), self.printed, margins=(12, 0, 12, 10)),
        )
        body = QFrame()
        body.setLayout(column(*parts, None))
        self.area = ScrollDown(body)
        self.setLayout(column(head, 2, self.area))

    # -- what stands in it -----------------------------------------------------------------------------------

    def show_lesson(self, lesson: Lesson) -> None:
        """Show another lesson."""
        self.lesson = lesson
        place = LESSONS.index(lesson)
        self.place.setText(self.tr("{} of {}").format(place + 1, len(LESSONS)))
        self.before.setEnabled(place > 0)
        self.after.setEnabled(place + 1 < len(LESSONS))
        for text, said in ((self.title, lesson.title), (self.call, lesson.call), (self.look, lesson.look)):
            text.setText(said)
        _fill(self.code, lesson.code)
        self._make_lines(lesson)
        self.area.verticalScrollBar().setValue(0)
        self._course.begin(lesson)
        self.refresh()

    def _make_lines(self, lesson: Lesson) -> None:
        for view in self.views:
            self._lines.removeWidget(view)
            view.hide()  # until it is deleted it would stand where it stood
            view.deleteLater()
        self.views = [LineView(one) for one in lesson.numbers]
        for view in self.views:
            view.asked.connect(self._course.show)
            self._lines.addWidget(view)

    def refresh(self) -> None:
        """Show what has come out until now."""
        course, lesson = self._course, self.lesson
        if not self.views:  # the list is shown, and no lesson was chosen yet
            return
        there = course.lesson == lesson
        tried = there and course.tried
        self.go.setText(self.tr("Try it") if there else self.tr("Open its model"))
        self.go.setEnabled(not tried)
        self.back.setVisible(tried)
        self.state.setText(self._state(there=there, tried=tried))
        for view, line in zip(self.views, course.lines(lesson), strict=True):
            view.show_line(line)
        _fill(self.printed, course.printed(lesson))

    def _state(self, *, there: bool, tried: bool) -> str:
        lesson = self.lesson
        if not there:
            return self.tr("{} with the input {}").format(lesson.model, lesson.given)
        if not tried:
            what = self.tr("ticks {}") if not lesson.changes else self.tr("adds the edit to {}")
            return self.tr("Try it {}.").format(what.format(lesson.hooked))
        if len(lesson.changes) > 1:
            return self.tr("The edits are in the list Edits; without them and with them are two columns.")
        if lesson.changes:
            return self.tr("The edit is in the list Edits; without it and with it are two columns.")
        return self.tr("{} is ticked.").format(lesson.hooked)

    def _on_go(self) -> None:
        if self._course.lesson == self.lesson:
            self._course.try_it()
        else:
            self._course.open(self.lesson)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.lesson.code)
        self.copied.setText(self.tr("Copied"))
        QTimer.singleShot(TICK_MS, self.copied, lambda: self.copied.setText(""))


def _text(name: str) -> QTextEdit:
    made = QTextEdit()
    made.setReadOnly(True)
    made.setAcceptRichText(False)
    made.setLineWrapMode(QTextEdit.LineWrapMode.NoWrap)
    made.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    made.setFont(font("mono", 11))
    made.setAccessibleName(name)
    made.setTabChangesFocus(True)
    return made


def _fill(view: QTextEdit, text: str) -> None:
    """Show a text in full height."""
    if text == view.toPlainText() and view.minimumHeight():
        return
    view.setPlainText(text.rstrip("\n"))
    bar = view.horizontalScrollBar().sizeHint().height()
    view.setFixedHeight(math.ceil(view.document().size().height()) + bar + 4)
