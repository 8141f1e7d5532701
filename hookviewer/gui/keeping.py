"""The memory of all runs: what was looked at longest ago is dropped, and recorded again when looked at."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from hookviewer.gui.state import InputItem, Run
from hookviewer.kinds import Key
from hookviewer.recording import Record, statistics
from hookviewer.snapshot import OVER_BUDGET

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

DROPPED = "It was dropped to keep all runs within the memory limit, and is recorded again when looked at."
"""Why there are no values of a layer that nobody has looked at for long."""

GROWING_S = 0.2
"""How often a run that goes on is looked at."""

LANE = "keeping"

Place = tuple[int, Key]


class Keeping(QObject):
    """Holds the runs of a session within its budget, while they are made too; what is looked at stays."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._looked: dict[str, None] = {}
        session.selection_changed.connect(self._on_selection_changed)
        session.run_finished.connect(self._on_run_finished)
        session.runs_changed.connect(self.keep_within)
        self._looked_at = 0.0
        session.run_grew.connect(self._on_run_grew)

    def lacking(self, item: InputItem) -> frozenset[str]:
        """Return the layer that is looked at where a run has no values of it that there is room for."""
        path, run = self._session.selection.path, self._session.runs.get(item.number)
        return frozenset({path}) if run is not None and comes_back(run, path) else frozenset()

    def keep_within(self) -> None:
        """Drop values until all runs together are within the budget."""
        session = self._session
        if sum(run.recording.nbytes for run in session.runs.values()) <= session.settings.budget:
            return
        ticked = {item.number for item in session.ticked_inputs}
        order = {path: place for place, path in enumerate(self._looked)}
        found = list(held(session.runs, session.selection.path))
        found.sort(key=lambda place: (place[0] in ticked, order.get(place[1].path, -1)))
        gone = too_much(session.runs, found, session.settings.budget)
        if gone:
            session.set_runs(without(session.runs, gone))

    def _on_run_finished(self) -> None:
        """Go on when all others have heard of the end of this run, and without a timer.

        Python may end a session on any thread, where a timer of Qt cannot be ended.
        """
        if any(map(self.lacking, self._session.ticked_inputs)):
            runner = self._session.runner
            runner.submit(LANE, lambda job: None, on_result=lambda _: self._record_again())

    def _record_again(self) -> None:
        """Record what is looked at where the other layers of the run have left it no room."""
        session = self._session
        if session.auto and not session.running and any(map(self.lacking, session.ticked_inputs)):
            session.run_missing()

    def _on_run_grew(self, paths: frozenset[str]) -> None:
        now = time.monotonic()
        if now - self._looked_at > GROWING_S:
            self._looked_at = now
            self.keep_within()

    def _on_selection_changed(self) -> None:
        path = self._session.selection.path
        self._looked.pop(path, None)
        self._looked[path] = None


def comes_back(run: Run, path: str) -> bool:
    """Return whether the values of a layer were dropped, or had no room in the run, and are recorded again.

    Those of a layer that is too large for the budget by itself are not.
    """
    if run.error is not None or run.stopped:
        return False
    path = run.recording.aliases.get(path, path)
    records = [record for record in run.recording.records.values() if record.key.path == path]
    if any(record.missing == DROPPED for record in records):
        return True
    if not any(record.missing is not None and record.missing.startswith(OVER_BUDGET) for record in records):
        return False
    return sum(math.prod(one.shape) * one.dtype.itemsize for one in records) <= run.settings.budget


def held(runs: Mapping[int, Run], looked: str) -> Iterator[Place]:
    """Yield the records that could be dropped: all but those of the layer that is looked at.

    A run that goes on keeps its own, which would only come again with it.
    """
    for number, run in runs.items():
        if run.growing:
            continue
        here = run.recording.aliases.get(looked, looked)
        yield from ((number, key) for key in run.recording if key.path != here and key.path)


def too_much(runs: Mapping[int, Run], order: Sequence[Place], budget: int) -> frozenset[Place]:
    """Return the first places in `order` without which all runs are within the budget."""
    over = sum(run.recording.nbytes for run in runs.values()) - budget
    gone: set[Place] = set()
    for number, key in order:
        if over <= 0:
            break
        size = runs[number].recording.records[key].nbytes
        if size:
            gone.add((number, key))
            over -= size
    return frozenset(gone)


def without(runs: Mapping[int, Run], gone: frozenset[Place]) -> dict[int, Run]:
    """Return the runs with only statistics of what is gone."""
    numbers = {number for number, _ in gone}
    return {
        number: _run_without(run, {key for one, key in gone if one == number}) if number in numbers else run
        for number, run in runs.items()
    }


def _run_without(run: Run, gone: set[Key]) -> Run:
    records = {
        key: _dropped(record) if key in gone else record for key, record in run.recording.records.items()
    }
    return dataclasses.replace(run, recording=dataclasses.replace(run.recording, records=records))


def _dropped(record: Record) -> Record:
    return dataclasses.replace(record, kept=None, summary=statistics(record), missing=DROPPED)
