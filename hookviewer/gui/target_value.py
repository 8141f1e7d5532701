"""What the target came to on the current input, beside its name."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from hookviewer.gui import target_names
from hookviewer.gui.numbers import number
from hookviewer.gui.session import Session
from hookviewer.gui.state import Run
from hookviewer.gui.target_classes import current_run, known_names
from hookviewer.gui.theme import font


class TargetValue(QLabel):
    """`= 11.23`; the tip has every ticked input. Empty where the target has not been computed yet."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setObjectName("target_value")
        self.setProperty("role", "second")
        self.setFont(font("mono", 11))
        for signal in (session.runs_changed, session.settings_changed, session.selection_changed):
            signal.connect(self.refresh)
        session.inputs_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the value of the current input's run."""
        value = self._value(current_run(self._session))
        self.setText("" if value is None else f"= {number(value)}")
        chosen = target_names.sentence(self._session.settings.target, known_names(self._session))
        lines = [
            f"{item.input.name}: {number(found)}"
            for item in self._session.ticked_inputs
            if (found := self._value(self._session.runs.get(item.number))) is not None
        ]
        self.setToolTip("\n".join((chosen, *lines)))
        self.setAccessibleName(self.tr("Value of the target") + f" {self.text()}")

    def _value(self, run: Run | None) -> float | None:
        fits = run is not None and run.settings.target == self._session.settings.target
        return run.recording.target_value if run is not None and fits else None
