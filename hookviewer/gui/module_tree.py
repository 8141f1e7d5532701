"""The tree view of the modules: rounded selection, thin guides, quiet arrows, ticks by a click on them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyleOptionViewItem, QTreeView, QWidget

from hookviewer.gui import icons
from hookviewer.gui.call_paths import above
from hookviewer.gui.guard import guarded
from hookviewer.gui.module_columns import FULL_NAME, fitting
from hookviewer.gui.module_delegate import ModuleDelegate, room_beside, tick_rect
from hookviewer.gui.module_filter import ModuleFilter
from hookviewer.gui.module_model import (
    CALLS,
    FACTS,
    NAME,
    NODE,
    OUTPUT,
    PARAMETERS,
    PATH,
    SIZE,
    TYPE,
    ModuleModel,
)
from hookviewer.gui.module_words import shape_words
from hookviewer.gui.theme import font, keeper, scaled, theme

Index = QModelIndex | QPersistentModelIndex
MOST_MEASURED = 500
"""So many rows are measured to find out how much room names need."""
MEASURE_MS = 30


class ModuleTree(QTreeView):
    """A click on a tick ticks that module; with Shift or Alt also all modules below."""

    ticked_below = Signal(object, bool)

    def __init__(self, model: ModuleFilter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("module_tree")
        self.setAccessibleName(self.tr("Modules"))
        self._running = ""
        self._needs = (0, 0)
        self._later = QTimer(self, singleShot=True, interval=MEASURE_MS)
        self._later.timeout.connect(self._measure)
        self._rows = model
        self.setModel(model)
        self.setItemDelegate(ModuleDelegate(lambda: model.words, self._runs, self))
        self.setIndentation(13)
        self.setUniformRowHeights(True)
        self.setMouseTracking(True)
        self.setFont(font("ui", 13))
        self.setExpandsOnDoubleClick(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._set_up_header()
        model.dataChanged.connect(lambda: self._later.start())
        self._hovered = QPersistentModelIndex()
        keeper().changed.connect(self.viewport().update)

    def _set_up_header(self) -> None:
        header = self.header()
        header.setFont(font("ui", 11))
        header.setFixedHeight(scaled(24))
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(20)
        header.setSectionsClickable(False)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column in (TYPE, OUTPUT, PARAMETERS, CALLS, SIZE):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    @guarded
    def updateGeometries(self) -> None:
        super().updateGeometries()
        self._later.start()  # rows were opened, closed, hidden or are others now

    def _fit_columns(self) -> None:
        scale, (names, outputs) = scaled(100) / 100, self._needs
        widths = fitting(round(self.viewport().width() / scale), round(names / scale), round(outputs / scale))
        for column, size in zip((TYPE, OUTPUT, PARAMETERS, CALLS, SIZE), widths, strict=True):
            self.setColumnHidden(column, not size)
            if size:
                self.header().resizeSection(column, scaled(size))

    def _measure(self) -> None:
        """Find out how much room the names and the shapes of the open rows need."""
        names, mono = self.fontMetrics(), QFontMetrics(font("mono", 11))
        widest = shapes = 0
        for level, index in itertools.islice(self._open_rows(self._rows.index(0, 0), 1), MOST_MEASURED):
            node, facts = index.data(NODE), index.data(FACTS)
            text = min(names.horizontalAdvance(str(index.data())), scaled(FULL_NAME))
            widest = max(widest, level * self.indentation() + text + room_beside(node, facts))
            shape = shape_words(facts.outputs)
            shapes = max(shapes, mono.horizontalAdvance(shape) + 10 if shape else 0)
        if self._needs != (widest, shapes):
            self._needs = (widest, shapes)
            self._fit_columns()

    def _open_rows(self, index: QModelIndex, level: int) -> Iterator[tuple[int, QModelIndex]]:
        if not index.isValid():
            return
        yield level, index
        if self.isExpanded(index):
            for place in range(self._rows.rowCount(index)):
                yield from self._open_rows(self._rows.index(place, 0, index), level + 1)

    def run_at(self, path: str) -> None:
        """Mark the module that runs now, or the closed row that it lies in; nothing runs for ""."""
        if path == self._running:
            return
        changed = {*_around(self._running), *_around(path)}
        self._running = path
        model = cast(ModuleModel, self._rows.sourceModel())
        for one in changed:
            self._paint_again(self._rows.mapFromSource(model.index_of(one)))

    def _paint_again(self, index: QModelIndex) -> None:
        """Paint one row again, if it is in sight."""
        area = self.visualRect(index) if index.isValid() else QRect()
        if not area.isEmpty():
            self.viewport().update(0, area.top(), self.viewport().width(), area.height())

    # -- the mouse ------------------------------------------------------------------------------------------

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self._tick_at(event.position().toPoint())
        if index is None or event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        on = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) != Qt.CheckState.Checked
        if event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier):
            self.ticked_below.emit(index.data(NODE), on)
        else:
            state = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
            self.model().setData(index, state, Qt.ItemDataRole.CheckStateRole)
        event.accept()

    @guarded
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        if self._tick_at(point) is not None:
            self.mousePressEvent(event)
            return
        index = self.indexAt(point).siblingAtColumn(NAME)
        if index.isValid() and self.model().hasChildren(index):
            self.setExpanded(index, not self.isExpanded(index))
        event.accept()

    @guarded
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.indexAt(event.position().toPoint()).siblingAtColumn(NAME))
        if not event.buttons():
            super().mouseMoveEvent(event)

    @guarded
    def leaveEvent(self, event: object) -> None:
        self._hover(QModelIndex())

    def _hover(self, index: QModelIndex) -> None:
        if self._hovered != index:
            before = self._hovered
            self._paint_again(self._rows.index(before.row(), NAME, before.parent()))
            self._hovered = QPersistentModelIndex(index)
            self._paint_again(index)

    def _tick_at(self, point: QPoint) -> QModelIndex | None:
        index = self.indexAt(point).siblingAtColumn(NAME)
        if not index.isValid():
            return None
        area = tick_rect(self.visualRect(index)).adjusted(-3, -5, 3, 5)
        return index if area.contains(point) else None

    # -- painting -------------------------------------------------------------------------------------------

    def _runs(self, index: Index) -> bool:
        path, index = index.data(PATH), _plain(index)
        if not self._running:
            return False
        inside = path == "" or self._running.startswith(f"{path}.")
        closed = index.isValid() and not self.isExpanded(index)
        return bool(path == self._running or (inside and closed))

    @guarded
    def drawRow(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colours, row = theme(), option.rect
        area = QRectF(4, row.top(), self.viewport().width() - 8, row.height())
        chosen = self.selectionModel() is not None and self.selectionModel().isSelected(_plain(index))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if chosen or self._hovered == _plain(index).siblingAtColumn(NAME):
            painter.setBrush(colours["select" if chosen else "control"])
            painter.drawRoundedRect(area, 5, 5)
        if chosen:
            painter.setBrush(colours["accent"])
            painter.drawRoundedRect(QRectF(area.left(), area.top() + 5, 3, area.height() - 10), 1.5, 1.5)
        painter.restore()
        super().drawRow(painter, option, index)

    @guarded
    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        depth, parent = 0, index.parent()
        while parent.isValid():
            depth, parent = depth + 1, parent.parent()
        painter.setPen(theme()["guide"])
        step = self.indentation()
        for level in range(1, depth):
            x = rect.left() + level * step + step // 2
            painter.drawLine(x, rect.top(), x, rect.bottom())
        if self.model().hasChildren(index):
            arrow = "chevron-down" if self.isExpanded(_plain(index)) else "chevron-right"
            x = rect.left() + depth * step + (step - 14) // 2
            painter.drawPixmap(x, rect.center().y() - 6, icons.pixmap(arrow, "text_2", 14))


def _around(path: str) -> tuple[str, ...]:
    """Return a path and those of the modules it lies in; none for "", as nothing runs then."""
    return (path, *above(path)) if path else ()


def _plain(index: Index) -> QModelIndex:
    """Return the index that Qt's painting hands over; it is a plain one there."""
    return index if isinstance(index, QModelIndex) else QModelIndex()
