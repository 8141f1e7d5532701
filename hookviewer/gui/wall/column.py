"""One column of the wall: its head and its canvas."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from hookviewer.gui import parts
from hookviewer.gui.wall.canvas import Canvas
from hookviewer.gui.wall.column_head import ColumnHead


class WallColumn(QFrame):
    """A head and the canvas `wall_N` below it."""

    def __init__(self, number: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.head = ColumnHead()
        self.canvas = Canvas()
        self.canvas.setObjectName(f"wall_{number}")
        self.setLayout(parts.column(self.head, self.canvas))
