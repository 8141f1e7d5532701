"""What stands beside the maps of importance in words: names, greatest values, notes, heads of lines."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from hookviewer.gui.cams import Cam
from hookviewer.gui.numbers import number, shape
from hookviewer.gui.theme import MEDIUM, font, theme
from hookviewer.gui.wall.words import tr


def peak_words(cam: Cam) -> tuple[str, ...]:
    """Return the greatest value of a map, from the longest version to the shortest.

    The end of the layer's scale stands beside it where that is another one: the other columns share it.
    """
    if cam.maps is None or math.isnan(cam.peak):
        return ()
    peak, end = number(cam.peak), number(cam.levels[1])
    if cam.levels[0] < 0:
        cut = tr("largest {}, cut at ±{}") if cam.levels[1] < abs(cam.peak) else tr("largest {} of ±{}")
        whole = tr("±{}").format(end) if end == number(abs(cam.peak)) else cut.format(peak, end)
        return (whole, tr("{} on ±{}").format(peak, end), tr("largest {}").format(peak), peak)
    if end == number(abs(cam.peak)):
        return (tr("max {}").format(peak), peak)
    if cam.levels[1] < cam.peak:
        return (tr("max {}, cut at {}").format(peak, end), tr("max {}").format(peak), peak)
    return (tr("max {} of {}").format(peak, end), tr("max {}").format(peak), peak)


def fitting_reason(reason: str, room: QRectF) -> str:
    """Return as much of a reason as there is room for: all of it, its first part, or nothing."""
    measure = QFontMetricsF(font("ui", 12))
    wide = min(room.width() - 24, 420)
    flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
    for text in (reason, reason.partition(": ")[0].rstrip(".") + "."):
        if measure.boundingRect(QRectF(0, 0, wide, 9999), flags, text).height() <= room.height():
            return text
    return ""


def flat_words(value: float) -> str:
    """Return what a map of one value is called."""
    return tr("= {} everywhere").format(number(value)) if value else tr("zero everywhere")


def tip_of(cam: Cam, name: str = "") -> str:
    """Return all there is to say about a tile."""
    where = cam.path or name or tr("the model")
    lines = [where if where == name or not name else f"{where}   {name}"]
    if cam.maps is None:
        return "\n".join((*lines, cam.reason))
    low, high = (number(level) for level in cam.levels)
    lines.append(tr("{} cells, scale {} to {}").format(shape(cam.maps.values.shape[1:]), low, high))
    if is_flat(cam) and not cam.notes:
        lines.append(tr("The map has one value everywhere: it does not tell places apart."))
    return "\n".join((*lines, *cam.notes))


def is_flat(cam: Cam) -> bool:
    """Return whether a map has one value everywhere."""
    return cam.maps is not None and bool(cam.maps.values.min() == cam.maps.values.max())


def short_note(cam: Cam) -> str:
    """Return what a method has to say of its map in a few words; nothing where the map says it itself."""
    said = [note for note in cam.notes if not is_flat(cam)]
    return said[0].partition(":")[0].rstrip(".") if said else ""


def paint_line(painter: QPainter, line: QRectF, name: str, numbers: tuple[str, ...], *, accent: bool) -> None:
    """Write what a tile is of, whose end says more than its start, and its greatest value at the right."""
    middle, look = Qt.AlignmentFlag.AlignVCenter, theme()
    face, figures = font("ui", 11, MEDIUM), font("mono", 11)
    measure, number_measure = QFontMetricsF(face), QFontMetricsF(figures)
    room = line.width() - min(measure.horizontalAdvance(name), line.width() / 2) - 8
    said = next((text for text in numbers if number_measure.horizontalAdvance(text) <= room), "")
    painter.setFont(figures)
    painter.setPen(look["text_2"])
    painter.drawText(line, middle | Qt.AlignmentFlag.AlignRight, said)
    painter.setFont(face)
    painter.setPen(look["accent" if accent else "text"])
    left = line.width() - (number_measure.horizontalAdvance(said) + 8 if said else 0)
    shown = measure.elidedText(name, Qt.TextElideMode.ElideLeft, left)
    painter.drawText(line, middle | Qt.AlignmentFlag.AlignLeft, shown)


def paint_note(painter: QPainter, line: QRectF, text: str) -> None:
    """Write what a method has to say of its map."""
    painter.setFont(font("ui", 11))
    painter.setPen(theme()["text_3"])
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(line.width()))
    painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)


def paint_head(painter: QPainter, line: QRectF, text: str) -> None:
    """Write what the maps of a line have in common."""
    painter.setFont(font("ui", 12, MEDIUM))
    painter.setPen(theme()["text_2"])
    painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
