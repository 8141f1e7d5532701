"""The line over the wall that tells how far a run is."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy

from hookviewer.gui.quiet_bar import QuietBar
from hookviewer.gui.wall import words


def progress_line() -> QuietBar:
    """Return the line, hidden; its place is kept."""
    made = QuietBar()
    made.setTextVisible(False)
    made.setFixedHeight(2)
    made.setRange(0, 1000)
    policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    policy.setRetainSizeWhenHidden(True)
    made.setSizePolicy(policy)
    made.setAccessibleName(words.tr("Progress of the run"))
    made.hide()
    return made
