"""What only a person can decide when a model is opened, and what follows from each answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from hookviewer.gui.candidate_dialog import CandidateDialog
from hookviewer.gui.overlay import Overlay
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Offer, OpenAsked, Question
from hookviewer.gui.trust_dialog import TrustDialog
from hookviewer.gui.weights_page import WeightsPage
from hookviewer.sources import ChoiceNeeded, TrustNeeded, Weights, WeightsMismatch, WeightsOnly, trust

if TYPE_CHECKING:
    from hookviewer.gui.opening import Opening


class Decisions(QObject):
    """Asks what a `Question` of the session needs, and opens again with the answer."""

    def __init__(self, session: Session, opening: Opening, window: QWidget) -> None:
        super().__init__(opening)
        self._session, self._opening, self._window = session, opening, window
        self._asking: set[str] = set()
        """The contents that are asked about at present."""
        self._asks: dict[type[BaseException], Callable[[Any, Any], QWidget | None]] = {
            TrustNeeded: self._ask_trust,
            WeightsMismatch: self._ask_weights,
            WeightsOnly: self._offer_networks,
            ChoiceNeeded: self._ask_choice,
        }
        session.question_asked.connect(self._on_question_asked)

    def _on_question_asked(self, question: Question) -> None:
        self._asks[type(question.error)](question.error, question.asked)

    def _again(self, asked: OpenAsked | None, allow: tuple[str, ...] = ()) -> None:
        if asked is None:
            self._session.varying.run_again()
        elif asked.reloads:
            self._session.reload_model(
                Weights(asked.weights, (*asked.allow, *allow)) if asked.weights else None
            )
        else:
            self._session.open_model(asked.spec, weights=asked.weights or None, allow=(*asked.allow, *allow))

    def _ask_trust(self, error: TrustNeeded, asked: OpenAsked | None) -> TrustDialog | None:
        """Ask once for a content, however many runs need it."""
        if error.sha256 in self._asking:
            return None

        def allow() -> None:
            trust.remember(error.sha256, error.path.absolute())
            self._again(asked)

        def leave() -> None:
            if asked is None:
                self._session.varying.refuse(error.sha256)
            self._say_left(self.tr("{} was not loaded.").format(error.path.name))

        self._asking.add(error.sha256)
        dialog = TrustDialog(error, self._window)
        dialog.finished.connect(lambda _: self._asking.discard(error.sha256))
        dialog.allowed.connect(allow)
        dialog.rejected.connect(leave)
        dialog.open()
        return dialog

    def _ask_weights(self, error: WeightsMismatch, asked: OpenAsked) -> Overlay:
        page = WeightsPage(error)
        over = Overlay(page, self._window)
        page.closed.connect(over.close_page)
        page.allowed.connect(lambda kinds: self._again(asked, tuple(kinds)))
        over.show_over()
        return over

    def _offer_networks(self, error: WeightsOnly, asked: OpenAsked) -> None:
        file = str(error.path)
        offers = [
            Offer(self.tr("Open {}").format(_short(one.spec)), partial(self._opening.open, one.spec, file))
            for one in error.architectures
        ]
        other = Offer(self.tr("Another model…"), partial(self._opening.ask_model, "", (), file))
        chosen = (
            (offers[0], other if len(offers) > 2 else offers[-1]) if len(offers) > 1 else (*offers, other)
        )
        what = self.tr("{} holds weights only: {} tensors, {} numbers.").format(
            error.path.name, f"{error.tensors:,}", f"{error.numbers:,}"
        )
        likely = (
            self.tr("They are those of {}.").format(_short(error.architectures[0].spec)) if offers else ""
        )
        now = likely or self.tr("No network of torchvision has these names: name the network they belong to.")
        self._session.tell(Message("warn", what, now, offers=chosen))

    def _ask_choice(self, error: ChoiceNeeded, asked: OpenAsked) -> CandidateDialog:
        return self.ask_candidate(error.candidates, Path(asked.spec.partition("?")[0]), asked.weights)

    def ask_candidate(self, found: Any, place: Path, weights: str = "") -> CandidateDialog:
        """Ask which of the models in a place to open, and with which arguments."""
        dialog = CandidateDialog(found, place, weights, self._window)
        dialog.chosen.connect(self._opening.open)
        dialog.open()
        return dialog

    def _say_left(self, what: str) -> None:
        self._session.tell(Message("info", what, self.tr("Everything is as it was.")))


def _short(spec: str) -> str:
    """Return the name of a network without the module it is in, with its arguments."""
    place, _, arguments = spec.partition("?")
    return place.rpartition(":")[2] + (f" ({arguments})" if arguments else "")
