"""Which sample of the current input's batch is looked at."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QSlider, QWidget

from hookviewer.gui.parts import label, row
from hookviewer.gui.session import Session
from hookviewer.gui.theme import scaled


class SampleSlider(QFrame):
    """Seen only where the current input holds several samples."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("sample")
        self.slider.setAccessibleName(self.tr("Sample of the batch"))
        self.words = label("", "second", 11)
        line = row(self.words, self.slider, spacing=8, margins=(14, 2, 14, 4))
        line.setStretchFactor(self.slider, 1)
        self.setLayout(line)
        self.setFixedHeight(scaled(32))
        self.slider.valueChanged.connect(self._on_value_changed)
        for signal in (session.inputs_changed, session.selection_changed, session.look_changed):
            signal.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the sample that is looked at."""
        item = self._session.current_input
        samples = item.input.batch if item is not None else 1
        self.setVisible(samples > 1)
        before = self.slider.blockSignals(True)
        self.slider.setRange(0, max(samples - 1, 0))
        self.slider.setValue(self._session.look.sample)
        self.slider.blockSignals(before)
        self._say()

    def _say(self) -> None:
        value, last = self.slider.value(), self.slider.maximum()
        self.words.setText(self.tr("Sample {} of {}").format(value, last + 1))

    def _on_value_changed(self, value: int) -> None:
        self._say()
        self._session.set_look(sample=value)
