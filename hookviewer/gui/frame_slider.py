"""Which frame of a film, or page of a document, the current input is."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QSlider, QWidget

from hookviewer.gui.parts import label, row, tool
from hookviewer.gui.session import Session
from hookviewer.gui.theme import scaled
from hookviewer.inputs import with_frame

DELAY_MS = 120
"""A dragged slider opens a frame when it rests."""


class FrameSlider(QFrame):
    """Seen only where the current input's file has several pictures."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("frame")
        self.slider.setAccessibleName(self.tr("Frame"))
        self.words = label("", "second", 11)
        self.before = tool("chevron-left", self.tr("Previous frame"), size=24)
        self.after = tool("chevron-right", self.tr("Next frame"), size=24)
        self.before.clicked.connect(partial(self._step, -1))
        self.after.clicked.connect(partial(self._step, 1))
        line = row(self.words, self.slider, self.before, self.after, spacing=4, margins=(14, 2, 8, 4))
        line.setStretchFactor(self.slider, 1)
        self.setLayout(line)
        self.setFixedHeight(scaled(32))
        self._later = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._later.timeout.connect(self._open)
        self.slider.valueChanged.connect(self._on_value_changed)
        for signal in (session.inputs_changed, session.selection_changed):
            signal.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the frame of the current input."""
        item = self._session.current_input
        frames = item.input.frames if item is not None and item.input.spec else 1
        self.setVisible(frames > 1)
        if item is None or frames < 2 or self._later.isActive():
            return
        self.slider.blockSignals(True)
        self.slider.setRange(0, frames - 1)
        self.slider.setValue(item.input.frame)
        self.slider.blockSignals(False)
        self._say()

    def _say(self) -> None:
        value, last = self.slider.value(), self.slider.maximum()
        self.words.setText(self.tr("Frame {} of {}").format(value, last + 1))
        self.before.setEnabled(value > 0)
        self.after.setEnabled(value < last)

    def _step(self, step: int) -> None:
        self.slider.setValue(self.slider.value() + step)

    def _on_value_changed(self) -> None:
        self._say()
        self._later.start()

    def _open(self) -> None:
        item, frame = self._session.current_input, self.slider.value()
        if item is not None and frame != item.input.frame:
            self._session.exchange_input(item.listed, with_frame(item.input, frame))
