"""A matrix of layers × layers as a picture: the cell under the pointer in words, a click opens it."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget

from hookviewer import render
from hookviewer.differences import Similarity
from hookviewer.gui import depth
from hookviewer.gui.guard import guarded
from hookviewer.gui.theme import font, keeper, scaled, theme
from hookviewer.gui.wall import marks
from hookviewer.gui.wall.ramp import draw_ramp

COLORMAP = "magma"
LEFT, BOTTOM = 92, 72
RAMP = 120

Cell = tuple[int, int]


class Matrix(QFrame):
    """Rows are layers of A from top to bottom, columns layers of B; knows nothing of the session."""

    hovered = Signal(object)
    """The row and column under the pointer or the cursor, None without one."""
    opened = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cka_matrix")
        self.setAccessibleName(self.tr("CKA of every layer of A with every layer of B"))
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(QSize(scaled(320), scaled(280)))
        self.result: Similarity | None = None
        self.cell: Cell | None = None
        self._names, self._hint = ("A", "B"), ""
        self._image = QImage()
        keeper().changed.connect(self.update)

    def say(self, hint: str) -> None:
        """Say why there is no matrix, in its place."""
        if hint != self._hint:
            self._hint = hint
            self.update()

    def show_result(self, result: Similarity | None, names: tuple[str, str] = ("A", "B")) -> None:
        """Show another matrix; `names` are those of what its rows and its columns are layers of."""
        if result is self.result and names == self._names:
            return
        self._names = names
        if result is self.result:
            self.update()
            return
        self.result, self.cell = result, None
        self._image = QImage() if result is None or not result.values.size else image_of(result)
        self.update()

    @property
    def area(self) -> QRectF:
        """Where the cells are: all of one size."""
        if self.result is None or not self.result.values.size:
            return QRectF()
        rows, columns = self.result.values.shape
        wide, high = self.width() - scaled(LEFT) - 12, self.height() - scaled(BOTTOM) - 12
        side = max(min(wide / columns, high / rows), 1.0)
        return QRectF(scaled(LEFT), 8, side * columns, side * rows)

    def place_of(self, cell: Cell) -> QPointF:
        """Return the middle of a cell."""
        area, (rows, columns) = self.area, self._shape
        return QPointF(
            area.left() + (cell[1] + 0.5) * area.width() / columns,
            area.top() + (cell[0] + 0.5) * area.height() / rows,
        )

    def cell_at(self, point: QPointF) -> Cell | None:
        """Return the row and column at a point, None outside of the matrix."""
        area = self.area
        if not area.contains(point):
            return None
        rows, columns = self._shape
        row = int((point.y() - area.top()) * rows / area.height())
        column = int((point.x() - area.left()) * columns / area.width())
        return min(row, rows - 1), min(column, columns - 1)

    def picture(self) -> QImage:
        """Return the matrix with its names as a picture."""
        return self.grab().toImage()

    @property
    def _shape(self) -> tuple[int, int]:
        return (1, 1) if self.result is None else (len(self.result.rows), len(self.result.columns))

    def _point(self, cell: Cell | None) -> None:
        if cell != self.cell:
            self.cell = cell
            self.hovered.emit(cell)
            self.update()

    @guarded
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self.cell_at(event.position()))

    @guarded
    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        self._point(cell)
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.opened.emit(*cell)

    @guarded
    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
        }
        key = Qt.Key(event.key())
        if key in steps and self.result is not None:
            row, column = self.cell or (0, 0)
            rows, columns = self._shape
            down, across = steps[key]
            self._point((min(max(row + down, 0), rows - 1), min(max(column + across, 0), columns - 1)))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.cell is not None:
            self.opened.emit(*self.cell)
        else:
            super().keyPressEvent(event)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, colours, area = QPainter(self), theme(), self.area
        if self.result is None or area.isEmpty():
            marks.sentence(painter, self.rect().toRectF(), self._hint)
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        painter.drawImage(area, self._image)
        painter.setPen(colours["text_2"])
        painter.setFont(font("mono", 10))
        self._paint_names(painter, area)
        if self.cell is not None:
            middle, (rows, columns) = self.place_of(self.cell), self._shape
            wide, high = area.width() / columns, area.height() / rows
            painter.setPen(QPen(QColor("white"), 1))
            painter.drawRect(QRectF(middle.x() - wide / 2, middle.y() - high / 2, wide, high))

    def _paint_names(self, painter: QPainter, area: QRectF) -> None:
        assert self.result is not None
        rows = [key.path for key in self.result.rows]
        columns = [key.path for key in self.result.columns]
        height = painter.fontMetrics().height()
        low = -1e9
        for name, first, last in _marks(rows):
            y = area.top() + (first + last + 1) / 2 * area.height() / len(rows)
            if y - low >= height:
                low = y
                box = QRectF(0, y - height / 2, area.left() - 6, height)
                shown = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideLeft, int(box.width()))
                painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, shown)
        end = -1e9
        for name, first, last in _marks(columns):
            x = area.left() + (first + last + 1) / 2 * area.width() / len(columns)
            wide = painter.fontMetrics().horizontalAdvance(name)
            if x - wide / 2 >= end:
                end = x + wide / 2 + 6
                box = QRectF(x - wide / 2 - 1, area.bottom() + 3, wide + 2, height)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)
        self._paint_caption(painter, area.left(), area.bottom() + 2 * height + 10)

    def _paint_caption(self, painter: QPainter, left: float, line: float) -> None:
        """Say what is shown, and what the colours mean: the picture is understood without the window."""
        assert self.result is not None
        painter.setPen(theme()["text_2"])
        painter.setFont(font("ui", 11))
        kind = self.tr("unbiased linear CKA") if self.result.unbiased else self.tr("linear CKA")
        axes = self.tr("rows: A, {}; columns: B, {}; in order of execution").format(*self._names)
        wide = self.width() - left - 8
        measure = painter.fontMetrics()
        painter.drawText(
            QPointF(left, line), measure.elidedText(axes, Qt.TextElideMode.ElideRight, int(wide))
        )
        below = line + measure.height() + 2
        words = self.tr("{} over {} inputs").format(kind, self.result.inputs)
        painter.drawText(QPointF(left, below), words)
        start = left + measure.horizontalAdvance(words) + 24
        bar = QRectF(start + 12, below - 9, scaled(RAMP), 9)
        painter.drawText(QPointF(start, below), "0")
        painter.drawText(QPointF(bar.right() + 6, below), "1")
        draw_ramp(painter, bar, COLORMAP, (0.0, 1.0))


def _marks(paths: list[str]) -> list[tuple[str, int, int]]:
    """Return names along an axis with their first and last places: layers where they are few, else blocks."""
    if len(paths) <= 12:
        return [(path, place, place) for place, path in enumerate(paths)]
    return [(block.name, block.first, block.last) for block in depth.blocks(paths)]


def image_of(result: Similarity) -> QImage:
    """Return a pixel a cell: 0 to 1 in colours, what is undefined in that of NaN."""
    values = result.values
    table = render.colour_table(COLORMAP)
    known = np.nan_to_num(values)
    pixels = table[np.clip(np.rint(known * 255), 0, 255).astype(np.intp)].copy()
    odd = theme()["nan"]
    pixels[~np.isfinite(values)] = (odd.red(), odd.green(), odd.blue(), 255)
    rows, columns = values.shape
    pixels = np.ascontiguousarray(pixels, np.uint8)
    return QImage(pixels.tobytes(), columns, rows, 4 * columns, QImage.Format.Format_RGBA8888).copy()
