"""The runs of the session: which one goes on, what it will bring, and what is shown while it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from hookviewer.gui import runs
from hookviewer.gui.input_offers import offers_after
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.running import Arrived, run_inputs
from hookviewer.gui.state import InputItem, Message, Question, Run, RunError, Settings
from hookviewer.gui.variant_lane import VariantModels, change_of
from hookviewer.kinds import GRADIENTS, Kind
from hookviewer.plan import HookPlan
from hookviewer.variants import Change

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE, MODELS = "run", "models"


class RunLane:
    """Starts a run, which supersedes the one before, and stores what it brings in the session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._fresh = self._lists_calls = False
        self._kinds: frozenset[Kind] = frozenset()
        self._pending: dict[int, Run] = {}
        """What is shown of the inputs that are being run: an earlier run that still holds, growing."""
        self._bringing: dict[int, frozenset[str]] = {}
        self._settings: dict[int, Settings] = {}
        self.models = VariantModels()
        """The models of variants, for the model thread."""

    def drop_models(self) -> None:
        """Let go of the models that no variant needs any more."""
        session, models, needed = self._session, self.models, self._needed()
        model = session.model
        if models.count:
            session.runner.submit(MODELS, lambda job: models.keep(model, needed))

    def _needed(self) -> set[Change]:
        usual = self._session.settings
        return {change_of(one.settings(usual)) for one in self._session.variants}

    def brings(self, lacking: Mapping[int, frozenset[str]]) -> bool:
        """Return whether the run that goes on will bring all that is lacking, by input."""
        session = self._session
        if not session.running:
            return False
        usual = session.settings
        wanted = {item.number: item.variant.settings(usual) for item in session.items}
        return (
            all(
                paths <= self._bringing.get(number, frozenset()) and self._settings[number] == wanted[number]
                for number, paths in lacking.items()
                if paths
            )
            and (self._lists_calls or not session.calls.on)
            and session.wanted_kinds <= self._kinds
        )

    def start(self, items: Sequence[InputItem], paths: frozenset[str], *, fresh: bool) -> None:
        """Run the model on `items`; a fresh run replaces what was recorded, others add to it."""
        session = self._session
        if session.model is None:
            session.tell(Message("warn", _tr("There is no model."), _tr("Open one first (Ctrl+O).")))
            return
        if not items:
            now = _tr("Tick one in the list at the left, or add one (Ctrl+I).")
            session.tell(Message("warn", _tr("No input is ticked."), now))
            return
        model = session.model
        settings = {item.number: item.variant.settings(session.settings) for item in items}
        names = (session.card.class_names if session.card else None) or ()
        expected = runs.calls_expected(session.runs.values())
        old = {item.number: session.runs.get(item.number) for item in items}
        meanwhile = {number: runs.shown_meanwhile(run, settings[number]) for number, run in old.items()}
        planned = [
            (item, self._plan(old[item.number], paths, how, fresh=fresh), how)
            for item, how in zip(items, settings.values(), strict=True)
        ]
        self._pending = {number: run for number, run in meanwhile.items() if run is not None}
        self._bringing = {item.number: paths for item in items}
        self._fresh, self._settings, self._lists_calls = fresh, settings, session.calls.on
        self._kinds = session.wanted_kinds
        session.set_running(True)
        models, needed = self.models, self._needed()

        def work(job: Job) -> bool:
            models.keep(model, needed)
            return run_inputs(job, model, planned, names, expected, models)

        session.runner.submit(
            LANE, work, on_report=self._on_report, on_result=self._on_done, on_failure=self._on_failed
        )

    def drop(self) -> None:
        """Stop the run and forget what it would have brought."""
        self._session.runner.cancel(LANE, drop=True)
        self._session.set_running(False)

    def _plan(self, run: Run | None, paths: frozenset[str], settings: Settings, *, fresh: bool) -> HookPlan:
        """Return what to record on one input; the first time, all other modules are summarised."""
        session = self._session
        kinds = session.wanted_kinds
        if settings.target.rule == "none":
            kinds = kinds - GRADIENTS
        if session.tree is None or (not fresh and runs.ended_well(run, settings)):
            return session.calls.asked(HookPlan(paths, kinds), run)
        every = frozenset(node.path for node in session.tree.walk())
        return session.calls.asked(HookPlan(paths, kinds, every), run)

    def _on_report(self, report: Arrived | tuple[int, Run]) -> None:
        number = report.progress.input if isinstance(report, Arrived) else report[0]
        if all(item.number != number for item in self._session.items):
            return  # it was taken off the list while it was run
        if isinstance(report, Arrived):
            if report.records:
                self._grow(report)
            self._session.run_progressed.emit(report.progress)
            return
        run = report[1]
        before = self._pending.pop(number, None)
        self._session.store_run(number, run if self._fresh and not run.stopped else runs.joined(before, run))
        if run.error is not None:
            self._tell_error(number, run.error)

    def _grow(self, arrived: Arrived) -> None:
        number = arrived.progress.input
        run = self._pending[number] = runs.grown(self._pending.get(number), arrived, self._settings[number])
        self._session.grow_run(number, run, {record.key.path for record in arrived.records})

    def _tell_error(self, number: int, error: RunError) -> None:
        if error.decision is not None:
            if error.decision.sha256 not in self._session.varying.refused:
                self._session.question_asked.emit(Question(error.decision, None))
            return
        what = _tr("{} was not run to the end.").format(self._session.item(number).title)
        offers = offers_after(self._session, self._session.item(number), error)
        self._session.tell(Message("error", what, error.sentence, error.report, offers=offers))

    def _on_done(self, stopped: bool) -> None:
        if stopped:
            now = _tr("What was recorded until then is shown.")
            self._session.tell(Message("info", _tr("Stopped."), now))
        self._session.set_running(False)

    def _on_failed(self, failure: Failure) -> None:
        if failure.report or failure.error is not None:
            self._session.tell_failure(_tr("The run failed."), failure)
        self._session.set_running(False)


def _tr(text: str) -> str:
    return QCoreApplication.translate("RunLane", text)
