"""The target: the number that a gradient starts from."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from hookviewer.gui.choices import Choice
from hookviewer.gui.class_chooser import ClassChooser
from hookviewer.gui.session import Session
from hookviewer.gui.state import Guess, TargetChoice
from hookviewer.leaves import leaves

CHOOSE = "choose"
MOST_LEAVES = 12
"""Tensors of an output that have targets of their own in the list."""


class TargetBox(Choice):
    """Top class, sum, the five likeliest classes of the current input, any class, or no gradients at all."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("target", "crosshair", "", parent)
        tip = self.tr("Target: the number a gradient starts from")
        self.setToolTip(tip)
        self.setAccessibleName(tip)
        self._session = session
        self._listed: list[tuple[str, object]] = []
        for signal in (session.settings_changed, session.runs_changed, session.selection_changed):
            signal.connect(self.refresh)
        session.model_changed.connect(self.refresh)
        self.currentIndexChanged.connect(self._on_current_index_changed)
        self.refresh()

    def refresh(self) -> None:
        """List the targets with the names that they have now."""
        listed = self._entries()
        if listed == self._listed:
            return
        self._listed = listed
        before = self.blockSignals(True)
        self.clear()
        for text, data in listed:
            self.addItem(text, data)
        self._show_chosen()
        self.blockSignals(before)
        self.updateGeometry()
        self.update()

    def _entries(self) -> list[tuple[str, object]]:
        guesses, chosen = self._guesses(), self._session.settings.target
        top = self.tr("Top class") + (f": {guesses[0].name}" if guesses else "")
        entries: list[tuple[str, object]] = [
            (top, TargetChoice("top")),
            (self.tr("Sum of the output"), TargetChoice("sum")),
        ]
        entries += [
            (f"{guess.name}  {guess.share:.2f}", TargetChoice("class", guess.index)) for guess in guesses
        ]
        entries += self._leaf_entries()
        if chosen.rule == "class" and chosen.index not in [guess.index for guess in guesses]:
            entries.append((self.class_name(chosen.index), chosen))
        return [*entries, (self.tr("Class…"), CHOOSE), (self.tr("No gradients"), TargetChoice("none"))]

    def _leaf_entries(self) -> list[tuple[str, object]]:
        """Return targets for each tensor of an output of several, where the first alone is not all."""
        item = self._session.current_input
        run = self._session.runs.get(item.number) if item is not None else None
        found = leaves(run.recording.output) if run is not None else []
        scored = [(leaf, tensor) for leaf, tensor in found if tensor.is_floating_point() and tensor.numel()]
        if len(scored) < 2:
            return []
        entries: list[tuple[str, object]] = []
        for leaf, tensor in scored[:MOST_LEAVES]:
            if tensor.ndim and tensor.shape[min(1, tensor.ndim - 1)] > 1:
                entries.append((self.tr("Top class of {}").format(leaf), TargetChoice("top", leaf=leaf)))
            entries.append((self.tr("Sum of {}").format(leaf), TargetChoice("sum", leaf=leaf)))
        return entries

    def _guesses(self) -> tuple[Guess, ...]:
        item = self._session.current_input
        run = self._session.runs.get(item.number) if item is not None else None
        return run.guesses[:5] if run is not None else ()

    def class_name(self, index: int) -> str:
        """Return a class's name, or its number where the model says none."""
        card = self._session.card
        names = card.class_names if card is not None else ()
        return names[index] if 0 <= index < len(names) else self.tr("class {}").format(index)

    def class_names(self) -> list[str]:
        """Return the names of all classes; as many as the output is long where there are no names."""
        card = self._session.card
        if card is not None and card.class_names:
            return list(card.class_names)
        found = [tensor for run in self._session.runs.values() for _, tensor in leaves(run.recording.output)]
        count = found[0].shape[-1] if found and found[0].ndim in (1, 2) else 1000
        return [self.class_name(index) for index in range(count)]

    def _show_chosen(self) -> None:
        chosen = self._session.settings.target
        places = [place for place, (_, data) in enumerate(self._listed) if data == chosen]
        self.setCurrentIndex(places[0] if places else 0)

    def _on_current_index_changed(self, place: int) -> None:
        data = self._listed[place][1] if 0 <= place < len(self._listed) else None
        if isinstance(data, TargetChoice):
            self._session.set_settings(target=data)
        elif data == CHOOSE:
            self.choose_class()

    def choose_class(self) -> None:
        """Ask for a class by name or number."""
        before = self.blockSignals(True)
        self._show_chosen()
        self.blockSignals(before)
        dialog = ClassChooser(self.class_names(), self.window())
        dialog.chosen.connect(lambda index: self._session.set_settings(target=TargetChoice("class", index)))
        dialog.open()
