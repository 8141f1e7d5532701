"""A label that takes what room there is in its row, and claims what its shortest version needs."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QSizePolicy

from hookviewer.gui.giving_way import Elided

MOST = 420


class Claiming(Elided):
    """Other parts of the row are hidden before its shortest version is cut."""

    def __init__(self, *, role: str, size: float = 11) -> None:
        super().__init__(role=role, size=size)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def say(self, *versions: str) -> None:
        super().say(*versions)
        self.setMinimumWidth(self._claim())
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(self._claim(), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _claim(self) -> int:
        return min(self.fontMetrics().horizontalAdvance(self.versions[-1]) + 6, MOST)
