"""How a model's pictures are prepared where a person has chosen it: kept by the model's name."""

from __future__ import annotations

import dataclasses

import torch

from hookviewer import sources
from hookviewer.errors import HookViewerError
from hookviewer.gui import settings
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message
from hookviewer.inputs import Preprocess, from_options, used
from hookviewer.sources.cards import Preprocess as Known
from hookviewer.sources.cards import remember


class Recipes:
    """Puts a remembered recipe in force when its model is opened, and changes it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._own: Known | None = None

    def apply(self) -> None:
        """Use what was chosen for the present model before; call it when the model has just been set."""
        session = self._session
        assert session.card is not None
        assert session.model is not None
        self._own = session.card.preprocess
        options = settings.recipes().get(session.card.spec) if session.card.spec else None
        if options is None:
            return
        try:
            self._use(session.model, from_options(options))
        except HookViewerError as error:
            settings.remember_recipe(session.card.spec, None)
            session.tell(
                Message("warn", "Its own preprocessing is used, the chosen one is damaged.", str(error))
            )

    def change(self, recipe: Preprocess) -> None:
        """Prepare the present model's pictures in this way from now on, and make its inputs anew."""
        session = self._session
        if session.model is None or session.card is None:
            return
        if session.card.spec:
            settings.remember_recipe(session.card.spec, recipe.options())
        self._use(session.model, recipe)
        session.prepare_inputs()

    def forget(self) -> None:
        """Prepare the present model's pictures as its own card says, or as is guessed."""
        session = self._session
        if session.model is None or session.card is None:
            return
        settings.remember_recipe(session.card.spec, None)
        remember(session.model, dataclasses.replace(session.card, preprocess=self._own))
        session.card = sources.card(session.model)
        session.prepare_inputs()

    def _use(self, model: torch.nn.Module, recipe: Preprocess) -> None:
        used(recipe, model)
        self._session.card = sources.card(model)
