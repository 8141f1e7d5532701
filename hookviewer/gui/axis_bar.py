"""The line under the wall's controls for what a picture cannot show at once: further axes, complex parts."""

from __future__ import annotations

from functools import partial

import numpy as np
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSlider, QToolButton

from hookviewer import arrays
from hookviewer.arrays import MAXIMUM, PARTS, Maps, Slider
from hookviewer.gui import parts
from hookviewer.gui.columns import WallState
from hookviewer.gui.numbers import number
from hookviewer.gui.session import Session
from hookviewer.gui.theme import font, scaled
from hookviewer.gui.wall import words

HEIGHT = 32


def _tr(text: str) -> str:
    return QCoreApplication.translate("AxisBar", text)


class AxisBar(QFrame):
    """A slider and a maximum for each axis of which one place is shown, the part of complex numbers, tokens.

    Nothing is seen of it where there is nothing to choose or to say.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._rows: dict[str, _Axis] = {}
        self._axes = QHBoxLayout()
        self._axes.setSpacing(18)
        self.part = parts.Segmented(
            [_tr("Magnitude"), _tr("Phase"), _tr("Real"), _tr("Imaginary")], height=26
        )
        self.part.setObjectName("part")
        self.part.setAccessibleName(_tr("Part of the complex numbers"))
        self.part.changed.connect(lambda place: session.set_look(part=PARTS[place], levels=None))
        self.said = parts.label("", "second", 11)
        self.said.setObjectName("apart")
        self.setLayout(parts.row(self._axes, self.part, self.said, None, spacing=14, margins=(12, 0, 12, 6)))
        self.setFixedHeight(scaled(HEIGHT))
        self.hide()

    def show_state(self, wall: WallState) -> None:
        """Show what can be chosen of what the wall shows."""
        maps = next((column.maps for column in wall.columns if column.maps is not None), None)
        sliders = tuple(one for one in maps.sliders if one.size > 1) if maps is not None else ()
        self._show_sliders(sliders)
        complex_there = maps is not None and maps.complex
        self.part.setVisible(complex_there)
        self.part.choose(PARTS.index(self._session.look.part))
        text = apart_words(maps) if maps is not None else ""
        self.said.setText(text)
        self.said.setVisible(bool(text))
        self.setVisible(bool(sliders) or complex_there or bool(text))

    def _show_sliders(self, sliders: tuple[Slider, ...]) -> None:
        for role in [role for role in self._rows if role not in {one.role for one in sliders}]:
            gone = self._rows.pop(role)
            self._axes.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        for one in sliders:
            if one.role not in self._rows:
                made = self._rows[one.role] = _Axis(one.role)
                made.slider.valueChanged.connect(partial(self._on_moved, one.role))
                made.maximum.clicked.connect(partial(self._on_maximum, one.role))
                self._axes.addWidget(made)
            self._rows[one.role].show_slider(one)

    def _on_moved(self, role: str, place: int) -> None:
        self._choose(role, place)

    def _on_maximum(self, role: str, on: bool) -> None:
        self._choose(role, MAXIMUM if on else self._rows[role].slider.value())

    def _choose(self, role: str, place: int) -> None:
        session = self._session
        session.set_look(places={**session.look.places, role: place})


class _Axis(QFrame):
    """One axis: its name and place in words, a slider, and a button for the greatest value along it."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self.setObjectName(f"axis_{role.replace(' ', '_')}")
        self.words: QLabel = parts.label("", "second", 11, mono=True)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setFixedWidth(scaled(150))
        self.slider.setAccessibleName(_tr("Place on the axis {}").format(words.axes(role)))
        self.slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.maximum = QToolButton()
        self.maximum.setText(_tr("Maximum"))
        self.maximum.setFont(font("ui", 11))
        self.maximum.setProperty("role", "button")
        self.maximum.setCheckable(True)
        self.maximum.setFixedHeight(scaled(24))
        self.maximum.setToolTip(_tr("The greatest value along this axis"))
        self.maximum.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setLayout(parts.row(self.words, self.slider, self.maximum, spacing=8))

    def show_slider(self, one: Slider) -> None:
        """Show where on the axis the wall is."""
        role, at_maximum = words.axes(one.role), one.place == MAXIMUM
        self.slider.blockSignals(True)
        self.slider.setRange(0, one.size - 1)
        if not at_maximum:
            self.slider.setValue(one.place)
        self.slider.blockSignals(False)
        self.maximum.setChecked(at_maximum)
        place = (
            _tr("maximum of {}").format(one.size)
            if at_maximum
            else _tr("{} of {}").format(one.place, one.size)
        )
        longest = max((f"{role} {_tr('maximum of {}').format(one.size)}", f"{role} 0000"), key=len)
        self.words.setMinimumWidth(self.words.fontMetrics().horizontalAdvance(longest))
        self.words.setText(f"{role} {place}")


def apart_words(maps: Maps) -> str:
    """Return what stands before the grid of tokens, in words and numbers; nothing where it is not folded."""
    if maps.reading.find("in a grid") < 0:
        return ""
    _, rows, columns = maps.values.shape
    folded = _tr("{}×{} tokens folded to their grid").format(rows, columns)
    if maps.apart is None:
        return folded
    found = arrays.statistics(np.asarray(maps.apart))
    before = (
        _tr("1 token before it stands apart")
        if len(maps.apart) == 1
        else _tr("{} tokens before it stand apart").format(len(maps.apart))
    )
    about = _tr("mean {}  std {}").format(number(found.mean), number(found.std))
    return f"{folded};  {before}: {about}"
