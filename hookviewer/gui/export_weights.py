"""Reads the weights of all layers that are exported, on the model thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from hookviewer.gui.parameter_lane import values_of
from hookviewer.gui.parameters import unread
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.session import Session
from hookviewer.gui.variant_lane import Runnable
from hookviewer.recording import Recording

LANE = "exported weights"


class WeightsRead(QObject):
    """What was read of the layers: `found` by path, None before; they are those of the current variant."""

    changed = Signal()

    def __init__(self, session: Session, layers: Sequence[str]) -> None:
        super().__init__()
        self._session, self._layers = session, tuple(layers)
        self.found: Mapping[str, Recording] | None = None
        self.reading = False

    def want(self) -> None:
        """Read them, where they were not read yet; `changed` tells when they are there."""
        model = self._session.model
        if self.reading or self.found is not None or model is None:
            return
        self.reading = True
        session = self._session
        item, models = session.current_input, session.variant_models
        settings = session.settings if item is None else item.variant.settings(session.settings)

        def work(job: Job) -> Mapping[str, Recording]:
            runnable = Runnable(model) if item is None else models.runnable(model, settings, item.input)
            return _read(runnable, self._layers, settings.budget)

        session.runner.submit(LANE, work, on_result=self._on_read, on_failure=self._on_failed)

    def _on_read(self, found: Mapping[str, Recording]) -> None:
        self.found, self.reading = found, False
        self.changed.emit()

    def _on_failed(self, failure: Failure) -> None:
        self._on_read({path: unread(path, failure.sentence) for path in self._layers})


def _read(runnable: Runnable, layers: Sequence[str], budget: int) -> Mapping[str, Recording]:
    """Return the weights of each layer; together they take no more memory than the budget."""
    found = {}
    for path in layers:
        found[path] = values_of(runnable, path, max(budget, 0))
        budget -= found[path].nbytes
    return found
