"""What lies over the tiles: chips, badges, outlines, the cross-hair, and a sentence where nothing is."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from hookviewer.gui import icons
from hookviewer.gui.theme import MEDIUM, SEMIBOLD, font, theme

# over a tensor the same in both themes: a theme never changes the picture of a tensor
WHITE_LINE = QColor(255, 255, 255, 235)
PALE_LINE = QColor(255, 255, 255, 190)
CROSS_LINE = QColor(255, 255, 255, 150)
CHIP = QColor(10, 11, 13, 215)
CHIP_INK = QColor(228, 230, 235)
ACCENT_INK = QColor(6, 24, 46)
NAN_INK = QColor(6, 36, 15)
LEAST_LABELLED = 56


def accent() -> QColor:
    """Return the accent as it is seen over tensors."""
    return theme()["accent" if theme().dark else "accent_fill"]


def chip(painter: QPainter, corner: QPointF, text: str, *, chosen: bool = False) -> None:
    """Draw a number with its left upper corner at a point."""
    fill, ink = (
        (accent(), ACCENT_INK if theme().dark else theme()["on_accent"]) if chosen else (CHIP, CHIP_INK)
    )
    _pill(painter, corner, text, font("mono", 11, MEDIUM), fill, ink, air=10, height=17)


def badge(painter: QPainter, corner: QPointF, text: str) -> None:
    """Draw the count of what is no number, with its right upper corner at a point."""
    face = font("ui", 10, SEMIBOLD)
    left = corner - QPointF(QFontMetricsF(face).horizontalAdvance(text) + 8, 0)
    _pill(painter, left, text, face, theme()["nan"], NAN_INK, air=8, height=15)


def pin(painter: QPainter, corner: QPointF) -> None:
    """Draw the sign of a pinned channel with its right lower corner at a point."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    box = QRectF(corner.x() - 18, corner.y() - 18, 18, 18)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(accent())
    painter.drawRoundedRect(box, 4, 4)
    ink = "window" if theme().dark else "on_accent"
    painter.drawPixmap(box.topLeft() + QPointF(3, 3), icons.pixmap("pin", ink, 12))


def flat_label(painter: QPainter, tile: QRectF, text: str) -> None:
    """Say in the middle of a hatched tile that it is dead or constant, where there is room."""
    if tile.width() < LEAST_LABELLED or tile.height() < 20:
        return
    face = font("ui", 11, MEDIUM)
    width = QFontMetricsF(face).horizontalAdvance(text) + 10
    corner = QPointF(round(tile.center().x() - width / 2), round(tile.center().y() - 8))
    _pill(painter, corner, text, face, hatch_ground(), theme()["text_2"], air=10, height=17)


def hatch_ground() -> QColor:
    """Return the ground of maps without a shape."""
    return theme()["sunken" if theme().dark else "control"]


def outline(painter: QPainter, tile: QRectF, colour: QColor, width: int) -> None:
    """Draw a frame `width` pixels wide just inside a rectangle, on whole device pixels."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for side in (
        QRectF(tile.left(), tile.top(), tile.width(), width),
        QRectF(tile.left(), tile.bottom() - width, tile.width(), width),
        QRectF(tile.left(), tile.top() + width, width, tile.height() - 2 * width),
        QRectF(tile.right() - width, tile.top() + width, width, tile.height() - 2 * width),
    ):
        painter.fillRect(side, colour)


def selection(painter: QPainter, tile: QRectF) -> None:
    """Draw the accent in the gutter around a tile and a white line inside it: seen on every map."""
    outline(painter, tile, WHITE_LINE, 1)
    outline(painter, tile.adjusted(-2, -2, 2, 2), accent(), 2)


def cross(painter: QPainter, tile: QRectF, across: float, down: float) -> None:
    """Draw the cross-hair through a point of a tile (0 to 1 across and down)."""
    painter.setPen(QPen(CROSS_LINE, 1))
    x = int(tile.left() + across * tile.width()) + 0.5
    y = int(tile.top() + down * tile.height()) + 0.5
    painter.drawLine(QLineF(tile.left(), y, tile.right(), y))
    painter.drawLine(QLineF(x, tile.top(), x, tile.bottom()))


def notice(painter: QPainter, area: QRectF, text: str) -> None:
    """Say in a small box why tiles are not there yet."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    face = font("ui", 12, MEDIUM)
    painter.setFont(face)
    width = min(QFontMetricsF(face).horizontalAdvance(text) + 28, area.width() - 8)
    box = QRectF(round(area.center().x() - width / 2) + 0.5, round(area.center().y() - 18) + 0.5, width, 34)
    painter.setPen(QPen(theme()["border_strong"], 1))
    painter.setBrush(theme()["raised"])
    painter.drawRoundedRect(box, 8, 8)
    painter.setPen(theme()["text"])
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def sentence(painter: QPainter, area: QRectF, text: str) -> None:
    """Say in words why a place is empty."""
    painter.setFont(font("ui", 12))
    painter.setPen(theme()["text_3"])
    flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
    wide = min(area.width() - 24, 420)
    painter.drawText(QRectF(area.center().x() - wide / 2, area.top(), wide, area.height()), flags, text)


def _pill(
    painter: QPainter,
    corner: QPointF,
    text: str,
    face: QFont,
    fill: QColor,
    ink: QColor,
    *,
    air: float,
    height: float,
) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    box = QRectF(corner.x(), corner.y(), round(QFontMetricsF(face).horizontalAdvance(text)) + air, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    painter.drawRoundedRect(box, 4, 4)
    painter.setFont(face)
    painter.setPen(ink)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
