"""Maps of importance that need runs of their own: what lacks, how far it is, and where it goes."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from hookviewer.gui import numbers
from hookviewer.gui.attributing import Advance, Answers, Step, attribute_steps, can_be_computed_from
from hookviewer.gui.cam_choice import method_of
from hookviewer.gui.cam_records import key_of
from hookviewer.gui.columns import MOST_COLUMNS
from hookviewer.gui.method_words import weight_of
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.state import InputItem, Message, Run, Shown
from hookviewer.target_choice import TargetChoice

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE = "attribution"
TOLD_EVERY_S = 0.2
UNFINISHED = "Stopped after"
"""How the note of a map begins that was not computed to its end."""


class AttributionLane:
    """Computes what the chosen methods and targets lack, where `auto` is on, and keeps it in the runs.

    `session.attributions_changed` tells that it began, ended or is further. A run goes first: what was
    begun is begun again after it.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.progress: Advance | None = None
        self.working = False
        self._halted = False
        self._told = 0.0
        session.run_started.connect(self.make_way)
        session.model_changed.connect(self.make_way)
        session.run_finished.connect(self.look_again)
        for signal in (
            session.look_changed,
            session.selection_changed,
            session.plan_changed,
            session.inputs_changed,
            session.settings_changed,
            session.runs_changed,
        ):
            signal.connect(self.look_again)

    # -- what is wanted --------------------------------------------------------------------------------------

    def lacking(self) -> list[Step]:
        """Return what has to be computed for what is shown, quick ones first."""
        session = self._session
        if session.selection.shown is not Shown.GRAD_CAM or session.model is None:
            return []
        found = []
        for item in session.ticked_inputs[:MOST_COLUMNS]:
            run = session.runs.get(item.number)
            if run is not None and self._holds(item, run):
                found += self._steps(item, run)
        return sorted(found, key=lambda step: max(weight_of(method_of(name)) for name in step.methods))

    def _holds(self, item: InputItem, run: Run) -> bool:
        whole = not run.growing and run.error is None and not run.stopped
        return whole and run.settings == item.variant.settings(self._session.settings)

    def _steps(self, item: InputItem, run: Run) -> list[Step]:
        choice, found = self._session.look.cam, []
        for target in choice.every_target:
            own = [name for name in choice.methods if not can_be_computed_from(name, target)]
            shared = tuple(name for name in own if can_be_computed_from(name, None))
            each = [shared] if shared else []
            for names in (*each, *((name,) for name in own if name not in shared)):
                step = self._step(item, run, target, names)
                if step is not None:
                    found.append(step)
        return found

    def _step(
        self, item: InputItem, run: Run, target: TargetChoice | None, names: tuple[str, ...]
    ) -> Step | None:
        """Return what of some methods lacks in a run, None where nothing does."""
        paths = self._layers() if any(method_of(name).of_layers for name in names) else frozenset()
        step = Step(item, run.settings, target, names, paths, run.recording)
        lacking = [key for key in step.wanted() if not self._is_there(run, key.path, key.leaf)]
        if not lacking:
            return None
        return dataclasses.replace(step, paths=frozenset(key.path for key in lacking) & paths)

    def _layers(self) -> frozenset[str]:
        session = self._session
        return session.plan.paths | ({session.selection.path} - {""})

    def _is_there(self, run: Run, path: str, leaf: str) -> bool:
        key = key_of(run.recording, path, leaf)
        record = run.recording.records.get(key)
        if record is not None:
            return self._halted or not any(note.startswith(UNFINISHED) for note in record.notes)
        return key in run.recording.absent

    # -- computing it ----------------------------------------------------------------------------------------

    def look_again(self) -> None:
        """Compute what lacks, unless that is not wanted without being asked."""
        session = self._session
        if session.running or session.runner.closed:
            return
        if self.working and not self._is_wanted():
            self.make_way()
        if self.working or self._halted or not session.auto:
            return
        steps = self.lacking()
        if steps:
            self._start(steps)

    def compute(self) -> None:
        """Compute what lacks now, whatever was stopped before."""
        self._halted = False
        steps = self.lacking()
        if steps and not self.working and not self._session.running:
            self._start(steps)

    def stop(self) -> None:
        """Stop within one layer and keep what is done; nothing starts again until it is asked for."""
        if self.working:
            self._halted = True
            self._session.runner.cancel(LANE)

    def make_way(self) -> None:
        """Stop at once: a run is wanted, or another model is there."""
        self._session.runner.cancel(LANE, drop=True)
        self._end()

    def resume(self) -> None:
        """Forget that it was stopped: everything is run anew, or something else was chosen."""
        self._halted = False

    def words(self, number: int, leaf: str) -> str:
        """Return what to say of a map that is not there yet: how far it is, where it is being computed."""
        if not self.working:
            stopped = _tr("Stopped. Press Compute in the list Methods to go on.")
            return stopped if self._halted else _tr("Not computed yet. Press Compute in the list Methods.")
        advance = self.progress
        if advance is None or advance.step.item.number != number or leaf not in advance.step.leaves:
            return _tr("Waiting …")
        said = [_tr("{} of {} runs").format(advance.done, advance.total)] if advance.total > 1 else []
        if advance.total > 1 and advance.left is not None:
            said.append(_tr("{} left").format(numbers.seconds(advance.left)))
        return "\n".join([_tr("Computing …"), ", ".join(said)]) if said else _tr("Computing …")

    @property
    def line(self) -> str:
        """What is being computed, in one line; nothing where nothing is."""
        advance = self.progress
        if not self.working or advance is None:
            return ""
        said = [advance.step.item.title, advance.step.title]
        if advance.total > 1:
            said.append(_tr("{} of {}").format(advance.done, advance.total))
            said += [] if advance.left is None else [_tr("{} left").format(numbers.seconds(advance.left))]
        return "   ".join(said)

    def _start(self, steps: list[Step]) -> None:
        session, model = self._session, self._session.model
        assert model is not None
        self.working, self.progress = True, None
        models = session._run_lane.models

        def work(job: Job) -> bool:
            return attribute_steps(job, model, steps, models)

        session.runner.submit(
            LANE, work, on_report=self._on_report, on_result=self._on_done, on_failure=self._on_failed
        )
        session.attributions_changed.emit()

    def _is_wanted(self) -> bool:
        """Return whether what is being computed is still asked for."""
        advance, session = self.progress, self._session
        if advance is None:
            return True
        step, choice = advance.step, session.look.cam
        there = session.runs.get(step.item.number)
        ticked = any(item.number == step.item.number for item in session.ticked_inputs)
        chosen = step.target in choice.every_target and set(step.methods) & set(choice.methods)
        same = there is not None and there.settings == step.settings
        return bool(chosen) and ticked and same and session.selection.shown is Shown.GRAD_CAM

    def _on_report(self, report: Advance | Answers) -> None:
        if isinstance(report, Answers):
            self._keep(report)
            return
        begins = self.progress is None or self.progress.step is not report.step
        self.progress = report
        now = time.monotonic()
        if begins or now - self._told >= TOLD_EVERY_S:
            self._told = now
            self._session.attributions_changed.emit()

    def _keep(self, answers: Answers) -> None:
        session = self._session
        run = session.runs.get(answers.number)
        if run is None:
            return  # it was taken off the list in the meantime
        new = dataclasses.replace(run.recording, records=answers.records, absent=answers.absent)
        session.store_run(
            answers.number,
            dataclasses.replace(
                run,
                recording=run.recording.merged(new),
                summaries={**run.summaries, **answers.summaries},
            ),
        )

    def _on_done(self, stopped: bool) -> None:
        self._end()
        if stopped:
            self._tell_stopped()
        self.look_again()  # something else may have been chosen meanwhile

    def _on_failed(self, failure: Failure) -> None:
        self._end()
        if failure.report:
            self._halted = True
            self._session.tell_failure(_tr("The maps could not be computed."), failure)
        elif self._halted:
            self._tell_stopped()

    def _tell_stopped(self) -> None:
        now = _tr("What was computed until then is shown; Compute in the list Methods goes on.")
        self._session.tell(Message("info", _tr("Stopped."), now))

    def _end(self) -> None:
        if self.working:
            self.working, self.progress = False, None
            self._session.attributions_changed.emit()


def _tr(text: str) -> str:
    return QCoreApplication.translate("Methods", text)
