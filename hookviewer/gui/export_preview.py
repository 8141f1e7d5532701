"""The pictures of an export as they will be, one at a time."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from hookviewer.formats import Entry, Figure
from hookviewer.formats.figure import drawn
from hookviewer.formats.png import picture
from hookviewer.gui.parts import column, frame, label, row, tool
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.session import Session
from hookviewer.gui.theme import scaled
from hookviewer.gui.thumbnails import to_image

LANE = "preview"
WIDTH, HEIGHT = 476, 420


class ExportPreview(QFrame):
    """Shows one of the entries; it is drawn on the model thread."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("exportPreview")
        self._session = session
        self._entries: Sequence[Entry] = ()
        self._figure: Figure | None = None
        self._place = 0
        self.picture = QLabel()
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setWordWrap(True)
        self.back = tool("chevron-left", self.tr("The picture before"), size=24)
        self.forth = tool("chevron-right", self.tr("The next picture"), size=24)
        self.counted = label("", "caption", 11)
        self._steps = frame(row(None, self.back, self.counted, self.forth, None, spacing=6))
        layout = column(self.picture, self._steps, margins=(20, 20, 20, 8))
        layout.setStretchFactor(self.picture, 1)
        self.setLayout(layout)
        self.setMinimumWidth(scaled(WIDTH + 40))
        self.back.clicked.connect(lambda: self._step(-1))
        self.forth.clicked.connect(lambda: self._step(1))

    def show_entries(self, entries: Sequence[Entry], figure: Figure | None, reason: str) -> None:
        """Show the entries as `figure` asks, from the first one where they are others; `reason`: why none."""
        if entries is not self._entries:
            self._entries, self._place = entries, 0
        self._figure = figure
        if not entries:
            self._session.runner.cancel(LANE, drop=True)
            self.picture.setText(reason)
        self._show_place()

    def _step(self, by: int) -> None:
        self._place = min(max(self._place + by, 0), len(self._entries) - 1)
        self._show_place()

    def _show_place(self) -> None:
        count = len(self._entries)
        self.back.setEnabled(self._place > 0)
        self.forth.setEnabled(self._place < count - 1)
        self.counted.setText(self.tr("{} of {}").format(self._place + 1, count))
        self._steps.setVisible(count > 1)
        if not count:
            return
        entry, figure, ratio = self._entries[self._place], self._figure, self.devicePixelRatioF()
        box = (round(scaled(WIDTH) * ratio), round(scaled(HEIGHT) * ratio))

        def work(job: Job) -> QImage:
            return preview(entry, figure, box)

        self._session.runner.submit(LANE, work, on_result=self._on_drawn, on_failure=self._on_failed)

    def _on_drawn(self, image: QImage) -> None:
        made = QPixmap.fromImage(image)
        made.setDevicePixelRatio(self.devicePixelRatioF())
        self.picture.setPixmap(made)

    def _on_failed(self, failure: Failure) -> None:
        self.picture.setText(failure.sentence)


def preview(entry: Entry, figure: Figure | None, box: tuple[int, int]) -> QImage:
    """Return an entry's picture, at most `box` (width, height) large."""
    image = picture(entry).convert("RGBA") if figure is None else drawn(entry, figure)
    scale = min(box[0] / image.width, box[1] / image.height)
    size = (max(round(image.width * scale), 1), max(round(image.height * scale), 1))
    way = Image.Resampling.NEAREST if scale >= 2 else Image.Resampling.LANCZOS
    return to_image(image if size == image.size else image.resize(size, way))
