"""While something is dragged over the window: a scrim, and a card that says what will happen."""

from __future__ import annotations

from pathlib import Path

from PIL import Image
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QWidget

from hookviewer.errors import HookViewerError
from hookviewer.gui.dropping import Dropped, words
from hookviewer.gui.guard import guarded
from hookviewer.gui.parts import Item, column, frame, label, row
from hookviewer.gui.theme import SEMIBOLD, theme
from hookviewer.gui.thumbnails import thumbnail
from hookviewer.inputs import picture

MOST_PICTURES = 4


class DropZone(QWidget):
    """Lies over the window; it takes no events itself."""

    def __init__(self, dropped: Dropped, model: str, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setGeometry(window.rect())
        self.head, text, error = words(dropped, model)
        pictures = [_picture_label(path) for path in dropped.pictures[:MOST_PICTURES]]
        lines: list[QWidget] = [label(self.head, "", 16, weight=SEMIBOLD), label(text, "second")]
        if error:
            lines.append(label(error, "error"))
        for line in lines:
            assert isinstance(line, QLabel)
            line.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        shown = [one for one in pictures if one is not None]
        strip: list[Item] = [row(None, *shown, None, spacing=8), 14] if shown else []
        card = frame(column(*strip, *lines, spacing=4, margins=(28, 24, 28, 22)), "overlayPage")
        self.setLayout(column(None, row(None, card, None), None))
        self.setAccessibleName(f"{self.head}. {text} {error}")

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), colours["scrim"])
        pen = QPen(colours["accent"], 2)
        pen.setDashPattern([4, 4])
        painter.setPen(pen)
        ground = colours["accent"]
        ground.setAlpha(14)
        painter.setBrush(ground)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(14, 14, -14, -14), 12, 12)


def _picture_label(path: Path) -> QLabel | None:
    try:
        image: Image.Image = picture.read(path)
    except HookViewerError:  # it is said when it is dropped
        return None
    made = QLabel()
    made.setPixmap(thumbnail(image, 96, 64, 6))
    return made
