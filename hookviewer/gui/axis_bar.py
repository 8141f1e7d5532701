"""The line under the wall's controls for what a picture cannot show at once: further axes, complex parts."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSlider, QToolButton

from hookviewer import arrays
from hookviewer.arrays import MAXIMUM, PARTS, Maps, Slider
from hookviewer.gui import parts
from hookviewer.gui.columns import WallState
from hookviewer.gui.numbers import number
from hookviewer.gui.parameters import Parameters
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
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
        self.leaves = _Leaves(session)
        self.beside = _button(_tr("Gradient"), _tr("The target's gradient beside the weights: a run") + "  D")
        self.beside.setObjectName("beside")
        self.beside.clicked.connect(lambda on: session.set_look(beside=on))
        items = (self.leaves, self._axes, self.part, self.said, None, self.beside)
        self.setLayout(parts.row(*items, spacing=14, margins=(12, 0, 12, 6)))
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
        weights = wall.shown is Shown.WEIGHTS
        self.leaves.show_names(self._session.look.parameters, wall.path if weights else None)
        self.beside.setVisible(weights)
        self.beside.setChecked(self._session.look.beside)
        text = apart_words(maps) if maps is not None else ""
        self.said.setText(text)
        self.said.setVisible(bool(text))
        token = wall.shown is Shown.ATTENTION and self._session.attention.look.page == "token"
        self.setVisible((bool(sliders) or complex_there or bool(text) or weights) and not token)

    def _show_sliders(self, sliders: tuple[Slider, ...]) -> None:
        for role in [role for role in self._rows if role not in {one.role for one in sliders}]:
            gone = self._rows.pop(role)
            self._axes.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        for one in sliders:
            if one.role not in self._rows:
                made = self._rows[one.role] = _Axis(one.role)
                made.placed.connect(self._choose)
                self._axes.addWidget(made)
            self._rows[one.role].show_slider(one)

    def _choose(self, role: str, place: int) -> None:
        session = self._session
        session.set_look(places={**session.look.places, role: place})


class _Axis(QFrame):
    """One axis: its name and place in words, a slider, and a button for the greatest value along it."""

    placed = Signal(str, int)
    """The role of the axis, and the place that is wanted on it."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self.setObjectName(f"axis_{role.replace(' ', '_')}")
        self.words: QLabel = parts.label("", "second", 11, mono=True)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setFixedWidth(scaled(150))
        self.slider.setAccessibleName(_tr("Place on the axis {}").format(words.axes(role)))
        self.slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.maximum = _button(_tr("Maximum"), _tr("The greatest value along this axis"))
        self.setLayout(parts.row(self.words, self.slider, self.maximum, spacing=8))
        self.slider.valueChanged.connect(lambda place: self.placed.emit(role, place))
        self.maximum.clicked.connect(
            lambda on: self.placed.emit(role, MAXIMUM if on else self.slider.value())
        )

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


class _Leaves(QFrame):
    """The parameters and buffers of a module, one to choose."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._names: tuple[str, ...] = ()
        self._choice: parts.Segmented | None = None
        self.setObjectName("weight_names")
        self.setLayout(parts.row())

    def show_names(self, known: Parameters, path: str | None) -> None:
        """Show the names of what was read of the module at `path`; nothing where weights are not shown."""
        names = () if path is None else known.leaves(path)
        if names != self._names:
            self._names = names
            self._make(names)
        self.setVisible(len(names) > 0)
        if self._choice is not None and path is not None:
            self._choice.choose(names.index(known.leaf(path, self._session.selection.leaf)))

    def _make(self, names: tuple[str, ...]) -> None:
        layout = self.layout()
        if self._choice is not None and layout is not None:
            layout.removeWidget(self._choice)
            self._choice.hide()
            self._choice.deleteLater()
            self._choice = None
        if names and layout is not None:
            self._choice = parts.Segmented(names, height=26)
            self._choice.setAccessibleName(_tr("Parameter or buffer"))
            self._choice.changed.connect(self._on_changed)
            layout.addWidget(self._choice)

    def _on_changed(self, place: int) -> None:
        self._session.select(leaf=self._names[place], channel=0, cell=None)


def _button(text: str, tip: str) -> QToolButton:
    made = QToolButton()
    made.setText(text)
    made.setFont(font("ui", 11))
    made.setProperty("role", "button")
    made.setCheckable(True)
    made.setFixedHeight(scaled(24))
    made.setToolTip(tip)
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return made


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
