"""What the target came to on the current input, beside its name."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from hookviewer.gui import target_names
from hookviewer.gui.numbers import number
from hookviewer.gui.session import Session
from hookviewer.gui.state import Run, TargetChoice
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
        run = current_run(self._session)
        value = value_of(self._session, run)
        none = "" if run is None or not target_names.no_target(run.recording) else "= –"
        self.setText(none if value is None else f"= {number(value)}")
        self.setToolTip(value_lines(self._session))
        self.setAccessibleName(self.tr("Value of the target") + f" {self.text()}")


def value_of(session: Session, run: Run | None) -> float | None:
    """Return the value of the present target in a run; None where the run was made with another one."""
    fits = run is not None and run.settings.target == session.settings.target
    return run.recording.target_value if run is not None and fits else None


def value_lines(session: Session) -> str:
    """Return what gradients start from, and below it what that came to on every ticked input."""
    run = current_run(session)
    chosen = session.settings.target if run is None else in_force(session, run)
    lines = [target_names.sentence(chosen, known_names(session))]
    for item in session.ticked_inputs:
        made = session.runs.get(item.number)
        found = value_of(session, made)
        why = "" if made is None else target_names.no_target(made.recording)
        if found is not None or why:
            lines.append(f"{item.title}: {why if found is None else number(found)}")
    return "\n".join(lines)


def in_force(session: Session, run: Run) -> TargetChoice:
    """Return what the chosen target comes to in a run."""
    return target_names.in_force(session.settings.target, run.recording.output)
