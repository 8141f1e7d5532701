"""Deletion and insertion side by side: the score while the pixels of a map go, beside a random order."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from hookviewer.gui.guard import guarded, painting
from hookviewer.gui.numbers import number
from hookviewer.gui.theme import SEMIBOLD, font, keeper, scaled, theme
from hookviewer.gui.trust_maps_work import STEPS, Trial
from hookviewer.methods import Curve

LEFT, RIGHT, TOP, BOTTOM, BETWEEN = 46, 8, 42, 36, 24
NAMES = ("deletion", "insertion")


class TrustCurves(QWidget):
    """Two plots on one scale; the curve by the map is full, that of the random order dashed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trust_curves")
        self.setAccessibleName(self.tr("Deletion and insertion curves"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(scaled(190))
        self._trial = Trial()
        keeper().changed.connect(self.update)

    def show_trial(self, trial: Trial) -> None:
        """Show the curves that there are."""
        self._trial = trial
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(560, 230)

    def plot(self, place: int) -> QRectF:
        """Return where the lines of deletion (0) or insertion (1) are drawn."""
        wide = (self.width() - BETWEEN) / 2
        left = place * (wide + BETWEEN) + scaled(LEFT)
        top, bottom = scaled(TOP), self.height() - scaled(BOTTOM)
        return QRectF(left, top, max(wide - scaled(LEFT) - RIGHT, 1), max(bottom - top, 1))

    def point(self, place: int, share: float, value: float) -> QPointF:
        """Return where a score at a share of the pixels is drawn."""
        plot, (low, high) = self.plot(place), self.limits()
        y = plot.bottom() - (value - low) / (high - low) * plot.height()
        return QPointF(plot.left() + share * plot.width(), y)

    def limits(self) -> tuple[float, float]:
        """Return the scale of both plots: all scores, and zero."""
        values = [value for curve in (*self._trial.curves, *self._trial.random) for value in curve.values]
        finite = [value for value in values if value == value and abs(value) < float("inf")]
        low, high = min([0.0, *finite]), max([0.0, *finite])
        return (low, high) if high > low else (low, low + 1.0)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self) as painter:
            for place, name in enumerate(NAMES):
                self._paint_axes(painter, place)
                self._paint_title(painter, place, name)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                for curve, colour, dashed in (
                    (_named(self._trial.random, name), theme()["text_3"], True),
                    (_named(self._trial.curves, name), theme()["accent"], False),
                ):
                    self._paint_line(painter, place, curve, colour, dashed=dashed)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_axes(self, painter: QPainter, place: int) -> None:
        plot, look, (low, high) = self.plot(place), theme(), self.limits()
        painter.setFont(font("mono", 10))
        for value in sorted({low, 0.0, high}):
            y = round(self.point(place, 0, value).y()) + 0.5
            painter.setPen(QPen(look["border_strong" if value == 0 else "guide"], 1))
            painter.drawLine(QLineF(plot.left(), y, plot.right(), y))
            painter.setPen(look["text_3"])
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            near = value == 0 and min(abs(low), abs(high)) < 0.12 * (high - low) and low * high != 0
            if not near:
                painter.drawText(
                    QRectF(plot.left() - scaled(LEFT), y - 8, scaled(LEFT) - 6, 16), flags, number(value)
                )
        for share in (0.0, 0.5, 1.0):
            x = plot.left() + share * plot.width()
            ends = {0.0: Qt.AlignmentFlag.AlignLeft, 1.0: Qt.AlignmentFlag.AlignRight}
            side = ends.get(share, Qt.AlignmentFlag.AlignHCenter)
            box = QRectF(x - (0 if share == 0 else 60 if share == 1 else 30), plot.bottom() + 3, 60, 14)
            painter.drawText(box, side | Qt.AlignmentFlag.AlignTop, f"{100 * share:.0f} %")
        painter.setFont(font("ui", 11))
        words = self.tr("pixels covered") if place == 0 else self.tr("pixels given back")
        painter.drawText(
            QRectF(plot.left(), plot.bottom() + 17, plot.width(), 16),
            Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop,
            words,
        )

    def _paint_title(self, painter: QPainter, place: int, name: str) -> None:
        plot, look = self.plot(place), theme()
        left = plot.left() - scaled(LEFT) + 4
        title = self.tr("Deletion") if place == 0 else self.tr("Insertion")
        better = self.tr("a small area is good") if place == 0 else self.tr("a large area is good")
        painter.setFont(font("ui", 12, SEMIBOLD))
        painter.setPen(look["text"])
        painter.drawText(QPointF(left, 13), title)
        wide = painter.fontMetrics().horizontalAdvance(title)
        painter.setFont(font("ui", 11))
        painter.setPen(look["text_3"])
        painter.drawText(QPointF(left + wide + 8, 13), better)
        x = left
        for curves, words, colour, dashed in (
            (self._trial.curves, self.tr("by the map"), look["accent"], False),
            (self._trial.random, self.tr("at random"), look["text_3"], True),
        ):
            curve = _named(curves, name)
            area = number(curve.area) if _whole(curve) and curve is not None else "…"
            said = f"{words}  {area}"
            painter.setPen(QPen(colour, 1.6, Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine))
            painter.drawLine(QLineF(x, 27.5, x + 16, 27.5))
            painter.setPen(look["text_2"])
            painter.drawText(QPointF(x + 21, 31), said)
            x += painter.fontMetrics().horizontalAdvance(said) + 36

    def _paint_line(
        self, painter: QPainter, place: int, curve: Curve | None, colour: QColor, *, dashed: bool
    ) -> None:
        if curve is None:
            return
        points = [self.point(place, *pair) for pair in zip(curve.shares, curve.values, strict=True)]
        if not dashed and _whole(curve):
            base = self.point(place, 0, 0.0).y()
            under = [QPointF(points[0].x(), base), *points, QPointF(points[-1].x(), base)]
            fill = QColor(colour)
            fill.setAlpha(34)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(fill)
            painter.drawPolygon(QPolygonF(under))
        painter.setPen(QPen(colour, 1.6, Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(points))


def _named(curves: Sequence[Curve], name: str) -> Curve | None:
    return next((curve for curve in curves if curve.name == name), None)


def _whole(curve: Curve | None, steps: int = STEPS) -> bool:
    return curve is not None and curve.shares[-1] == 1.0 and len(curve.values) == steps + 1
