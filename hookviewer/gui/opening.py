"""Opening models and inputs from the window: what is asked, remembered, and ticked at first."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from hookviewer.errors import HookViewerError
from hookviewer.gui import dropping, settings
from hookviewer.gui.dialogs import ModelDialog, ShapeDialog
from hookviewer.gui.first import DEMO, start_of
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Selection
from hookviewer.inputs import guess
from hookviewer.leaves import input_leaves
from hookviewer.plan import HookPlan
from hookviewer.sources import candidates

DEMO_INPUTS = ("demo:chelsea", "demo:coffee")
DEMO_UNTICKED = ("demo:astronaut",)


class Opening(QObject):
    """Asks, opens, and after a model was opened ticks enough to see something."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._spec, self._weights = "", ""
        self._inputs: Sequence[Any] | None = None
        self._unticked: Sequence[Any] = ()
        self._kept: tuple[HookPlan, Selection] | None = None

    def attend(self) -> None:
        """Begin to follow the session; call it when the panels do already."""
        self._session.model_changed.connect(self._on_model_changed)

    # -- models ---------------------------------------------------------------------------------------------

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
        self._spec, self._weights, self._inputs, self._unticked = spec, weights, inputs, unticked
        self._session.open_model(spec, weights=weights or None, trust=trust)

    def open_demo(self) -> None:
        """Open the demo with its photographs."""
        first = not self._session.inputs
        self.open(DEMO, inputs=DEMO_INPUTS if first else None, unticked=DEMO_UNTICKED if first else ())

    def expect(self, inputs: Sequence[Any] | None) -> None:
        """Say which inputs come with the model that is about to be set; None means what fits."""
        self._inputs = inputs

    def ask_model(self, spec: str = "", names: Sequence[str] = ()) -> None:
        """Ask for a model by name."""
        dialog = ModelDialog(spec, names or _known_names(), self._window)
        dialog.chosen.connect(self.open)
        dialog.open()

    def ask_python_file(self) -> None:
        """Ask for a Python file and open the model in it."""
        words = self.tr("Python files (*.py)")
        path, _ = QFileDialog.getOpenFileName(self._window, self.tr("Open a Python file"), "", words)
        if path:
            self.open_python_file(Path(path))

    def open_python_file(self, path: Path) -> None:
        """Open the one model of a file, or ask which."""
        try:
            found = candidates.candidates(path.read_text(encoding="utf-8", errors="replace"))
        except (OSError, SyntaxError):
            found = ()  # opening it says what is wrong with it
        if len(found) > 1:
            self.ask_model(f"{path}:{found[0]}", [f"{path}:{name}" for name in found])
        else:
            self.open(f"{path}:{found[0]}" if found else str(path))

    def ask_weights(self) -> None:
        """Ask for a file of weights for the present model."""
        words = self.tr("Weights (*.safetensors *.pt *.pth)")
        path, _ = QFileDialog.getOpenFileName(self._window, self.tr("Load weights"), "", words)
        if path:
            self.load_weights(Path(path))

    def load_weights(self, path: Path) -> None:
        """Open the present model again with the weights of a file."""
        card = self._session.card
        if card is None or not card.spec:
            self._session.tell(
                Message(
                    "warn",
                    self.tr("This model has no name to open it by."),
                    self.tr("Load its weights in your code."),
                )
            )
            return
        self._keep()
        self.open(card.spec, str(path))

    def reload(self) -> None:
        """Open the present model again; ticks and selection stay."""
        card, model = self._session.card, self._session.model
        self._keep()
        if card is not None and card.spec:
            self.open(card.spec, self._weights)
        elif model is not None:
            self._session.set_model(model)

    def _keep(self) -> None:
        self._kept = (self._session.plan, self._session.selection)

    def _on_model_changed(self) -> None:
        session = self._session
        if session.tree is None or session.card is None:
            return
        if session.card.spec:
            settings.remember_model(session.card.spec, self._weights if self._spec else "")
        auto, session.auto = session.auto, False  # one run at the end, not one for every change
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

    def _begin(self) -> None:
        session, kept = self._session, self._kept
        self._kept = None
        assert session.tree is not None
        assert session.card is not None
        paths = {node.path for node in session.tree.walk()}
        if kept is not None and kept[1].path in paths:
            session.select(path=kept[1].path, channel=kept[1].channel)
            session.set_plan(dataclasses.replace(session.plan, paths=kept[0].paths & paths))
            return
        start = start_of(session.tree, session.card.spec)
        session.select(path=start.path, channel=start.channel, cell=start.cell)
        session.set_plan(dataclasses.replace(session.plan, paths=start.ticks))

    def _fitting(self) -> list[Any]:
        """Return an input for a model that came without one: its card's example, or a guess."""
        card, model = self._session.card, self._session.model
        if card is not None and card.example:
            return [card.example]
        try:
            return [guess(model)] if model is not None else []
        except HookViewerError as error:
            self._session.tell(Message("info", str(error)))
            return []

    # -- inputs ---------------------------------------------------------------------------------------------

    def ask_inputs(self) -> None:
        """Ask for pictures and arrays."""
        ends = " ".join(f"*{end}" for end in sorted(dropping.picture_suffixes()))
        words = self.tr("Pictures and arrays ({});;All files (*)").format(f"{ends} *.npy")
        paths, _ = QFileDialog.getOpenFileNames(self._window, self.tr("Add input"), "", words)
        if paths:
            self._session.open_inputs(paths)

    def ask_shape(self, kind: str) -> None:
        """Ask for the shape of a generated input; a guess stands there already."""
        shape, reason = "1x3x224x224", ""
        try:
            given = guess(self._session.model) if self._session.model is not None else None
        except HookViewerError as error:
            given, reason = None, str(error)
        found = input_leaves(given.args, given.kwargs) if given is not None else []
        if given is not None and found:
            shape = "x".join(str(size) for size in found[0][1].shape)
            reason = " ".join(given.notes)
        dialog = ShapeDialog(kind, shape, reason, self._window)
        dialog.chosen.connect(lambda spec: self._session.open_inputs([spec]))
        dialog.open()

    def drop(self, dropped: dropping.Dropped) -> None:
        """Do with dropped files what the drop zone said."""
        if dropped.models:
            self.open_python_file(dropped.models[0])
        elif dropped.weights:
            self.load_weights(dropped.weights[0])
        elif dropped.inputs and self._session.model is not None:
            self._session.open_inputs([str(path) for path in dropped.inputs])
        else:
            head, text, error = dropping.words(dropped, self._model_name())
            self._session.tell(Message("warn", head, f"{text} {error}".strip()))

    def _model_name(self) -> str:
        return self._session.card.name if self._session.card is not None else ""


def _known_names() -> list[str]:
    from torchvision import models

    from hookviewer.sources.demo import DEMOS

    names = [f"torchvision.models:{name}" for name in models.list_models(module=models)]
    return [*(f"demo:{name}" for name in DEMOS), *names]
