"""Where two columns first go apart: a run of both that keeps what goes in and out of every module."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal

from hookviewer.differences import Divergence, divergence_plan, first_divergence
from hookviewer.gui.compare_lane import reference_of
from hookviewer.gui.renaming import Renaming
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.state import InputItem, Message, Settings
from hookviewer.gui.variant_lane import Runnable
from hookviewer.recording import Recording

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE = "diverging"


@dataclasses.dataclass(frozen=True, eq=False)
class Found:
    """The result for the column `item`, compared with `reference`."""

    item: InputItem
    reference: InputItem
    divergence: Divergence


class Diverging(QObject):
    """Looks for the first layer that goes apart, when it is asked to; another run makes it out of date."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self.found: Found | None = None
        self.looking = False
        for signal in (session.model_changed, session.inputs_changed, session.settings_changed):
            signal.connect(self.forget)

    @property
    def pair(self) -> tuple[InputItem, InputItem] | None:
        """The column that is looked at, or else the second one, and what it is compared with."""
        items = self._session.ticked_inputs
        order = sorted(items, key=lambda item: item.number != self._session.selection.input)
        for item in order:
            reference = reference_of(item, items)
            if reference is not None:
                return item, reference
        return None

    def forget(self) -> None:
        """Take the result back, and stop looking for one."""
        if self.found is not None or self.looking:
            self._session.runner.cancel(LANE, drop=True)
            self.found, self.looking = None, False
            self.changed.emit()

    def stop(self) -> None:
        """Stop looking."""
        self.forget()

    def look(self, tolerance: float | None = None) -> None:
        """Run both columns and compare all their layers; `tolerance` is a relative L2 distance."""
        session, pair = self._session, self.pair
        model = session.model
        if model is None or pair is None:
            return
        item, reference = pair
        models = session.variant_models
        usual = session.settings
        ways = [(one, one.variant.settings(usual)) for one in (reference, item)]

        def work(job: Job) -> Divergence:
            recordings, renaming = [], None
            for one, settings in ways:
                runnable = models.runnable(model, settings, one.input)
                recordings.append(_recorded(job, runnable, one, settings))
                renaming = renaming or runnable.renaming
            matching = None if renaming is None else _matching(renaming)
            return first_divergence(*recordings, tolerance=tolerance, matching=matching)

        self.looking = True
        self.changed.emit()
        session.runner.submit(
            LANE,
            work,
            on_result=lambda found: self._take(Found(item, reference, found)),
            on_failure=self._on_failed,
        )

    def _take(self, found: Found) -> None:
        self.found, self.looking = found, False
        self.changed.emit()
        self.open()

    def open(self) -> None:
        """Look at the layer that was found."""
        first = self.found.divergence.first if self.found is not None else None
        if first is not None:
            self._session.select(path=first.key.path, call=first.key.call)

    def _on_failed(self, failure: Failure) -> None:
        self.looking = False
        self.changed.emit()
        what = _tr("The first difference was not looked for to the end.")
        self._session.tell(Message("error", what, failure.sentence, failure.report))


def _recorded(job: Job, runnable: Runnable, item: InputItem, settings: Settings) -> Recording:
    return runnable.capture(
        item.input,
        divergence_plan(runnable.model),
        edits=settings.edits,
        mode=settings.mode,
        seed=settings.seed,
        device=settings.device,
        budget=settings.budget,
        cancelled=job.cancelled,
    )


def _matching(renaming: Renaming) -> dict[str, str]:
    return dict(renaming.paths)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Diverging", text)
