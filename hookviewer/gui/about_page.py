"""The page about the program: its versions, to be copied into a report."""

from __future__ import annotations

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from hookviewer import __version__
from hookviewer.gui import icons, log
from hookviewer.gui.giving_way import Elided
from hookviewer.gui.messages import full_report, version_table
from hookviewer.gui.parts import button, column, frame, label, row, tool
from hookviewer.gui.theme import SEMIBOLD, scaled

WIDTH = 620


def open_log_folder() -> None:
    """Show the folder of the log files in the desktop's file browser."""
    log.folder().mkdir(parents=True, exist_ok=True)
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(log.folder())))


class AboutPage(QFrame):
    """Name, purpose, versions, and two buttons: the report and the log."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("overlayPage")
        mark = QLabel()
        mark.setPixmap(icons.mark(56))
        cross = tool("x", self.tr("Close") + "  Esc")
        cross.clicked.connect(self.closed)
        purpose = self.tr("Every map and every gradient of a PyTorch model, as they really were.")
        title = column(
            *(
                None,
                label(f"hookviewer {__version__}", "", 16, weight=SEMIBOLD),
                2,
                label(purpose, "second"),
                None,
            )
        )
        self.copy = button(self.tr("Copy report"), "primary")
        self.copy.setObjectName("copy_report")
        self.copy.clicked.connect(self._on_copy)
        folder = button(self.tr("Open log folder"))
        folder.clicked.connect(open_log_folder)
        licence = label(self.tr("MIT licence. Icons: Lucide, ISC."), "caption", 11)
        self.setLayout(
            column(
                *(row(mark, 8, title, None, cross), 16, self._table(), 16),
                row(licence, None, folder, self.copy, spacing=8),
                margins=(24, 20, 24, 20),
            )
        )
        self.setFixedWidth(scaled(WIDTH))

    def _table(self) -> QFrame:
        grid = QGridLayout()
        grid.setContentsMargins(16, 12, 16, 12)
        grid.setVerticalSpacing(6)
        grid.setHorizontalSpacing(16)
        for place, (name, value) in enumerate(version_table()):
            grid.addWidget(label(name, "caption", 11), place, 0)
            shown = Elided(value, size=11, mono=True)
            shown.setToolTip(value)
            grid.addWidget(shown, place, 1)
        grid.setColumnStretch(1, 1)
        return frame(grid, "card")

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(full_report())
        self.copy.setText(self.tr("Copied"))
