"""The status bar: where the model runs, what is kept, the cell pointed at, the last result or progress."""

from __future__ import annotations

import time

import torch
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QStatusBar, QWidget

from hookviewer.gui import numbers
from hookviewer.gui.giving_way import Elided, Yielding, hidden
from hookviewer.gui.parts import icon_label, label, row, rule
from hookviewer.gui.quiet_bar import QuietBar
from hookviewer.gui.reading import read_out
from hookviewer.gui.session import Session
from hookviewer.gui.state import Progress
from hookviewer.gui.still import Still
from hookviewer.gui.theme import scaled

SHOWN_AFTER_S = 0.15
"""A run that is shorter shows no progress at all."""
SAID_MS = 2000
TEXT_MS = 200
"""The words about a run are written anew so often at most."""


class StatusBar(QStatusBar):
    """One row; the read-out's label is called `pixel`."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._progress: Progress | None = None
        self._soon = QTimer(self, singleShot=True, interval=TEXT_MS)
        self._soon.timeout.connect(self._say_run)
        self.setSizeGripEnabled(False)
        self.setFixedHeight(scaled(28))
        self.device = label("", "second", 11)
        self.meter = _meter(56)
        self.meter.setObjectName("memory_meter")
        self.kept = label("", "second", 11)
        self.hooks = label("", "second", 11)
        self.hooks.setObjectName("hooks")
        self.hooks.setToolTip(self.tr("Hooks of hookviewer on the model: none outside of a run."))
        self.pixel = Elided(role="second", size=11, mono=True)
        self.pixel.setObjectName("pixel")
        self.pixel.setAccessibleName(self.tr("Value of the cell"))
        self.result = label("", "second", 11)
        self.progress = _meter(160)
        self.progress.hide()
        self._words = {"device": ("", ""), "kept": ("", ""), "hooks": ("", "")}
        self._cross, self._rule = icon_label("crosshair"), rule(14)
        self._line = self._lay_out()
        self._started = 0.0
        self._seconds = 0.0
        self._said = QTimer(self, singleShot=True, interval=SAID_MS)
        self._said.timeout.connect(self._say_result)
        self._connect()
        self.refresh()

    def _lay_out(self) -> Yielding:
        layout = row(
            *(icon_label("cpu"), self.device, 6, rule(14), 6),
            *(icon_label("memory-stick"), self.meter, self.kept, 6, rule(14), 6, self.hooks),
            *(6, self._rule, 6, self._cross, self.pixel),
            *(12, self.result, self.progress),
            spacing=6,
            margins=(12, 0, 12, 2),
        )
        layout.setStretchFactor(self.pixel, 1)
        steps = [
            (
                lambda: self.device.setText(self._words["device"][0]),
                lambda: self.device.setText(self._words["device"][1]),
            ),
            (
                lambda: self.kept.setText(self._words["kept"][0]),
                lambda: self.kept.setText(self._words["kept"][1]),
            ),
            (
                lambda: self.hooks.setText(self._words["hooks"][0]),
                lambda: self.hooks.setText(self._words["hooks"][1]),
            ),
            hidden(self.meter),
        ]
        line = Yielding(layout, steps)
        self.addWidget(Still(line), 1)
        return line

    def _connect(self) -> None:
        session = self._session
        for signal in (session.model_changed, session.settings_changed, session.inputs_changed):
            signal.connect(self.refresh)
        session.runs_changed.connect(self._say_kept)
        session.run_grew.connect(self._on_run_grew)
        session.runs_changed.connect(self._say_pixel)
        session.fields_changed.connect(self._say_pixel)
        session.selection_changed.connect(self._say_pixel)
        session.look_changed.connect(self._say_pixel)
        session.pointed_changed.connect(self._say_pixel)
        session.run_started.connect(self._on_run_started)
        session.run_progressed.connect(self._on_run_progressed)
        session.run_finished.connect(self._on_run_finished)

    def refresh(self) -> None:
        """Show everything anew."""
        threads = torch.get_num_threads()
        count = self.tr("1 thread") if threads == 1 else self.tr("{} threads").format(threads)
        device = self._session.settings.device
        self._words["device"] = (", ".join((device, self._dtype(), count)), device)
        self._say_hooks(self._left())
        self._say_kept()
        self._say_pixel()

    def _left(self) -> int:
        return sum(run.hooks_left for run in self._session.runs.values())

    def _say_hooks(self, count: int) -> None:
        words = self.tr("hooks in place {}").format(count)
        self._words["hooks"] = (words, self.tr("{} hooks").format(count))
        self.hooks.setText(words)
        if not self._session.running:
            self.hooks.setProperty("role", "error" if count else "second")
            self.hooks.style().unpolish(self.hooks)
            self.hooks.style().polish(self.hooks)

    def _dtype(self) -> str:
        model = self._session.model
        kinds = {parameter.dtype for parameter in model.parameters()} if model is not None else set()
        names = sorted(str(kind).removeprefix("torch.") for kind in kinds)
        return "/".join(names[:2]) if names else "float32"

    def _say_kept(self) -> None:
        kept = sum(run.recording.nbytes for run in self._session.runs.values())
        budget = self._session.settings.budget
        text = self.tr("{} of {} kept").format(numbers.size(kept), numbers.size(budget))
        self._words["kept"] = (text, numbers.size(kept)) if kept else (self.tr("nothing kept"),) * 2
        self.meter.setValue(round(1000 * min(kept / budget, 1)) if budget else 1000)
        self.meter.setToolTip(self.tr("Values kept in memory by all runs; the limit holds for each run."))
        self._line.fit()

    def _on_run_grew(self, paths: frozenset[str]) -> None:
        self._later()
        if self._session.selection.path in paths:
            self._say_pixel()

    def _say_pixel(self) -> None:
        versions = read_out(self._session)
        for widget in (self._cross, self._rule):
            widget.setVisible(bool(versions))
        self.pixel.say(*(versions or ("",)))
        if not versions:
            self.pixel.setToolTip("")

    # -- the right end --------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Show a passing word (`Copied`) at the right for two seconds."""
        self.result.setText(text)
        self._line.fit()
        self._said.start()

    def _on_run_started(self) -> None:
        self._started = time.monotonic()
        self._progress = None

    def _on_run_progressed(self, progress: Progress) -> None:
        spent = time.monotonic() - self._started
        self._say_hooks(progress.hooks)
        if spent < SHOWN_AFTER_S or not self._session.running:
            return
        self.progress.setValue(round(1000 * (progress.share or 0)))
        self._progress = progress
        self._later()

    def _later(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _say_run(self) -> None:
        """Write how far the run is; every text lays the row out anew, so this is not done for each layer."""
        if not self._session.running:
            return
        self._say_kept()
        progress = self._progress
        if progress is None:
            return
        self.progress.setVisible(progress.share is not None)
        self.result.setText(self._progress_words(progress, time.monotonic() - self._started))
        self._line.fit()

    def _progress_words(self, progress: Progress, spent: float) -> str:
        names = [item.title for item in self._session.items if item.number == progress.input]
        words = [*names, progress.path or self.tr("model")]
        if progress.total:
            words.append(self.tr("{} of {}").format(min(progress.done, progress.total), progress.total))
        if progress.share and progress.share > 0.05:
            left = spent * (1 - progress.share) / progress.share
            words.append(self.tr("{} left").format(numbers.seconds(left)))
        return "   ".join(words)

    def _on_run_finished(self) -> None:
        self.progress.hide()
        self._say_hooks(self._left())
        self._seconds = time.monotonic() - self._started
        self._say_result()

    def _say_result(self) -> None:
        if self._session.running:
            return
        runs = self._session.runs
        failed = sum(1 for run in runs.values() if run.error is not None)
        seconds = numbers.seconds(sum(run.seconds for run in runs.values()))
        if not runs:
            text = self.tr("Ready")
        elif failed:
            text = self.tr("{} of {} runs failed, {}").format(failed, len(runs), seconds)
        elif len(runs) == 1:
            text = self.tr("1 run in {}").format(seconds)
        else:
            text = self.tr("{} runs in {}").format(len(runs), seconds)
        self.result.setText(text)
        self._line.fit()


def _meter(width: int) -> QuietBar:
    made = QuietBar()
    made.setTextVisible(False)
    made.setFixedSize(width, 4)
    made.setRange(0, 1000)
    return made
