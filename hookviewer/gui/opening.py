"""Opening models from the window: what is asked, remembered, and ticked at first."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from hookviewer import sources
from hookviewer.errors import HookViewerError
from hookviewer.gui import recent
from hookviewer.gui.deciding import Decisions
from hookviewer.gui.dialogs import WEIGHT_FILES, ModelDialog
from hookviewer.gui.first import DEMO, start_of
from hookviewer.gui.input_offers import offers_for
from hookviewer.gui.recipes import Recipes
from hookviewer.gui.runner import Job
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Offer
from hookviewer.gui.watching import FileWatch
from hookviewer.inputs import guess
from hookviewer.sources import Candidate

DEMO_INPUTS = ("demo:chelsea", "demo:coffee")
DEMO_UNTICKED = ("demo:astronaut",)


class Opening(QObject):
    """Asks, opens, and after a model was opened ticks enough to see something."""

    opened = Signal()
    """Another model was opened, ticked, and its inputs asked for."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._inputs: Sequence[Any] | None = None
        self._unticked: Sequence[Any] = ()
        self.decisions = Decisions(session, self, window)
        self.recipes = Recipes(session)
        self.watch = FileWatch(session, self)
        self.watch.changed.connect(self._on_files_changed)

    def attend(self) -> None:
        """Begin to follow the session; call it when the panels do already."""
        self._session.model_changed.connect(self._on_model_changed)

    def open(
        self,
        spec: str,
        weights: str = "",
        *,
        inputs: Sequence[Any] | None = None,
        unticked: Sequence[Any] = (),
        trust: bool = False,
    ) -> None:
        """Open a model, then add `inputs` (None: what fits it) and list the `unticked` ones."""
        self._inputs, self._unticked = inputs, unticked
        self._session.open_model(spec, weights=weights or None, trust=trust)

    def open_demo(self) -> None:
        """Open the demo with its photographs."""
        first = not self._session.inputs
        self.open(DEMO, inputs=DEMO_INPUTS if first else None, unticked=DEMO_UNTICKED if first else ())

    def expect(self, inputs: Sequence[Any] | None) -> None:
        """Say which inputs come with the model that is about to be set; None means what fits."""
        self._inputs = inputs

    # -- asking ---------------------------------------------------------------------------------------------

    def ask_model(self, spec: str = "", names: Sequence[str] = (), weights: str = "") -> None:
        """Ask for a model by name."""
        dialog = ModelDialog(spec, names or sources.model_names(), self._window, weights=weights)
        dialog.chosen.connect(self.open)
        dialog.open()

    def ask_file(self) -> None:
        """Ask for a file with a model in it: Python, a whole pickled module, an exported program, weights."""
        ends = "*.py *.pt2 *.pt *.pth *.ckpt *.safetensors"
        words = self.tr("Models ({});;All files (*)").format(ends)
        path, _ = QFileDialog.getOpenFileName(self._window, self.tr("Open a model file"), "", words)
        if path:
            self.open_path(Path(path))

    def ask_folder(self) -> None:
        """Ask for a project folder and list the models in it."""
        path = QFileDialog.getExistingDirectory(self._window, self.tr("Open a project folder"), "")
        if path:
            self.open_project(Path(path))

    def ask_weights(self) -> None:
        """Ask for a file of weights for the present model."""
        words = self.tr("Weights ({});;All files (*)").format(WEIGHT_FILES)
        path, _ = QFileDialog.getOpenFileName(self._window, self.tr("Load weights"), "", words)
        if path:
            self.load_weights(Path(path))

    # -- opening what was chosen ----------------------------------------------------------------------------

    def open_path(self, path: Path) -> None:
        """Open the model in a file or a folder; Python is looked through first, without importing it."""
        if path.is_dir() or path.suffix.lower() == ".py":
            self.open_project(path)
        else:
            self.open(str(path))

    def open_project(self, path: Path) -> None:
        """Open the one model in a folder or a Python file that needs no arguments, or ask which."""

        def work(job: Job) -> tuple[Candidate, ...]:
            return sources.scan(path)

        self._session.tell(Message("busy", self.tr("Reading {} …").format(path.name)))
        self._session.runner.submit("scan", work, on_result=partial(self._on_scanned, path))

    def _on_scanned(self, path: Path, found: tuple[Candidate, ...]) -> None:
        whole = [one for one in found if not one.part]
        if len(whole) == 1 and not whole[0].required:
            self.open(whole[0].spec)
        elif found:
            self.decisions.ask_candidate(found, path if path.is_dir() else path.parent)
        else:
            self.open(str(path))  # it says what is wrong with it

    def load_weights(self, path: Path) -> None:
        """Open the present model again with the weights of a file; without a model, the file is opened."""
        card, name = self._session.card, path.name
        if card is None:
            self.open(str(path))
        elif card.spec:
            self._session.reload_model(sources.Weights(str(path)))
        else:
            head = self.tr("This model has no name to open it by.")
            other = Offer(self.tr("Open {}").format(name), partial(self.open, str(path)))
            self._session.tell(
                Message("warn", head, self.tr("Load its weights in your code."), offers=(other,))
            )

    def reload(self) -> None:
        """Read the present model again; ticks, inputs, target and selection stay."""
        self._session.reload_model()

    def _on_files_changed(self, paths: list[str]) -> None:
        names = ", ".join(Path(path).name for path in paths[:3])
        offer = Offer(self.tr("Reload"), self.reload)
        self._session.tell(Message("info", self.tr("{} changed on disk.").format(names), offers=(offer,)))

    # -- after a model was opened ---------------------------------------------------------------------------

    def _on_model_changed(self) -> None:
        session = self._session
        if session.tree is None or session.card is None:
            return
        card = session.card
        if card.spec:
            recent.remember_model(card.spec, card.weights.file if card.weights else "")
        self.recipes.apply()
        auto, session.auto = session.auto, False  # one run at the end, not one for every change
        if not session.exchanging:
            self._begin()
        session.auto = auto
        inputs, self._inputs = self._inputs, None
        unticked, self._unticked = self._unticked, ()
        if inputs is None and session.inputs:
            session.prepare_inputs()
        else:
            session.open_inputs(list(inputs if inputs is not None else self._fitting()))
        if unticked:
            session.open_inputs(list(unticked), ticked=False)
        for note in card.notes:
            if note.startswith("Warning"):
                session.tell(Message("warn", note.removeprefix("Warning: ")))
            elif note.startswith("Random weights") and not session.exchanging:
                what, _, now = note.partition(": ")
                session.tell(Message("info", f"{what}:", now))
        if not session.exchanging:
            self.opened.emit()

    def _begin(self) -> None:
        session = self._session
        assert session.tree is not None
        assert session.card is not None
        start = start_of(session.tree, session.card.spec)
        session.select(path=start.path, channel=start.channel, cell=start.cell)
        session.set_plan(dataclasses.replace(session.plan, paths=start.ticks))

    def _fitting(self) -> list[Any]:
        """Return inputs for a model that came without one: its recipe's, its card's example, or a guess."""
        card, model = self._session.card, self._session.model
        if card is not None and (card.inputs or card.example):
            return list(card.inputs) or [card.example]
        try:
            return [guess(model)] if model is not None else []
        except HookViewerError as error:
            self._session.tell(Message("info", str(error), offers=offers_for(self._session, error)))
            return []
