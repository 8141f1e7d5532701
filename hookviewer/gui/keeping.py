"""The memory of all runs: what was looked at longest ago is dropped, and recorded again when looked at."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from hookviewer.gui.state import InputItem, Run
from hookviewer.kinds import Key
from hookviewer.recording import Record, statistics

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

DROPPED = "It was dropped to keep all runs within the memory limit, and is recorded again when looked at."
"""Why there are no values of a layer that nobody has looked at for long."""

Place = tuple[int, Key]


class Keeping(QObject):
    """Holds the runs of a session within its budget; the layer that is looked at stays."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._looked: dict[str, None] = {}
        session.selection_changed.connect(self._on_selection_changed)
        session.run_finished.connect(self.keep_within)

    def lacking(self, item: InputItem) -> frozenset[str]:
        """Return the layer that is looked at where it was dropped from a run: it has to be recorded again."""
        path, run = self._session.selection.path, self._session.runs.get(item.number)
        if run is None:
            return frozenset()
        path = run.recording.aliases.get(path, path)
        records = run.recording.records.values()
        dropped = any(record.missing == DROPPED and record.key.path == path for record in records)
        return frozenset({self._session.selection.path}) if dropped else frozenset()

    def keep_within(self) -> None:
        """Drop values until all runs together are within the budget."""
        session = self._session
        ticked = {item.number for item in session.ticked_inputs}
        order = {path: place for place, path in enumerate(self._looked)}
        found = list(held(session.runs, session.selection.path))
        found.sort(key=lambda place: (place[0] in ticked, order.get(place[1].path, -1)))
        gone = too_much(session.runs, found, session.settings.budget)
        if gone:
            session.set_runs(without(session.runs, gone))

    def _on_selection_changed(self) -> None:
        path = self._session.selection.path
        self._looked.pop(path, None)
        self._looked[path] = None


def held(runs: Mapping[int, Run], looked: str) -> Iterator[Place]:
    """Yield the records that could be dropped: all but those of the layer that is looked at."""
    for number, run in runs.items():
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
