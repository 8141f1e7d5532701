"""The target: the number that a gradient starts from."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from hookviewer.gui import target_names
from hookviewer.gui.choices import Choice
from hookviewer.gui.session import Session
from hookviewer.gui.state import TargetChoice
from hookviewer.gui.target_classes import current_run, known_names
from hookviewer.gui.target_dialog import TargetDialog
from hookviewer.gui.target_value import value_lines
from hookviewer.target_choice import steps_of

CHOOSE = "choose"
MOST_LEAVES = 12
"""Tensors of an output that have targets of their own in the list."""


class TargetBox(Choice):
    """Top class, sum, the five likeliest classes of the current input, any other target, or no gradients."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("target", "crosshair", "", parent)
        tip = self.tr("Target: the number a gradient starts from")
        self.setToolTip(tip)
        self.setAccessibleName(tip)
        self._session = session
        self._listed: list[tuple[str, object]] = []
        for signal in (session.settings_changed, session.runs_changed, session.selection_changed):
            signal.connect(self.refresh)
        for changed in (session.model_changed, session.inputs_changed):
            changed.connect(self.refresh)
        self.currentIndexChanged.connect(self._on_current_index_changed)
        self.refresh()

    def refresh(self) -> None:
        """List the targets with the names that they have now."""
        listed = self._entries()
        before = self.blockSignals(True)
        said = self.currentText()
        if listed != self._listed:
            self._listed = listed
            self.clear()
            for text, data in listed:
                self.addItem(text, data)
        self._show_chosen()
        self.blockSignals(before)
        if self.currentText() != said:
            self.updateGeometry()
        self.setToolTip(value_lines(self._session))
        self.update()

    def _entries(self) -> list[tuple[str, object]]:
        chosen = self._session.settings.target
        run = current_run(self._session)
        guesses = run.guesses[:5] if run is not None else ()
        top = self.tr("Top class") + (f": {guesses[0].name}" if guesses else "")
        steps = steps_of(run.recording.output) if run is not None else ()
        if steps:
            top = self.tr("Sum of {}, the last of {}").format(steps[-1], len(steps))
        entries: list[tuple[str, object]] = [
            (top, TargetChoice("top")),
            (self.tr("Sum of the output"), TargetChoice("sum")),
        ]
        entries += [
            (f"{guess.name}  {guess.share:.2f}", TargetChoice("class", guess.index)) for guess in guesses
        ]
        entries += self._leaf_entries()
        if chosen.rule != "none" and all(data != chosen for _, data in entries):
            entries.append((target_names.short(chosen, known_names(self._session)), chosen))
        return [*entries, (self.tr("Target…"), CHOOSE), (self.tr("No gradients"), TargetChoice("none"))]

    def _leaf_entries(self) -> list[tuple[str, object]]:
        """Return targets for each tensor of an output of several, where the first alone is not all."""
        run = current_run(self._session)
        scored = target_names.float_leaves(run.recording.output) if run is not None else []
        if len(scored) < 2:
            return []
        entries: list[tuple[str, object]] = []
        for leaf, tensor in scored[:MOST_LEAVES]:
            if tensor.ndim and tensor.shape[min(1, tensor.ndim - 1)] > 1:
                entries.append((self.tr("Top class of {}").format(leaf), TargetChoice("top", leaf=leaf)))
            entries.append((self.tr("Sum of {}").format(leaf), TargetChoice("sum", leaf=leaf)))
        return entries

    def _show_chosen(self) -> None:
        chosen = self._session.settings.target
        places = [place for place, (_, data) in enumerate(self._listed) if data == chosen]
        self.setCurrentIndex(places[0] if places else 0)

    def _on_current_index_changed(self, place: int) -> None:
        data = self._listed[place][1] if 0 <= place < len(self._listed) else None
        if isinstance(data, TargetChoice):
            self._session.set_settings(target=data)
        elif data == CHOOSE:
            self.choose()

    def choose(self) -> TargetDialog:
        """Ask for any target: a class by name, a part of the output, a unit, a loss, a vector."""
        before = self.blockSignals(True)
        self._show_chosen()
        self.blockSignals(before)
        dialog = TargetDialog(self._session, self.window())
        dialog.chosen.connect(lambda target: self._session.set_settings(target=target))
        dialog.open()
        return dialog
