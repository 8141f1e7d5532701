"""The one model thread: everything that touches a model runs there, one job at a time.

A Python thread and not a `QThread`: a `QThread` that is destroyed while it runs aborts the process.
"""

from __future__ import annotations

import itertools
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, Qt, Signal, Slot

from hookviewer.errors import Cancelled, HookViewerError

REPORTS_PER_SECOND = 30
PATIENCE_S = 2.0
"""How long closing waits for the operation that is going on."""


class Failure(NamedTuple):
    """Why a job ended without a result: one sentence, and a bug's traceback (empty for a mistake)."""

    sentence: str
    report: str
    error: BaseException | None = None


class Job:
    """What the work on the model thread may ask and say: `cancelled()` and `report(value)`."""

    def __init__(self, number: int, send: Callable[[int, str, object], None]) -> None:
        self.number = number
        self._send = send
        self._stop = threading.Event()
        self._spoke = 0.0

    def cancel(self) -> None:
        """Ask the work to stop; it does within one layer."""
        self._stop.set()

    def cancelled(self) -> bool:
        """Return whether the job was asked to stop."""
        return self._stop.is_set()

    def due(self) -> bool:
        """Return whether a progress report may be sent now, at most 30 times a second."""
        now = time.monotonic()
        if now - self._spoke < 1 / REPORTS_PER_SECOND:
            return False
        self._spoke = now
        return True

    def report(self, value: object) -> None:
        """Send a value to the main thread."""
        self._send(self.number, "report", value)


class _Callbacks(NamedTuple):
    job: Job
    lane: str
    on_report: Callable[[Any], None]
    on_result: Callable[[Any], None]
    on_failure: Callable[[Failure], None]


def _ignore(value: object) -> None:
    """Take a value and do nothing with it."""


class Runner(QObject):
    """Runs jobs one after another on one worker thread and brings their answers to the main thread.

    A new job of a lane supersedes the older ones of that lane: they are cancelled and their answers dropped.
    """

    busy_changed = Signal(bool)
    _crossing = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = itertools.count(1)
        self._open: dict[int, _Callbacks] = {}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="hookviewer-model")
        self._latest: Future[None] | None = None
        self._closed = False
        self._crossing.connect(self._on_crossing, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        """Whether a job is waiting or running."""
        return bool(self._open)

    @property
    def closed(self) -> bool:
        """Whether no job is taken any more."""
        return self._closed

    def submit(
        self,
        lane: str,
        work: Callable[[Job], Any],
        *,
        on_result: Callable[[Any], None] = _ignore,
        on_failure: Callable[[Failure], None] = _ignore,
        on_report: Callable[[Any], None] = _ignore,
    ) -> int:
        """Queue `work` for the model thread and return the job's number; 0 when the runner is closed.

        A widget may still ask for something while its window goes: nobody would see the answer.
        """
        if self._closed:
            return 0
        self.cancel(lane, drop=True)
        job = Job(next(self._numbers), self._send)
        self._open[job.number] = _Callbacks(job, lane, on_report, on_result, on_failure)
        self._latest = self._worker.submit(self._do, job, work)
        if len(self._open) == 1:
            self.busy_changed.emit(True)
        return job.number

    def cancel(self, lane: str, *, drop: bool = False) -> None:
        """Stop the jobs of a lane; with `drop` their answers are not delivered at all."""
        for number, entry in list(self._open.items()):
            if entry.lane == lane:
                entry.job.cancel()
                if drop:
                    del self._open[number]

    def close(self) -> None:
        """Stop everything and wait for the thread to end, at most `PATIENCE_S`.

        One operation of the model may take longer; the thread ends after it, and `join` waits for that.
        """
        self._closed = True
        for entry in self._open.values():
            entry.job.cancel()
        self._open.clear()
        self._worker.shutdown(wait=False, cancel_futures=True)
        if self._latest is None or wait([self._latest], PATIENCE_S).done:
            self.join()

    def join(self) -> None:
        """Wait until the thread of a closed runner has ended, however long its last operation takes."""
        self._worker.shutdown(wait=True)

    def _send(self, number: int, what: str, value: object) -> None:
        if not self._closed:
            self._crossing.emit((number, what, value))

    def _do(self, job: Job, work: Callable[[Job], Any]) -> None:
        try:
            if job.cancelled():
                raise Cancelled
            answer = ("result", work(job))
        except Cancelled:
            answer = ("failure", Failure("Stopped.", ""))
        except HookViewerError as error:
            answer = ("failure", Failure(str(error), "", error.with_traceback(None)))
        except BaseException as error:
            report = "".join(traceback.format_exception(error))
            sentence = f"{type(error).__name__}: {error}"
            answer = ("failure", Failure(sentence, report, error.with_traceback(None)))
        self._send(job.number, *answer)

    @Slot(object)
    def _on_crossing(self, message: tuple[int, str, Any]) -> None:
        number, what, value = message
        entry = self._open.get(number)
        if entry is None or self._closed:
            return
        if what == "report":
            entry.on_report(value)
            return
        del self._open[number]
        (entry.on_result if what == "result" else entry.on_failure)(value)
        if not self._open:
            self.busy_changed.emit(False)
