"""Runs the model once more with a plain hook, for a layer whose tensor is overwritten in place later."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING

from hookviewer.errors import HookViewerError
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.shown_maps import shown_record
from hookviewer.gui.state import InputItem, Run, Shown
from hookviewer.hooks.plain import missing, reference_to
from hookviewer.kinds import GRADIENTS, Key
from hookviewer.plan import HookPlan
from hookviewer.recording import Record

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE = "plain hook"


class PlainLane:
    """Keeps `Run.plain` filled for the selected layer while `Look.plain` is on; once a run and layer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._asked: tuple[int, Key] | None = None
        for signal in (session.look_changed, session.selection_changed, session.run_finished):
            signal.connect(self.refresh)

    def refresh(self) -> None:
        """Ask for what the wall shows and nobody has asked for yet."""
        session = self._session
        if not session.look.plain or session.selection.shown is not Shown.OUTPUT or session.running:
            return
        item = next(iter(session.ticked_inputs), None)
        run = session.runs.get(item.number) if item is not None else None
        record = self._overwritten(run)
        if item is None or run is None or record is None or record.key in run.plain:
            return
        if self._asked != (item.number, record.key):
            self._ask(item, run, record)

    def _overwritten(self, run: Run | None) -> Record | None:
        if run is None:
            return None
        try:
            record = shown_record(run.recording, self._session.selection)
        except HookViewerError:
            return None  # the wall says why
        return record if record.overwritten_by and record.kept is not None else None

    def _ask(self, item: InputItem, run: Run, record: Record) -> None:
        session, settings = self._session, run.settings
        model, models = session.model, session.variant_models
        assert model is not None
        self._asked = (item.number, record.key)
        target = reference_to(record.key)

        def work(job: Job) -> Record:
            models.runnable(model, settings, item.input).capture(
                item.input,
                HookPlan(),
                target=target,
                edits=tuple(edit for edit in settings.edits if edit.kind not in GRADIENTS),
                mode=settings.mode,
                seed=settings.seed,
                device=settings.device,
                cancelled=job.cancelled,
            )
            return target.record(record)

        arrived = partial(self._on_made, item.number, run)
        session.runner.submit(
            LANE, work, on_result=arrived, on_failure=partial(self._on_failed, arrived, record)
        )

    def _on_made(self, number: int, run: Run, made: Record) -> None:
        self._asked = None
        now = self._session.runs.get(number)
        if now is not None and now.settings == run.settings:
            self._session.store_run(number, dataclasses.replace(now, plain={**now.plain, made.key: made}))
        self.refresh()

    def _on_failed(self, arrived: partial[None], record: Record, failure: Failure) -> None:
        arrived(missing(record, failure.sentence))
