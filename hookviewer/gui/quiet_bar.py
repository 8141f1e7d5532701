"""A progress bar that is painted when the window is next, not while its value is set."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar


class QuietBar(QProgressBar):
    """A `QProgressBar` for values that come often.

    Qt's own bar paints at once, and all that is due in the window with it: many times a second during a run.
    """

    def setValue(self, value: int) -> None:
        """Show a value in the next picture of the window."""
        self.setUpdatesEnabled(False)
        super().setValue(value)
        self.setUpdatesEnabled(True)
