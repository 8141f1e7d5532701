"""The values that edits take from other inputs: the same tensor of a run without edits."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from hookviewer.errors import HookViewerError
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.state import Run, Settings
from hookviewer.hooks import capture
from hookviewer.inputs import Input
from hookviewer.kinds import Kind
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE = "values of edits"


class Wanted(NamedTuple):
    """A tensor of one input, under settings that decide its values."""

    given: int
    path: str
    kind: Kind
    device: str
    mode: str
    seed: int


class EditValues:
    """Keeps recordings of one tensor each: out of the runs of the session, else from a run of its own.

    The same tensor under the same settings has the same values, so it is taken once.
    """

    def __init__(self, session: Session, arrived: Callable[[], None]) -> None:
        self._session, self._arrived = session, arrived
        self._kept: dict[Wanted, tuple[Input, Recording]] = {}
        self._failed: dict[Wanted, str] = {}
        self._asked: tuple[Wanted, ...] = ()

    def forget(self) -> None:
        """Forget everything: it is of another model."""
        self._session.runner.cancel(LANE, drop=True)
        self._kept, self._failed, self._asked = {}, {}, ()

    def wanted(self, number: int, path: str, kind: Kind) -> Wanted:
        """Return what is wanted of a listed input; raise `HookViewerError` where it is not listed."""
        settings = self._session.settings
        for item in self._session.inputs:
            if item.number == number:
                return Wanted(id(item.input), path, kind, settings.device, settings.mode, settings.seed)
        raise HookViewerError("The input that its values come from is not listed any more: edit it again.")

    def get(self, number: int, wanted: Wanted) -> Recording | None:
        """Return the recording; None where it is to be made first. Raises the sentence of a failure."""
        if wanted in self._failed:
            raise HookViewerError(self._failed[wanted])
        if wanted not in self._kept:
            found = _taken(self._session.runs.get(number), self._session.settings, wanted)
            if found is None:
                return None
            self._kept[wanted] = (self._session.item(number).input, found)
        return self._kept[wanted][1]

    def try_again(self) -> None:
        """Forget what failed."""
        self._failed = {}

    def record(self, lacking: Iterable[Wanted]) -> None:
        """Run the model for what is lacking; it is told when it is there."""
        asked = tuple(dict.fromkeys(lacking))
        if not asked or asked == self._asked:
            return
        self._asked = asked
        session, model, settings = self._session, self._session.model, self._session.settings
        assert model is not None
        inputs = {id(item.input): item.input for item in session.inputs}

        def work(job: Job) -> list[Recording]:
            return [
                capture(
                    model,
                    inputs[one.given].args,
                    HookPlan(frozenset({one.path}), frozenset({one.kind})),
                    kwargs=inputs[one.given].kwargs,
                    mode=one.mode,
                    seed=one.seed,
                    device=one.device,
                    budget=settings.budget,
                    cancelled=job.cancelled,
                )
                for one in asked
            ]

        def take(made: list[Recording]) -> None:
            self._asked = ()
            for one, recording in zip(asked, made, strict=True):
                if _whole(recording, one):
                    self._kept[one] = (inputs[one.given], _only(recording, one))
                else:
                    self._failed[one] = _why_not(recording, one)
            self._arrived()

        def fail(failure: Failure) -> None:
            self._asked = ()
            self._failed |= dict.fromkeys(asked, failure.sentence)
            self._arrived()

        session.runner.submit(LANE, work, on_result=take, on_failure=fail)


def _taken(run: Run | None, settings: Settings, wanted: Wanted) -> Recording | None:
    """Return the tensor out of a run of the session that was made in the same way."""
    if run is None or run.growing or run.error is not None or run.stopped or run.settings.edits:
        return None
    made = dataclasses.replace(run.settings, target=settings.target, budget=settings.budget)
    if made != settings or not _whole(run.recording, wanted):
        return None
    return _only(run.recording, wanted)


def _only(recording: Recording, wanted: Wanted) -> Recording:
    own = recording.aliases.get(wanted.path, wanted.path)
    records = {key: one for key, one in recording.items() if key[:2] == (own, wanted.kind)}
    return dataclasses.replace(recording, records=records, absent={}, output=None)


def _whole(recording: Recording, wanted: Wanted) -> bool:
    """Whether every call was recorded with its values."""
    calls = recording.calls(wanted.path)
    found = [recording.leaves(wanted.path, wanted.kind, call.number) for call in calls]
    records = _only(recording, wanted).records.values()
    return bool(found) and all(found) and all(one.kept is not None for one in records)


def _why_not(recording: Recording, wanted: Wanted) -> str:
    records = _only(recording, wanted).records.values()
    missing = next((one.missing for one in records if one.kept is None and one.missing), "")
    reason = recording.never_called.get(wanted.path) or missing or next(iter(recording.absent.values()), "")
    return f"{wanted.path or 'The model'} has no {wanted.kind} there to take. {reason}".strip()
