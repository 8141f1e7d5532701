"""The lesson that is being tried: what is opened for it, what is set, and what has come out until now."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from hookviewer.gui.edit_choice import EditChoice
from hookviewer.gui.editing import ListedEdit
from hookviewer.gui.opening import Opening
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.session import Session
from hookviewer.gui.state import InputItem, Message, Shown
from hookviewer.gui.tutorial_numbers import Line, lines
from hookviewer.kinds import Kind
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording
from hookviewer.tutorials import Change, Evaluated, Lesson, Number, evaluated

LANE = "lesson"


def choice_of(change: Change) -> EditChoice:
    """Return a change of a lesson as the form of an edit would give it."""
    index = list(change.channels) or None
    return EditChoice(
        change.path, change.operation, change.kind, change.numbers, channels=change.channels, index=index
    )


class Course(QObject):
    """Opens the teaching models, sets and takes back what lessons try; the session does all the rest."""

    changed = Signal()

    def __init__(self, session: Session, opening: Opening, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._opening = session, opening
        self.lesson: Lesson | None = None
        """The lesson whose model is open."""
        self._asked: Lesson | None = None
        self._given: set[str] = set()
        self._torch: dict[str, Evaluated] = {}
        opening.opened.connect(self._on_opened)
        session.inputs_changed.connect(self._on_inputs_changed)
        for signal in (session.runs_changed, session.plan_changed, session.inputs_changed):
            signal.connect(self.changed)
        for signal in (session.settings_changed, session.editing.changed):
            signal.connect(self.changed)
        session.run_finished.connect(self._on_run_finished)

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, lesson: Lesson) -> None:
        """Open the model of a lesson with its input alone, its target and its ticks."""
        session = self._session
        for item in [one for one in session.inputs if one.input.spec in self._given]:
            session.take_off(item.number)
        session.tick_inputs(False)
        self._asked = lesson
        self._given.add(lesson.given)
        self._opening.open(lesson.model, inputs=[lesson.given])

    def _on_opened(self) -> None:
        """Set up the lesson whose model it is; any other model is the end of a lesson."""
        session, before = self._session, self.lesson
        asked, self._asked, self.lesson = self._asked, None, None
        if asked is not None and session.card is not None and session.card.spec == asked.model:
            self.lesson = asked
            kinds = frozenset({Kind.OUTPUT, Kind.GRAD_OUTPUT}) | asked.kinds
            session.set_settings(target=asked.target, mode="eval")
            session.set_plan(HookPlan(frozenset(asked.ticks), kinds))
            session.select(path=asked.ticks[0], shown=Shown.OUTPUT, channel=0, cell=None)
        elif before is not None:
            session.set_plan(session.plan.with_kinds(session.plan.kinds - before.kinds))
        self.changed.emit()

    def _on_inputs_changed(self) -> None:
        """Look at the input of the lesson when it has come."""
        current = self._session.current_input
        if self.lesson is None or (current is not None and current.ticked):
            return
        own = [item for item in self._session.ticked_inputs if item.input.spec == self.lesson.given]
        if own:
            self._session.select(input=own[0].number)

    # -- trying ----------------------------------------------------------------------------------------------

    @property
    def tried(self) -> bool:
        """Whether the hook of the lesson is set."""
        if self.lesson is None or self.lesson.hooked not in self._session.plan.paths:
            return False
        return all(one in [edit.choice for edit in self._edits()] for one in self._choices())

    def try_it(self) -> None:
        """Set the hook of the lesson by the means of the window: a tick, edits, a kind."""
        lesson, session = self.lesson, self._session
        if lesson is None:
            return
        session.tick([lesson.hooked], True)
        there = [edit.choice for edit in self._edits()]
        for choice in self._choices():
            if choice not in there:
                session.editing.add(choice)
        session.select(path=lesson.hooked, shown=Shown(lesson.shown))
        if not session.auto:
            session.run()

    def take_back(self) -> None:
        """Take the hook of the lesson away again."""
        if self.lesson is None:
            return
        editing = self._session.editing
        editing.set_listed([one for one in editing.listed if one.choice not in self._choices()])
        if not self.lesson.changes:
            self._session.tick([self.lesson.hooked], False)
            self._session.select(path=self.lesson.ticks[0], shown=Shown.OUTPUT)

    def _choices(self) -> list[EditChoice]:
        return [choice_of(one) for one in self.lesson.changes] if self.lesson is not None else []

    def _edits(self) -> Sequence[ListedEdit]:
        return [one for one in self._session.editing.listed if one.on]

    # -- numbers ---------------------------------------------------------------------------------------------

    def begin(self, lesson: Lesson) -> None:
        """Let torch run the code of a lesson now, unless that takes time: then after the window's own run."""
        if not lesson.takes_time:
            self._evaluate(lesson)

    def _on_run_finished(self) -> None:
        if self.lesson is not None:
            self._evaluate(self.lesson)
        self.changed.emit()

    def _evaluate(self, lesson: Lesson) -> None:
        if lesson.name in self._torch:
            return

        def work(job: Job) -> Evaluated:
            return evaluated(lesson)

        self._session.runner.submit(
            LANE, work, on_result=partial(self._keep, lesson.name), on_failure=self._on_failed
        )

    def _keep(self, name: str, given: Evaluated) -> None:
        self._torch[name] = given
        self.changed.emit()

    def _on_failed(self, failure: Failure) -> None:
        what = self.tr("The code of the lesson did not run to its end.")
        self._session.tell(Message("error", what, failure.sentence, failure.report))

    def printed(self, lesson: Lesson) -> str:
        """Return what the code of a lesson prints; nothing before it has run."""
        given = self._torch.get(lesson.name)
        return given.printed if given is not None else ""

    def lines(self, lesson: Lesson) -> list[Line]:
        """Return the numbers of a lesson as the window and torch have them."""
        plain, changed = self._recordings() if lesson == self.lesson else (None, None)
        given = self._torch.get(lesson.name)
        waits = self.tr("Running …") if self._session.running else self.tr("Press Try it.")
        waits = waits if lesson == self.lesson else self.tr("Open the model first.")
        return lines(lesson, plain, changed, given, waits)

    def _recordings(self) -> tuple[Recording | None, Recording | None]:
        """Return what the lesson's input gave in the plain way and with the edits of the list."""
        session = self._session
        item = next((one for one in session.ticked_inputs if not one.variant.number), None)
        if item is None:
            return None, None
        pair = session.editing.pair(item.listed)
        return self._recording(item), self._recording(pair[1]) if pair is not None else None

    def _recording(self, item: InputItem) -> Recording | None:
        run = self._session.runs.get(item.number)
        wanted = item.variant.settings(self._session.settings)
        if run is None or dataclasses.replace(run.settings, budget=wanted.budget) != wanted:
            return None
        return run.recording

    def show(self, number: Number) -> None:
        """Look at a number where it stands in the window."""
        shown = {
            Kind.GRAD_OUTPUT: Shown.GRADIENT,
            Kind.GRAD_INPUT: Shown.GRADIENT,
            Kind.ATTRIBUTION: Shown.GRAD_CAM,
        }.get(number.kind, Shown.OUTPUT)
        side = "input" if number.kind is Kind.GRAD_INPUT else "output"
        self._session.select(path=number.path, shown=shown, side=side)
