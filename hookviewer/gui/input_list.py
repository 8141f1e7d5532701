"""The list of inputs: its model, and how a row is painted."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont, QPainter, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from hookviewer.gui import icons, input_words, likely, thumbnails
from hookviewer.gui.guard import guarded
from hookviewer.gui.indicators import TICK
from hookviewer.gui.session import Session
from hookviewer.gui.state import Progress
from hookviewer.gui.theme import MEDIUM, font, scaled, theme

Index = QModelIndex | QPersistentModelIndex
NUMBER = Qt.ItemDataRole.UserRole
LINE = Qt.ItemDataRole.UserRole + 1
ROW_HEIGHT = 52
_NONE = QModelIndex()
_TONES = {"running": "accent", "waiting": "text_3", "error": "error", "done": "text_2"}


class InputModel(QAbstractListModel):
    """One row per input of the session; a tick runs it and gives it a column."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._items = session.inputs
        self._progress: Progress | None = None
        self._thumbnails: dict[int, QPixmap | None] = {}
        session.inputs_changed.connect(self._on_inputs_changed)
        session.runs_changed.connect(self._tell_all)
        session.run_started.connect(self._on_run_started)
        session.run_progressed.connect(self._on_run_progressed)
        session.run_finished.connect(self._on_run_started)

    def _on_inputs_changed(self) -> None:
        same = [item.number for item in self._items] == [item.number for item in self._session.inputs]
        if same:
            self._items = self._session.inputs
            self._tell_all()
            return
        self.beginResetModel()
        self._items = self._session.inputs
        self.endResetModel()

    def _on_run_started(self) -> None:
        self._progress = None
        self._tell_all()

    def _on_run_progressed(self, progress: Progress) -> None:
        self._progress = progress
        self._tell_all()

    def _tell_all(self) -> None:
        if self._items:
            self.dataChanged.emit(self.index(0), self.index(len(self._items) - 1))

    def index_of(self, number: int) -> QModelIndex:
        """Return the index of an input's row; an invalid one where it is not listed."""
        places = [place for place, item in enumerate(self._items) if item.number == number]
        return self.index(places[0]) if places else QModelIndex()

    def thumbnail(self, row: int) -> QPixmap | None:
        """Return the small picture of a row; None where there is nothing to draw."""
        item = self._items[row]
        if item.number not in self._thumbnails:
            picture = thumbnails.picture_of(item.input)
            self._thumbnails[item.number] = thumbnails.thumbnail(picture) if picture is not None else None
        return self._thumbnails[item.number]

    def rowCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self._items)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.isValid() else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or not 0 <= index.row() < len(self._items):
            return None
        item = self._items[index.row()]
        run = self._session.runs.get(item.number)
        if role == Qt.ItemDataRole.DisplayRole:
            return item.input.name
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if item.ticked else Qt.CheckState.Unchecked
        if role == NUMBER:
            return item.number
        if role == LINE:
            return input_words.line(item, run, self._progress, self._session.running)
        if role == Qt.ItemDataRole.ToolTipRole:
            return input_words.tooltip(item, run)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        number = self._items[index.row()].number
        self._session.tick_input(number, Qt.CheckState(value) == Qt.CheckState.Checked)
        return True


def tick_rect(row: QRect) -> QRect:
    """Return where the tick lies in a row."""
    return QRect(row.left() + 12, row.center().y() - 6, TICK, TICK)


class InputDelegate(QStyledItemDelegate):
    """Paints a row: tick, thumbnail, dot and name, and below what the net says of it."""

    def __init__(self, model: InputModel, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._name, self._small, self._mono = font("ui", 13, MEDIUM), font("ui", 11), font("mono", 11)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, scaled(ROW_HEIGHT))

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line, number = index.data(LINE), index.data(NUMBER)
        if line is None:
            return
        colours, rect = theme(), option.rect
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if chosen:
            painter.setBrush(colours["select"])
            painter.drawRoundedRect(QRectF(rect).adjusted(4, 1, -4, -1), 6, 6)
        ticked = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) == Qt.CheckState.Checked
        painter.drawPixmap(tick_rect(rect).topLeft(), icons.indicator("tick-on" if ticked else "tick-off"))
        left = self._paint_picture(painter, rect, index.row())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours.input(int(number)))
        painter.drawEllipse(QPointF(left + 4, rect.top() + 17.5), 4, 4)
        words = QRect(left + 14, rect.top() + 7, rect.right() - left - 24, 20)
        self._text(painter, words, str(index.data()), self._name, "text")
        self._paint_line(
            painter, QRect(left, rect.top() + 27, rect.right() - 14 - left, 18), line, int(number), chosen
        )
        painter.restore()

    def _paint_picture(self, painter: QPainter, rect: QRect, row: int) -> int:
        left, top = tick_rect(rect).right() + 10, rect.center().y() - 19
        picture = self._model.thumbnail(row)
        if picture is not None:
            painter.drawPixmap(left, top, picture)
        else:
            painter.setBrush(theme()["control"])
            painter.drawRoundedRect(QRectF(left, top, thumbnails.WIDTH, thumbnails.HEIGHT), 4, 4)
            painter.drawPixmap(left + 22, top + 12, icons.pixmap("hash", "text_3"))
        return left + thumbnails.WIDTH + 10

    def _paint_line(
        self, painter: QPainter, area: QRect, line: input_words.Line, number: int, chosen: bool
    ) -> None:
        token = "text_2" if chosen and line.tone == "waiting" else _TONES[line.tone]
        if line.share is None:
            self._text(painter, area, line.text, self._small, token)
            return
        colours = theme()
        painter.setFont(self._mono)
        painter.setPen(colours["text_2"])
        painter.drawText(
            area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, likely.share(line.share)
        )
        self._text(painter, area.adjusted(0, 0, -84, 0), line.text, self._small, token)
        track = QRectF(area.right() - 72, area.top() + 7.5, 38, 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours.tint(colours["bar"], 0.3, "select") if chosen else colours["bar_track"])
        painter.drawRoundedRect(track, 2, 2)
        painter.setBrush(colours.input(number))
        track.setWidth(max(4.0, track.width() * line.share))
        painter.drawRoundedRect(track, 2, 2)

    def _text(self, painter: QPainter, area: QRect, text: str, face: QFont, token: str) -> None:
        painter.setFont(face)
        painter.setPen(theme()[token])
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, max(area.width(), 0))
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
