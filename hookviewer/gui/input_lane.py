"""Opening inputs on the model thread, and making them anew for another model."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication

from hookviewer.errors import HookViewerError
from hookviewer.gui.runner import Failure, Job
from hookviewer.inputs import Input, again, open_input

if TYPE_CHECKING:
    from hookviewer.gui.session import Session


class InputLane:
    """Opens inputs for the session's model; the session lists them, or is told why not."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._numbers = itertools.count()

    def open(self, specs: Sequence[Any], *, ticked: bool = True) -> None:
        """Open inputs and list them; one that cannot be opened keeps no other from it."""
        session = self._session

        def work(job: Job) -> list[Input | Failure]:
            return [_made(partial(open_input, spec, session.model)) for spec in specs]

        def listed(found: list[Input | Failure]) -> None:
            session.add_inputs([one for one in found if isinstance(one, Input)], ticked=ticked)
            self._tell(_tr("Not added."), found)

        # a lane of its own: what was asked for before is still to come
        session.runner.submit(
            f"inputs {next(self._numbers)}",
            work,
            on_result=listed,
            on_failure=lambda failure: session.tell_failure(_tr("Nothing added."), failure),
        )

    def prepare(self) -> None:
        """Make the listed inputs anew for the present model, where a spec says how."""
        session, model, before = self._session, self._session.model, self._session.inputs

        def work(job: Job) -> list[Input | Failure]:
            return [_made(partial(again, item.input, model)) for item in before]

        def made(found: list[Input | Failure]) -> None:
            fresh = {
                item.number: one
                for item, one in zip(before, found, strict=True)
                if isinstance(one, Input) and model is session.model
            }
            session.take_inputs(fresh)
            self._tell(_tr("Not made anew."), found)

        session.runner.submit("prepare", work, on_result=made)

    def exchange(self, number: int, spec: Any) -> None:
        """Put another input into the place of one."""
        session, model = self._session, self._session.model

        def work(job: Job) -> Input:
            return open_input(spec, model)

        session.runner.submit(
            f"exchange {number}",
            work,
            on_result=lambda made: session.take_inputs({number: made}),
            on_failure=lambda failure: session.tell_failure(_tr("Not exchanged."), failure),
        )

    def _tell(self, what: str, found: Sequence[Input | Failure]) -> None:
        for one in found:
            if isinstance(one, Failure):
                self._session.tell_failure(what, one)


def _made(make: Callable[[], Input]) -> Input | Failure:
    try:
        return make()
    except HookViewerError as error:
        return Failure(str(error), "", error)


def _tr(text: str) -> str:
    return QCoreApplication.translate("InputLane", text)
