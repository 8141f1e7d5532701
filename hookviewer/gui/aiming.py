"""Tells that a run had no target although nobody chose one that could fail: once for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from hookviewer.gui.state import Message
from hookviewer.gui.target_names import no_target

if TYPE_CHECKING:
    from hookviewer.gui.session import Session


class Aiming:
    """Reads the runs that arrive; the run itself is fine, all values are there."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._told = False
        session.model_changed.connect(self._on_model_changed)
        session.runs_changed.connect(self._on_runs_changed)

    def _on_model_changed(self) -> None:
        self._told = self._told and self._session.exchanging

    def _on_runs_changed(self) -> None:
        if self._told:
            return
        for item in self._session.items:
            run = self._session.runs.get(item.number)
            why = no_target(run.recording) if run is not None else ""
            if why:
                self._told = True
                what = QCoreApplication.translate("Target", "{} has no gradients.").format(item.title)
                self._session.tell(Message("info", what, why))
                return
