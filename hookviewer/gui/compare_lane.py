"""The numbers of differences between records, counted on the model thread between runs and kept with them."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from hookviewer.differences import Difference, compare
from hookviewer.errors import HookViewerError
from hookviewer.gui.compare_channels import ChannelLane
from hookviewer.gui.runner import Job
from hookviewer.gui.state import PLAIN, InputItem
from hookviewer.recording import Record

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE = "differences"
MOST = 2000
"""Pairs that wait to be counted at most: further ones are asked for again when they are looked at."""


class Counted(NamedTuple):
    """The numbers of A − B, or why there are none."""

    numbers: Difference | None
    reason: str = ""


Pair = tuple[Record, Record]


class CompareLane(QObject):
    """Counts what is asked for, one pair of records after another; a run always goes first."""

    changed = Signal()
    """Numbers that were asked for are there."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self.channels = ChannelLane(session)
        self._known: weakref.WeakKeyDictionary[Record, weakref.WeakKeyDictionary[Record, Counted]]
        self._known = weakref.WeakKeyDictionary()
        self._wanted: list[Pair] = []
        self._working = False
        session.run_started.connect(self._make_way)
        session.run_finished.connect(self._begin)

    def counted(self, first: Record, second: Record) -> Counted | None:
        """Return the numbers of A − B, None where they were not counted yet: then `want` them."""
        known = self._known.get(first)
        return None if known is None else known.get(second)

    def want(self, pairs: Iterable[Pair], *, first: bool = False) -> None:
        """Have the numbers of these pairs counted, before (`first`) or behind what is wanted already."""
        asked = [pair for pair in pairs if self.counted(*pair) is None]
        every = [*asked, *self._wanted] if first else [*self._wanted, *asked]
        self._wanted = list(dict.fromkeys(every))[:MOST]
        if not self._working:
            self._begin()

    def _begin(self) -> None:
        session, pairs = self._session, tuple(self._wanted)
        if session.running or session.runner.closed or not pairs:
            return
        self._working = True

        def work(job: Job) -> None:
            for pair in pairs:
                if job.cancelled():
                    return
                job.report((pair, _counted(*pair)))

        session.runner.submit(
            LANE, work, on_report=self._on_report, on_result=self._on_done, on_failure=self._on_done
        )

    def _make_way(self) -> None:
        self._session.runner.cancel(LANE, drop=True)
        self._working = False

    def _on_report(self, report: tuple[Pair, Counted]) -> None:
        (first, second), numbers = report
        self._known.setdefault(first, weakref.WeakKeyDictionary())[second] = numbers

    def _on_done(self, _: object) -> None:
        self._working = False
        self._wanted = [pair for pair in self._wanted if self.counted(*pair) is None]
        self.changed.emit()
        self._begin()


def _counted(first: Record, second: Record) -> Counted:
    try:
        return Counted(compare(first, second))
    except HookViewerError as error:
        return Counted(None, str(error))


def reference_of(item: InputItem, items: Iterable[InputItem]) -> InputItem | None:
    """Return what a column is compared with: its input in the plain way, or for that the first column."""
    every = list(items)
    plain = next((one for one in every if one.listed == item.listed and one.variant == PLAIN), None)
    found = plain if item.variant != PLAIN and plain is not None else next(iter(every), None)
    return None if found is None or found.number == item.number else found
