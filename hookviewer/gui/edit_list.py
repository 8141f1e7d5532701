"""The list of edits: its model, how a row is painted, and what mouse and keys do with a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QTextLayout, QTextOption
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from hookviewer.gui import icons
from hookviewer.gui.editing import ListedEdit, Outcome
from hookviewer.gui.guard import guarded
from hookviewer.gui.indicators import TICK
from hookviewer.gui.session import Session
from hookviewer.gui.theme import MEDIUM, font, keeper, scaled, theme

Index = QModelIndex | QPersistentModelIndex
NUMBER = Qt.ItemDataRole.UserRole
OUTCOME = Qt.ItemDataRole.UserRole + 1
ROW_HEIGHT = 62
MIME = "application/x-hookviewer-edit"
_TONES = {"done": "text_2", "off": "text_3", "waiting": "text_3", "warn": "warn", "error": "error"}
_SIGNS = {"warn": "triangle-alert", "error": "circle-alert"}
_NONE = QModelIndex()


class EditModel(QAbstractListModel):
    """One row per edit of the session, in the order in which they apply; a tick switches it on."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._rows: tuple[ListedEdit, ...] = session.editing.listed
        session.editing.changed.connect(self._on_changed)
        session.editing.told.connect(self._tell_all)

    def _on_changed(self) -> None:
        rows = self._session.editing.listed
        if [one.number for one in rows] == [one.number for one in self._rows]:
            self._rows = rows
            self._tell_all()
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def _tell_all(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    def index_of(self, number: int | None) -> QModelIndex:
        """Return the index of an edit's row; an invalid one where it is not listed."""
        places = [place for place, one in enumerate(self._rows) if one.number == number]
        return self.index(places[0]) if places else QModelIndex()

    def rowCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsDragEnabled

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.choice.words
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if row.on else Qt.CheckState.Unchecked
        if role == NUMBER:
            return row.number
        if role == OUTCOME:
            return self._outcome(row)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{index.row() + 1}. {row.choice.words}\n{self._outcome(row).words}"
        return None

    def _outcome(self, row: ListedEdit) -> Outcome:
        if all(one.number != row.number for one in self._session.editing.listed):
            return Outcome("waiting", "")
        return self._session.editing.outcome(row.number)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        number = self._rows[index.row()].number
        self._session.editing.switch(number, Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    # -- dragging -------------------------------------------------------------------------------------------

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        data.setData(MIME, str(indexes[0].data(NUMBER)).encode())
        return data

    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Move an edit; the rows are made anew by that, so nothing is left for the view to remove."""
        if not data.hasFormat(MIME):
            return False
        number = int(bytes(data.data(MIME).data()).decode())
        here = next((at for at, one in enumerate(self._rows) if one.number == number), None)
        if here is None:
            return False
        place = row if row >= 0 else parent.row() if parent.isValid() else len(self._rows)
        self._session.editing.move(number, place - 1 if here < place else place)
        return False


def switch_rect(row: QRect) -> QRect:
    """Return where the switch of a row lies."""
    return QRect(row.left() + 12, row.top() + scaled(10), TICK, TICK)


class EditDelegate(QStyledItemDelegate):
    """Paints a row: switch and number, the edit in words on up to two lines, and what it came to."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._name, self._small, self._mono = font("ui", 12, MEDIUM), font("ui", 11), font("mono", 11)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, scaled(ROW_HEIGHT))

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        outcome, colours, rect = index.data(OUTCOME), theme(), option.rect
        if outcome is None:
            return
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        on = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) == Qt.CheckState.Checked
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if chosen:
            painter.setBrush(colours["select"])
            painter.drawRoundedRect(QRectF(rect).adjusted(4, 1, -4, -1), 6, 6)
        painter.drawPixmap(switch_rect(rect).topLeft(), icons.indicator("tick-on" if on else "tick-off"))
        left = switch_rect(rect).right() + 8
        painter.setFont(self._mono)
        painter.setPen(colours["text_2" if chosen else "text_3"])
        number = QRect(left, rect.top() + scaled(7), scaled(20), scaled(18))
        painter.drawText(number, Qt.AlignmentFlag.AlignVCenter, str(index.row() + 1))
        words = QRect(number.right(), number.top(), rect.right() - 14 - number.right(), scaled(34))
        painter.setFont(self._name)
        painter.setPen(colours["text" if on else "text_2" if chosen else "text_3"])
        below = _draw_lines(painter, words, str(index.data()))
        line = QRect(words.left(), below + 2, words.width(), scaled(16))
        self._paint_outcome(painter, line, outcome, chosen)
        painter.restore()

    def _paint_outcome(self, painter: QPainter, line: QRect, outcome: Outcome, chosen: bool) -> None:
        token = _TONES[outcome.tone]
        if outcome.tone in _SIGNS:
            painter.drawPixmap(
                line.left(), line.center().y() - 6, icons.pixmap(_SIGNS[outcome.tone], token, 14)
            )
            line = line.adjusted(18, 0, 0, 0)
        painter.setFont(self._small)
        painter.setPen(theme()["text_2" if chosen and token == "text_3" else token])
        shown = painter.fontMetrics().elidedText(outcome.words, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, shown)


def _draw_lines(painter: QPainter, area: QRect, text: str) -> int:
    """Draw a text on up to two lines, what does not fit is cut at the end; return where it ends."""
    measure, option = painter.fontMetrics(), QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout = QTextLayout(text, painter.font())
    layout.setTextOption(option)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(max(area.width(), 20))
    layout.endLayout()
    first, rest = text[: line.textLength()].rstrip(), text[line.textLength() :].lstrip()
    parts = [first, rest] if rest else [first]
    for place, part in enumerate(parts):
        shown = measure.elidedText(part, Qt.TextElideMode.ElideRight, area.width())
        row = QRect(area.left(), area.top() + place * scaled(17), area.width(), scaled(17))
        painter.drawText(row, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
    return area.top() + len(parts) * scaled(17)


class EditList(QListView):
    """A click on a switch switches; rows are dragged, or moved by Alt and the arrow keys."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setObjectName("edit_list")
        self.setAccessibleName(self.tr("Edits"))
        self.rows = EditModel(session, self)
        self.setModel(self.rows)
        self.setItemDelegate(EditDelegate(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDragDropOverwriteMode(False)
        self.customContextMenuRequested.connect(self._on_menu_requested)
        self.doubleClicked.connect(lambda index: self.edit_again())
        self.rows.modelReset.connect(self._on_reset)
        self._number: int | None = None
        self.selectionModel().currentChanged.connect(self._on_current_changed)
        keeper().changed.connect(self.viewport().update)

    @property
    def number(self) -> int | None:
        """The edit whose row is the current one."""
        number: int | None = self.currentIndex().data(NUMBER)
        return number

    def _on_current_changed(self, current: QModelIndex) -> None:
        if current.isValid():
            self._number = current.data(NUMBER)

    def _on_reset(self) -> None:
        """Keep the current edit where it has gone to; a new list has the last one."""
        index = self.rows.index_of(self._number)
        if not index.isValid() and self.rows.rowCount():
            index = self.rows.index(self.rows.rowCount() - 1)
        if index.isValid():
            self.setCurrentIndex(index)

    def show_edit(self, number: int) -> None:
        """Make the row of an edit the current one."""
        index = self.rows.index_of(number)
        if index.isValid():
            self.setCurrentIndex(index)

    # -- what is done with the current row ------------------------------------------------------------------

    def edit_again(self) -> None:
        """Ask for the current edit to be chosen again."""
        if self.number is not None:
            self._session.editing.ask(self._session.editing.row(self.number).choice, self.number)

    def move_by(self, step: int) -> None:
        """Let the current edit apply so many places later."""
        if self.number is not None:
            self._session.editing.move(self.number, self.currentIndex().row() + step)

    def remove(self) -> None:
        """Take the current edit off the list."""
        if self.number is not None:
            self._session.editing.remove(self.number)

    def go_to(self) -> None:
        """Select the module of the current edit."""
        if self.number is not None:
            self._session.select(path=self._session.editing.row(self.number).choice.path)

    def turn(self, index: QModelIndex) -> None:
        """Switch an edit on or off."""
        on = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) != Qt.CheckState.Checked
        state = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
        self.rows.setData(index, state, Qt.ItemDataRole.CheckStateRole)

    # -- mouse and keys -------------------------------------------------------------------------------------

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        index = self.indexAt(point)
        area = switch_rect(self.visualRect(index)).adjusted(-8, -8, 6, 8)
        if event.button() == Qt.MouseButton.LeftButton and index.isValid() and area.contains(point):
            self.turn(index)
            event.accept()
            return
        super().mousePressEvent(event)

    @guarded
    def keyPressEvent(self, event: QKeyEvent) -> None:
        index, key = self.currentIndex(), event.key()
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if not index.isValid():
            super().keyPressEvent(event)
        elif event.modifiers() & Qt.KeyboardModifier.AltModifier and key in steps:
            self.move_by(steps[Qt.Key(key)])
        elif key == Qt.Key.Key_Space:
            self.turn(index)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.edit_again()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove()
        else:
            super().keyPressEvent(event)

    def _on_menu_requested(self, point: QPoint) -> None:
        index = self.indexAt(point)
        if index.isValid():
            self.setCurrentIndex(index)
            self.menu().popup(self.viewport().mapToGlobal(point))

    def menu(self) -> QMenu:
        """Return the menu of the current row."""
        editing = self._session.editing
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Edit again…") + "\tEnter", self.edit_again)
        menu.addAction(self.tr("Switch on or off") + "\tSpace", lambda: self.turn(self.currentIndex()))
        menu.addAction(self.tr("Earlier") + "\tAlt+↑", lambda: self.move_by(-1))
        menu.addAction(self.tr("Later") + "\tAlt+↓", lambda: self.move_by(1))
        menu.addAction(self.tr("Go to the layer"), self.go_to)
        menu.addSeparator()
        menu.addAction(self.tr("Switch all on"), lambda: editing.switch_all(True))
        menu.addAction(self.tr("Switch all off"), lambda: editing.switch_all(False))
        menu.addAction(self.tr("Remove") + "\tDel", self.remove)
        menu.addAction(self.tr("Remove all"), editing.clear)
        return menu
