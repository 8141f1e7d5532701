"""Levels and extremes of the ticked layers, made on the model thread before a layer is looked at."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import torch
from PySide6.QtCore import QObject

from hookviewer.gui import columns
from hookviewer.gui.runner import Job
from hookviewer.gui.session import Session
from hookviewer.gui.state import InputItem, Look, Run, Selection, Shown
from hookviewer.gui.wall import tiles
from hookviewer.kinds import Key

LANE = "warm"
MUCH = 1 << 18
"""Values of a record below which there is nothing to gain."""


class Warming(QObject):
    """Prepares one layer after another while nothing runs; a run, or another model, ends it at once.

    Only what is small is kept (levels, extremes of channels): the maps are the records themselves.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._waiting: list[str] = []
        session.run_started.connect(self.stop)
        session.model_changed.connect(self.stop)
        session.run_finished.connect(self.begin)

    def begin(self) -> None:
        """Prepare all ticked layers, in the order of the model."""
        session = self._session
        paths = [node.path for node in session.tree.walk()] if session.tree is not None else []
        self._waiting = [path for path in paths if path in session.plan.paths and self._is_large(path)]
        self._go_on()

    def stop(self) -> None:
        """Prepare nothing more."""
        self._waiting = []
        self._session.runner.cancel(LANE, drop=True)

    def _is_large(self, path: str) -> bool:
        """Whether a layer has many values that can be seen as they are kept."""
        shown = self._session.selection.shown
        if shown not in (Shown.OUTPUT, Shown.GRADIENT):
            return False  # a product or a map would be new memory for every layer
        for run in self._session.runs.values():
            record = run.recording.get(Key(path, shown.kinds[0]))
            kept = record.kept if record is not None else None
            if kept is not None and kept.dtype == torch.float32 and kept.numel() >= MUCH:
                return True
        return False

    def _go_on(self) -> None:
        session = self._session
        if not self._waiting or session.running:
            return
        path = self._waiting.pop(0)
        selection = dataclasses.replace(session.selection, path=path, call=0, leaf="", channel=0, cell=None)
        items, runs, look = session.ticked_inputs, session.runs, session.look

        def work(job: Job) -> None:
            prepare(items, dict(runs), selection, look)

        session.runner.submit(LANE, work, on_result=lambda _: self._go_on())


def prepare(items: Sequence[InputItem], runs: dict[int, Run], selection: Selection, look: Look) -> None:
    """Make what a layer needs before it can be painted, so that it is remembered."""
    plain = dataclasses.replace(look, difference=False, levels=None)
    wall = columns.resolve(items, runs, selection, plain, running=False)
    for column in wall.filled:
        if column.maps is not None and column.maps.layout == "maps":
            tiles.spread(column.maps)
