"""How a row of the module tree is painted: tick, name, type badge, shape, calls, bar of mean |a|."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from hookviewer.gui import icons
from hookviewer.gui.call_nodes import CallNode
from hookviewer.gui.guard import guarded
from hookviewer.gui.indicators import TICK
from hookviewer.gui.module_facts import Facts
from hookviewer.gui.module_filter import matched_part
from hookviewer.gui.module_model import CALL, CALLS, FACTS, FAMILY, NAME, NODE, OUTPUT, PARAMETERS, TYPE
from hookviewer.gui.module_words import alias_words, call_words
from hookviewer.gui.theme import MEDIUM, font, scaled, theme
from hookviewer.modules import ModuleNode

Index = QModelIndex | QPersistentModelIndex
ROW_HEIGHT = 24
_TICKS = {
    Qt.CheckState.Checked: "tick-on",
    Qt.CheckState.PartiallyChecked: "tick-part",
    Qt.CheckState.Unchecked: "tick-off",
}
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


def tick_rect(cell: QRect) -> QRect:
    """Return where the tick lies in the first cell of a row."""
    return QRect(cell.left() + 2, cell.center().y() - 6, TICK, TICK)


def room_beside(node: ModuleNode, facts: Facts) -> int:
    """Return how many pixels of a row's first cell are taken by what is beside the name: tick and marks."""
    return TICK + 12 + 17 * len(_marks(node, facts))


class ModuleDelegate(QStyledItemDelegate):
    """Paints the cells; `words` gives the filter in force and `running` the path that runs now."""

    def __init__(self, words: Callable[[], str], running: Callable[[Index], bool], parent: QObject) -> None:
        super().__init__(parent)
        self._words = words
        self._running = running
        self._name_font, self._small, self._mono = font("ui", 13), font("ui", 11, MEDIUM), font("mono", 11)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(40, scaled(ROW_HEIGHT))

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        node, facts = index.data(NODE), index.data(FACTS)
        if node is None or facts is None:
            return
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        rect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        column = index.column()
        if column == NAME:
            self._paint_name(painter, rect, index, node, facts, chosen)
        elif column == TYPE:
            self._paint_type(painter, rect, node, facts, str(index.data(FAMILY)), chosen)
        elif column in (OUTPUT, PARAMETERS, CALLS):
            self._paint_number(painter, rect, index, facts, chosen)
        else:
            self._paint_bar(painter, rect, facts, chosen)
        painter.restore()

    def _paint_name(
        self, painter: QPainter, rect: QRect, index: Index, node: ModuleNode, facts: Facts, chosen: bool
    ) -> None:
        colours = theme()
        state = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole))
        idle = bool(facts.reason) and state == Qt.CheckState.Unchecked
        box = tick_rect(rect)
        painter.drawPixmap(box.topLeft(), icons.indicator("tick-none" if idle else _TICKS[state]))
        left, right = box.right() + 7, rect.right() - 2
        if self._running(index):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colours["accent"])
            painter.drawEllipse(QPointF(left + 3, rect.center().y() + 0.5), 3, 3)
            left += 12
        for mark, token in _marks(node, facts):
            right -= 17
            painter.drawPixmap(right + 2, rect.center().y() - 6, icons.pixmap(mark, token, 14))
        call = isinstance(node, CallNode) and node.functional
        face = QFont(self._name_font)
        face.setItalic(bool(facts.reason) or call)
        face.setWeight(MEDIUM if chosen else QFont.Weight.Normal)
        ink = colours["error" if facts.failed else "text_off" if facts.reason else "text"]
        if call and not (facts.failed or facts.reason):
            ink = colours.family["op"]
        self._paint_words(
            painter, QRect(left, rect.top(), right - left, rect.height()), index, node, face, ink
        )

    def _paint_words(
        self, painter: QPainter, area: QRect, index: Index, node: ModuleNode, face: QFont, ink: QColor
    ) -> None:
        second = call_words(index.data(CALL), index.data(FACTS).calls) or alias_words(node)
        measure = QFontMetrics(face)
        dim = bool(self._words()) and not index.model().hits(node)  # type: ignore[attr-defined]
        painter.setFont(face)
        name, before = str(index.data()), 0
        if node.name and name != node.name:
            before = self._paint_where(painter, area, name.removesuffix(node.name), node.name, second)
            name = node.name
        rest = area.adjusted(before, 0, 0, 0)
        painter.setPen(theme()["text_3"] if dim else ink)
        shown = measure.elidedText(name, Qt.TextElideMode.ElideRight, rest.width())
        painter.drawText(rest, _LEFT, shown)
        hit = matched_part(name, node.path, self._words())
        if hit and shown == name:
            painter.setPen(theme()["accent"])
            painter.drawText(
                rest.adjusted(measure.horizontalAdvance(name[: hit[0]]), 0, 0, 0),
                _LEFT,
                name[hit[0] : sum(hit)],
            )
        if second:
            rest = rest.adjusted(measure.horizontalAdvance(shown) + 6, 0, 0, 0)
            self._text(painter, rest, second, self._small, theme()["text_2"], _LEFT)

    def _paint_where(self, painter: QPainter, area: QRect, where: str, name: str, second: str) -> int:
        """Paint the path before a name, its end where there is no room for all; return its width."""
        measure = painter.fontMetrics()
        taken = measure.horizontalAdvance(name)
        taken += QFontMetrics(self._small).horizontalAdvance(second) + 8 if second else 0
        shown = measure.elidedText(where, Qt.TextElideMode.ElideLeft, max(area.width() - taken, 0))
        painter.setPen(theme()["text_3"])
        painter.drawText(area, _LEFT, shown)
        return measure.horizontalAdvance(shown)

    def _text(
        self, painter: QPainter, area: QRect, text: str, face: QFont, ink: QColor, align: Qt.AlignmentFlag
    ) -> None:
        painter.setFont(face)
        painter.setPen(ink)
        painter.drawText(
            area,
            align,
            painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, max(area.width(), 0)),
        )

    def _paint_type(
        self, painter: QPainter, rect: QRect, node: ModuleNode, facts: Facts, family: str, chosen: bool
    ) -> None:
        colours = theme()
        if facts.reason or family == "container":
            ink = colours["text_off" if facts.reason else "text_2" if chosen else "text_3"]
            self._text(painter, rect.adjusted(8, 0, -4, 0), node.type, self._small, ink, _LEFT)
            return
        ink = colours.family[family]
        painter.setFont(self._small)
        width = min(painter.fontMetrics().horizontalAdvance(node.type) + 12, rect.width() - 4)
        badge = QRectF(rect.left() + 2, rect.center().y() - 8, width, 17)
        if family == "op":
            painter.setPen(QPen(ink, 1, Qt.PenStyle.DashLine))
            badge = badge.adjusted(0.5, 0.5, -0.5, -0.5)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colours.tint(ink, 0.14 if colours.dark else 0.1))
        painter.drawRoundedRect(badge, 4, 4)
        self._text(painter, badge.toRect().adjusted(6, 0, -5, 0), node.type, self._small, ink, _LEFT)

    def _paint_number(self, painter: QPainter, rect: QRect, index: Index, facts: Facts, chosen: bool) -> None:
        text, face = str(index.data() or ""), self._mono
        strong = chosen or index.column() == OUTPUT or facts.calls > 1
        ink = theme()["text_2" if strong else "text_3"]
        if facts.reason:
            ink = theme()["text_off"]
            text = {OUTPUT: self.tr("not called"), CALLS: "–"}.get(index.column(), text)
            face = self._small if index.column() == OUTPUT else face
        self._text(painter, rect.adjusted(2, 0, -6, 0), text, face, ink, _RIGHT)

    def _paint_bar(self, painter: QPainter, rect: QRect, facts: Facts, chosen: bool) -> None:
        if facts.mean_abs is None:
            return
        colours = theme()
        track = QRectF(rect.left() + 4, rect.center().y() - 1.5, rect.width() - 12, 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours.tint(colours["bar"], 0.3, "select") if chosen else colours["bar_track"])
        painter.drawRoundedRect(track, 2, 2)
        painter.setBrush(colours["accent" if chosen else "bar"])
        track.setWidth(track.width() * bar_share(facts.mean_abs))
        painter.drawRoundedRect(track, 2, 2)


def bar_share(mean_abs: float) -> float:
    """Return how long the bar of a mean |a| is, on a log scale: 1 is half, a factor of ten 0.42."""
    return min(1.0, max(0.04, 0.5 + math.log10(mean_abs + 1e-9) * 0.42))


def _marks(node: ModuleNode, facts: Facts) -> list[tuple[str, str]]:
    marks = []
    if facts.failed:
        marks.append(("circle-alert", "error"))
    if facts.edited:
        marks.append(("pencil", "warn"))
    if node.user_hooks:
        marks.append(("anchor", "warn"))
    if node.aliases:
        marks.append(("link-2", "text_3"))
    return marks
