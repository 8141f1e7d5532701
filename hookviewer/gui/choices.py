"""Combo boxes in the look of the window: with an icon and a short form, or as two segments side by side."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyledItemDelegate, QStyleOptionComboBox, QWidget

from hookviewer.gui import icons
from hookviewer.gui.guard import guarded
from hookviewer.gui.theme import MEDIUM, font, keeper, scaled, theme

HEIGHT = 28


class Choice(QComboBox):
    """A combo box that shows an icon before its text, and can show the text in a shorter form."""

    _icon = ""  # Qt asks for the style while the object is being made
    _short = False

    def __init__(self, name: str, icon: str, tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = icon
        self.setObjectName(name)
        self.setToolTip(tip)
        self.setAccessibleName(tip)
        self.setFont(font("ui", 12))
        self.setFixedHeight(scaled(HEIGHT))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setIconSize(QSize(16, 16))
        self.setItemDelegate(QStyledItemDelegate(self))  # Fusion's own ignores the stylesheet
        self.currentIndexChanged.connect(self.updateGeometry)
        keeper().changed.connect(self.update)

    def shorten(self, on: bool) -> None:
        """Show the part of the text before a colon only."""
        if on != self._short:
            self._short = on
            self.updateGeometry()
            self.update()

    def shown_text(self) -> str:
        """Return the text as it is shown now."""
        text = self.currentText()
        return text.partition(":")[0] if self._short and not text.startswith("cuda:") else text

    def sizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance(self.shown_text())
        return QSize(width + (72 if self._icon else 48), self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(scaled(48), self.height())

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        super().initStyleOption(option)
        room = self.width() - (70 if self._icon else 46)
        text = self.fontMetrics().elidedText(self.shown_text(), Qt.TextElideMode.ElideRight, max(room, 10))
        option.currentText = f" {text}" if self._icon else text
        if self._icon:
            option.currentIcon = icons.icon(self._icon, "text_2")

    def showPopup(self) -> None:
        view = self.view()
        view.setMinimumWidth(max(self.width(), view.sizeHintForColumn(0) + 36))
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # scrolling past the bar must not start a run


class SegmentChoice(QComboBox):
    """A combo box with all its few items in sight as segments; a click chooses, arrow keys too."""

    def __init__(self, name: str, tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setToolTip(tip)
        self.setAccessibleName(tip)
        self.setFont(font("ui", 12, MEDIUM))
        self.setFixedHeight(scaled(HEIGHT))
        keeper().changed.connect(self.update)

    def _width(self, place: int) -> int:
        return self.fontMetrics().horizontalAdvance(self.itemText(place)) + 26

    def sizeHint(self) -> QSize:
        return QSize(sum(self._width(place) for place in range(self.count())) + 4, self.height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def segment(self, place: int) -> QRectF:
        """Return where a segment is painted."""
        left = 2 + sum(self._width(before) for before in range(place))
        return QRectF(left, 2, self._width(place), self.height() - 4)

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        for place in range(self.count()):
            if self.segment(place).contains(event.position()):
                self.setCurrentIndex(place)
        event.accept()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def showPopup(self) -> None:
        """Show no list: every item is in sight."""

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, colours, on = QPainter(self), theme(), self.isEnabled()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(colours["focus"] if self.hasFocus() else colours["control"])
        painter.setBrush(colours["control"])
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setFont(self.font())
        for place in range(self.count()):
            chosen = place == self.currentIndex() and on
            if chosen:
                painter.setPen(colours["control_pressed" if colours.dark else "border"])
                painter.setBrush(colours["control_pressed" if colours.dark else "raised"])
                painter.drawRoundedRect(self.segment(place).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
            painter.setPen(colours["text_off" if not on else "text" if chosen else "text_2"])
            painter.drawText(self.segment(place), Qt.AlignmentFlag.AlignCenter, self.itemText(place))
