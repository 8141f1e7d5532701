"""Opening a model on the model thread, and reading it again."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from PySide6.QtCore import QCoreApplication

from hookviewer import sources
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.state import DECISIONS, Message, OpenAsked, Question

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE = "open"


class ModelLane:
    """Opens one model at a time; the session takes it, or is told why not."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def open(
        self, spec: str, *, weights: str | None = None, allow: Sequence[str] = (), trust: bool = False
    ) -> None:
        """Open what `spec` names, and show it in place of the model before."""
        session = self._session

        def work(job: Job) -> torch.nn.Module:
            return sources.open_model(spec, weights=weights, weights_allow=allow, trust=trust)

        session.tell(Message("busy", _tr("Opening {} …").format(spec)))
        asked = OpenAsked(spec, weights or "", tuple(allow))
        session.runner.submit(
            LANE, work, on_result=session.set_model, on_failure=partial(self._ask_or_tell, asked)
        )

    def reload(self, weights: sources.Weights | None = None) -> None:
        """Read the model's code and weights again; ticks, inputs, target and selection stay.

        Where that fails, the model before stays too, and a message says where its code is wrong. `weights`
        take the place of those that it was opened with.
        """
        session = self._session
        card, model = session.card, session.model
        if card is None or model is None:
            return
        if not card.spec:
            session.exchange_model(model)
            return
        wanted = dataclasses.replace(card, weights=weights or card.weights)

        def work(job: Job) -> torch.nn.Module:
            return sources.reopen(wanted)

        file, allow = (wanted.weights.file, wanted.weights.allow) if wanted.weights else ("", ())
        words, name = (
            (_tr("Loading {} …"), Path(file).name) if weights else (_tr("Reading {} again …"), card.name)
        )
        session.tell(Message("busy", words.format(name)))
        asked = OpenAsked(card.spec, file, allow, reloads=True)
        session.runner.submit(
            LANE, work, on_result=session.exchange_model, on_failure=partial(self._ask_or_tell, asked)
        )

    def _ask_or_tell(self, asked: OpenAsked, failure: Failure) -> None:
        if isinstance(failure.error, DECISIONS):
            self._session.question_asked.emit(Question(failure.error, asked))
            return
        what = _tr("Not loaded, the model before stays.") if asked.reloads else _tr("No model opened.")
        self._session.tell_failure(what, failure)


def _tr(text: str) -> str:
    return QCoreApplication.translate("ModelLane", text)
