"""The numbers of a difference channel by channel, counted on the model thread between runs."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from hookviewer.arrays import Maps
from hookviewer.differences import MapDifferences, map_differences
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.runner import Failure, Job

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE = "channels"


class ChannelLane(QObject):
    """Counts one pair of layers at a time, the one asked for last; a run always goes first.

    Numbers are of the sample that is shown; they are kept as long as the maps that they were made of.
    """

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._known: weakref.WeakKeyDictionary[Maps, weakref.WeakKeyDictionary[Maps, MapDifferences]]
        self._known = weakref.WeakKeyDictionary()
        self._wanted: tuple[Column, Column] | None = None
        session.run_started.connect(self._make_way)
        session.run_finished.connect(self._begin)

    def counted(self, a: Column, b: Column) -> MapDifferences | None:
        """Return the numbers of A − B; None before they are there, then `want` them."""
        known = self._known.get(a.maps) if a.maps is not None else None
        return None if known is None or b.maps is None else known.get(b.maps)

    def want(self, a: Column, b: Column) -> None:
        """Have the numbers of two columns of maps of one shape counted; `changed` tells when they are."""
        if self.counted(a, b) is None and not self._asked(a, b):
            self._wanted = a, b
            self._begin()

    def _asked(self, a: Column, b: Column) -> bool:
        wanted = self._wanted
        return wanted is not None and wanted[0].maps is a.maps and wanted[1].maps is b.maps

    def _begin(self) -> None:
        session, wanted = self._session, self._wanted
        if session.running or session.runner.closed or wanted is None:
            return
        a, b = wanted
        one, other = a.maps, b.maps
        if one is None or other is None:
            return
        types = None if a.record is None or b.record is None else (a.record.dtype, b.record.dtype)

        def work(job: Job) -> MapDifferences:
            return map_differences(one.values, other.values, dtypes=types, cancelled=job.cancelled)

        def take(found: MapDifferences) -> None:
            self._known.setdefault(one, weakref.WeakKeyDictionary())[other] = found
            self._wanted = None
            self.changed.emit()

        session.runner.submit(LANE, work, on_result=take, on_failure=self._on_failed)

    def _make_way(self) -> None:
        self._session.runner.cancel(LANE, drop=True)

    def _on_failed(self, failure: Failure) -> None:
        self._wanted = None
        if failure.report:
            self._session.tell_failure("The channels could not be compared.", failure)


def compared_columns(wall: WallState | None) -> tuple[Column, Column] | None:
    """Return the two columns whose difference is told, the reference first; None where there are no two."""
    if wall is None:
        return None
    places = wall.pair.reference, wall.pair.other
    inputs = [column for column in wall.columns if column.number is not None]
    return None if max(places) >= len(inputs) else (inputs[places[0]], inputs[places[1]])


def same_shape(a: Column, b: Column) -> bool:
    """Return whether both columns have maps that can be subtracted."""
    if a.maps is None or b.maps is None:
        return False
    return bool(a.maps.values.shape == b.maps.values.shape)
