"""A single value, large."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter

from hookviewer.gui.state import Pointed
from hookviewer.gui.theme import MEDIUM, font, theme
from hookviewer.gui.views.view import Sheet, View
from hookviewer.gui.wall import marks
from hookviewer.gui.wall.words import tr, written


class SingleNumber(View):
    """The value of a record that has only one."""

    @classmethod
    def suits(cls, sheet: Sheet) -> int:
        return 10 if sheet.drawn.layout == "number" else -1

    def paint(self, painter: QPainter) -> None:
        painter.fillRect(self.area, theme()["canvas"])
        if self.sheet is None:
            return
        maps = self.sheet.column.maps
        if maps is None:
            say = marks.notice if self.sheet.column.waiting else marks.sentence
            say(painter, self.area, self.sheet.column.reason)
            return
        painter.setFont(font("mono", 22, MEDIUM))
        painter.setPen(theme()["text"])
        painter.drawText(self.area, Qt.AlignmentFlag.AlignCenter, written(maps.values.flat[0]))
        painter.setFont(font("ui", 11))
        painter.setPen(theme()["text_3"])
        painter.drawText(self.area.adjusted(0, 48, 0, 0), Qt.AlignmentFlag.AlignCenter, tr("one number"))

    def spot(self, point: QPointF) -> Pointed | None:
        return Pointed(0, (0, 0))
