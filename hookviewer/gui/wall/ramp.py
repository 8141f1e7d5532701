"""The colour map in force as a bar: a combo box to choose it, and a small one for the difference."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QIcon, QImage, QPainter, QPainterPath, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer import render
from hookviewer.gui.choices import Choice
from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.numbers import number
from hookviewer.gui.theme import font, keeper, scaled, theme
from hookviewer.gui.wall.words import tr

LONG, SHORT, SHORTEST = 112, 48, 24
THICK = 10


def ramp_image(colormap: str) -> QImage:
    """Return the 256 colours of a map in a row."""
    table = render.colour_table(colormap)
    return QImage(table.tobytes(), 256, 1, 1024, QImage.Format.Format_RGBA8888).copy()


def draw_ramp(painter: QPainter, area: QRectF, colormap: str, levels: tuple[float, float]) -> None:
    """Draw a colour map from left to right, with a tick where zero lies inside the levels."""
    look = theme()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    clip = QPainterPath()
    clip.addRoundedRect(area, 3, 3)
    painter.save()
    painter.setClipPath(clip)
    painter.drawImage(area, ramp_image(colormap))
    painter.restore()
    painter.setPen(QPen(look["border_strong"], 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
    low, high = levels
    if low < 0 < high:
        x = round(area.left() + area.width() * -low / (high - low)) + 0.5
        painter.setPen(QPen(look["text"], 1))
        painter.drawLine(QPointF(x, area.bottom() + 1), QPointF(x, area.bottom() + 4))


class RampChoice(Choice):
    """The combo box `colormap`, which shows the colours in force between the numbers of the scale."""

    # Qt asks for the size while the base class is still being made
    _icon, _short, _shrunk = "", False, False
    _colormap, _levels = "magma", (0.0, 1.0)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("colormap", "", tr("Colour map"), parent)
        self.addItem(tr("auto"), "auto")
        for name in render.COLORMAPS:
            self.addItem(QIcon(QPixmap.fromImage(ramp_image(name).scaled(56, 12))), name, name)
        self.setIconSize(QSize(56, 12))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_scale(self, colormap: str, levels: tuple[float, float]) -> None:
        """Show the colours in force and where zero lies."""
        self._colormap, self._levels = colormap, levels
        odd = tr("Outside every scale: NaN bright green, +inf pale green, −inf dark green")
        self.setToolTip("\n".join((tr("Colour map: {}").format(colormap), odd)))
        self.update()

    def shrink(self, on: bool) -> None:
        """Take as little room as a bar needs, or as much as it has shortened or in full."""
        if on != self._shrunk:
            self._shrunk = on
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        bar = SHORTEST if self._shrunk else SHORT if self._short else LONG
        return QSize(bar + 22, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(SHORTEST + 22, self.height())

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        look = theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus() or self.underMouse():
            painter.setPen(look["focus"] if self.hasFocus() else look["control_hover"])
            painter.setBrush(look["control_hover"])
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        area = QRectF(3, (self.height() - THICK) / 2, self.width() - 22, THICK)
        draw_ramp(painter, area, self._colormap, self._levels)
        painter.setPen(QPen(look["text_2"], 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        x, y = self.width() - 13, self.height() / 2 - 1.5
        painter.drawPolyline([QPointF(x, y), QPointF(x + 4, y + 4), QPointF(x + 8, y)])


class Ramp(QWidget):
    """A colour map with the numbers of its scale at both ends, only to be read."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colormap, self._levels, self._short = "ember", (0.0, 1.0), False
        self.setFixedHeight(scaled(28))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        keeper().changed.connect(self.update)

    def show_scale(self, colormap: str, levels: tuple[float, float]) -> None:
        """Show other colours or another scale."""
        self._colormap, self._levels = colormap, levels
        ends = [number(level) for level in levels]
        self.setAccessibleName(tr("Difference from {} to {}").format(*ends))
        self.setToolTip(tr("Scale of the difference: {} to {}").format(*ends))
        self.updateGeometry()
        self.update()

    def shorten(self, on: bool) -> None:
        """Show a smaller bar and the upper end only: zero is in the middle of a difference."""
        if on != self._short:
            self._short = on
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(sum(self._sides())) + (SHORT // 2 if self._short else SHORT), self.height())

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        left, right = self._sides()
        painter.setFont(font("mono", 11))
        painter.setPen(theme()["text_2"])
        ends = self._ends()
        height = self.height()
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, 0, left - 6, height), middle | Qt.AlignmentFlag.AlignRight, ends[0])
        side = QRectF(self.width() - right + 6, 0, right, height)
        painter.drawText(side, middle | Qt.AlignmentFlag.AlignLeft, ends[1])
        bar = QRectF(left, (height - THICK) / 2, self.width() - left - right, THICK)
        draw_ramp(painter, bar, self._colormap, self._levels)

    def _sides(self) -> tuple[float, float]:
        measure = QFontMetricsF(font("mono", 11))
        first, second = (measure.horizontalAdvance(end) + (6 if end else 0) for end in self._ends())
        return first, second

    def _ends(self) -> tuple[str, str]:
        low, high = (number(value) for value in self._levels)
        return ("", f"±{high}") if self._short else (low, high)
