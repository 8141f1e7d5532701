"""Reads the weights of the selected module on the model thread, and runs the model for their gradients.

Both are those of the current input's variant: its model, its settings and its edits.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from hookviewer.gui import parameters
from hookviewer.gui.parameters import Parameters
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.state import InputItem, Settings, Shown
from hookviewer.gui.variant_lane import Runnable, change_of
from hookviewer.kinds import Kind
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE, GRADIENT_LANE = "weights", "gradients of weights"


class ParameterLane:
    """Keeps `Look.parameters` those of the selected module while weights are shown.

    A gradient costs a full backward pass, so it is made only where it is asked for (`Look.beside`).
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._reading: tuple[object, ...] | None = None
        self._running: tuple[object, ...] | None = None
        self._made: tuple[object, ...] | None = None
        session.model_changed.connect(self._forget)
        for signal in (
            session.selection_changed,
            session.look_changed,
            session.settings_changed,
            session.inputs_changed,
        ):
            signal.connect(self.refresh)

    def refresh(self) -> None:
        """Read what is looked at and was not read yet."""
        session = self._session
        selection = session.selection
        if selection.shown is not Shown.WEIGHTS or session.model is None:
            return
        item = session.current_input
        settings = session.settings if item is None else item.variant.settings(session.settings)
        known, source = session.look.parameters, (change_of(settings), settings.matches)
        if (known.path, known.source) != (selection.path, source):
            self._read(selection.path, item, settings, source)
        elif session.look.beside:
            self._run(selection.path, item, settings)

    def _forget(self) -> None:
        """Another model, or the same one read again: what is in hand is not its own."""
        for lane in (LANE, GRADIENT_LANE):
            self._session.runner.cancel(lane, drop=True)
        self._reading = self._running = self._made = None
        if self._session.look.parameters.path is not None:
            self._session.set_look(parameters=Parameters())
        self.refresh()

    def _read(
        self, path: str, item: InputItem | None, settings: Settings, source: tuple[object, ...]
    ) -> None:
        session, asked = self._session, (path, source)
        if self._reading == asked:
            return
        self._reading = asked
        model, models = session.model, session.variant_models
        assert model is not None
        session.runner.cancel(GRADIENT_LANE, drop=True)
        self._running = self._made = None

        def work(job: Job) -> Recording:
            runnable = Runnable(model) if item is None else models.runnable(model, settings, item.input)
            return values_of(runnable, path, settings.budget)

        arrived = partial(self._on_read, path, source, variant_name(item, source))
        session.runner.submit(
            LANE, work, on_result=arrived, on_failure=partial(self._on_read_failed, arrived, path)
        )

    def _on_read(self, path: str, source: tuple[object, ...], variant: str, values: Recording) -> None:
        self._reading = None
        self._session.set_look(parameters=Parameters(path, values, source=source, variant=variant))

    def _on_read_failed(self, arrived: partial[None], path: str, failure: Failure) -> None:
        arrived(parameters.unread(path, failure.sentence))

    def _run(self, path: str, item: InputItem | None, settings: Settings) -> None:
        if item is None:
            self._say(_tr("A gradient needs an input: add one first (Ctrl+I)."))
            return
        if settings.target.rule == "none":
            self._say(_tr("A gradient needs a target: choose one in the run bar."))
            return
        wanted = (path, item.number, item.input, settings)
        if wanted in (self._running, self._made):
            return
        self._running = wanted
        self._say(_tr("Running …"), fresh=True)
        self._submit(path, item, settings, wanted)

    def _submit(self, path: str, item: InputItem, settings: Settings, wanted: tuple[object, ...]) -> None:
        session, given = self._session, item.input
        model, models = session.model, session.variant_models
        assert model is not None
        plan = HookPlan(frozenset({path}), frozenset({Kind.PARAM_GRAD}))

        def work(job: Job) -> Recording:
            runnable = models.runnable(model, settings, given)
            renaming = runnable.renaming
            found = runnable.capture(
                given,
                plan if renaming is None else renaming.plan(plan),
                target=settings.target.target(),
                edits=settings.edits,
                mode=settings.mode,
                seed=settings.seed,
                device=settings.device,
                budget=settings.budget,
                cancelled=job.cancelled,
            )
            return found if renaming is None else renaming.recording(found, plan)

        session.runner.submit(
            GRADIENT_LANE,
            work,
            on_result=partial(self._on_run, wanted, item.number),
            on_failure=partial(self._on_run_failed, wanted),
        )

    def _on_run(self, wanted: tuple[object, ...], number: int, found: Recording) -> None:
        self._running, self._made = None, wanted
        made = dataclasses.replace(self._session.look.parameters, number=number, gradients=found, why="")
        self._session.set_look(parameters=made)

    def _on_run_failed(self, wanted: tuple[object, ...], failure: Failure) -> None:
        self._running, self._made = None, wanted
        self._say(failure.sentence, fresh=True)

    def _say(self, why: str, *, fresh: bool = False) -> None:
        """Give the reason for the gradient that is missing."""
        before = self._session.look.parameters
        if before.why != why or (fresh and before.gradients is not None):
            made = dataclasses.replace(before, gradients=None, number=None, why=why)
            self._session.set_look(parameters=made)


def values_of(runnable: Runnable, path: str, budget: int) -> Recording:
    """Return the weights of a layer, of another model those of the layer that stands beside it."""
    renaming = runnable.renaming
    if renaming is None:
        return parameters.read(runnable.model, path, budget)
    there = renaming.there(path)
    found = Recording({}) if there is None else parameters.read(runnable.model, there, budget)
    return renaming.recording(found, HookPlan(frozenset({path}), frozenset({Kind.PARAM})))


def variant_name(item: InputItem | None, source: tuple[object, ...]) -> str:
    """Return the name of the variant whose weights are not those of the open model."""
    return "" if item is None or source == (change_of(Settings()), ()) else item.variant.name


def _tr(text: str) -> str:
    return QCoreApplication.translate("ParameterLane", text)
