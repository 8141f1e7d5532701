"""The first row of the wall: where in the model we are, what the tensor is, and the ways on from here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget

from hookviewer.gui import numbers, parts
from hookviewer.gui.call_paths import steps_of
from hookviewer.gui.columns import WallState
from hookviewer.gui.giving_way import Step, Yielding, hidden
from hookviewer.gui.module_facts import family_of
from hookviewer.gui.session import Session
from hookviewer.gui.shown_maps import readings_of
from hookviewer.gui.state import SIDED, Shown
from hookviewer.gui.theme import MEDIUM, font, keeper, scaled, theme
from hookviewer.gui.wall import words
from hookviewer.gui.wall.claiming import Claiming
from hookviewer.kinds import Kind
from hookviewer.modules import ModuleNode
from hookviewer.recording import Record, Recording

Value = TypeVar("Value")

HEIGHT = 36
MOST_IN_MENU = 200


class Head(Yielding):
    """Breadcrumb, type, shape, call and leaf at the left; layer arrows, copy and fit at the right."""

    layer_wanted = Signal(int)
    copy_wanted = Signal()
    fit_wanted = Signal()
    fill_wanted = Signal(bool)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        self._session = session
        self._crumbs = QHBoxLayout()
        self._crumbs.setSpacing(0)
        self._links: list[QWidget] = []
        self._kept: list[_Crumb] = []
        self._crumbs_of: tuple[str, str] | None = None
        self.type = parts.label("", "", 11, weight=MEDIUM)
        self.type.setFixedHeight(scaled(18))
        self.shape = parts.label("", "second", 11, mono=True)
        self.call = _menu_button(words.tr("Call of the module"))
        self.leaf = _menu_button(words.tr("Tensor of a nested output"))
        self.sample = _menu_button(words.tr("Sample of the batch"))
        self.reading = _menu_button(words.tr("What the axes are; it holds for all modules of this type"))
        self.reading.setObjectName("reading")
        self.overwritten = Claiming(role="warn")
        self.overwritten.setObjectName("overwritten")
        self.plain = parts.tool(
            "anchor", words.tr("Compare with what a plain hook would have shown"), checkable=True
        )
        self.plain.setObjectName("plain_hook")
        self.plain.clicked.connect(lambda on: session.set_look(plain=on))
        self.plain.hide()
        self._node: ModuleNode | None = None
        layout = parts.row(*self._items(), spacing=4, margins=(8, 0, 6, 0))
        layout.setStretch(layout.indexOf(self.overwritten), 1)
        super().__init__(layout, (), parent)
        self.setFixedHeight(scaled(HEIGHT))
        keeper().changed.connect(self._recolour)

    def show_state(self, wall: WallState) -> None:
        """Show where the wall is and what its first record is."""
        recording, record = self._first(wall)
        self._show_path(wall.path)
        self._show_tensor(record, wall)
        self._show_reading(record, wall)
        self._show_calls(recording, wall)
        self._show_leaves(recording, wall)
        self._show_overwritten(record)
        self.fit()

    def _items(self) -> Sequence[parts.Item]:
        before, after = (
            parts.tool("chevron-left", words.tr("Previous layer") + "  ["),
            parts.tool("chevron-right", words.tr("Next layer") + "  ]"),
        )
        before.clicked.connect(lambda: self.layer_wanted.emit(-1))
        after.clicked.connect(lambda: self.layer_wanted.emit(1))
        copy = parts.tool("copy", words.tr("Copy picture") + "  Ctrl+C")
        fit = parts.tool("maximize", words.tr("Fit") + "  Z")
        copy.clicked.connect(lambda: self.copy_wanted.emit())
        fit.clicked.connect(lambda: self.fit_wanted.emit())
        self.fill = parts.tool(
            "columns-3", words.tr("Fill the width; scroll to the rest") + "  F", checkable=True
        )
        self.fill.clicked.connect(lambda on: self.fill_wanted.emit(on))
        said = (
            self.type,
            2,
            self.shape,
            self.reading,
            self.call,
            self.leaf,
            self.sample,
            2,
            self.overwritten,
            self.plain,
        )
        return (self._crumbs, *said, before, after, parts.rule(20), copy, self.fill, fit)

    def _first(self, wall: WallState) -> tuple[Recording | None, Record | None]:
        for column in wall.columns:
            if column.number is not None and column.record is not None:
                return self._session.recording(column.number), column.record
        numbered = [column.number for column in wall.columns if column.number is not None]
        found = [self._session.recording(one) for one in numbered]
        return next((one for one in found if one is not None), None), None

    def _show_path(self, path: str) -> None:
        card = self._session.card
        name = (card.name if card is not None else "") or words.tr("model")
        self._node = self._session.calls.node(path)
        if (name, path) != self._crumbs_of:
            self._crumbs_of = (name, path)
            self._make_crumbs(name, path)
        self.type.setText(f" {self._node.type} " if self._node is not None else "")
        self.type.setToolTip(self._node.details if self._node is not None else "")
        self._recolour()

    def _make_crumbs(self, name: str, path: str) -> None:
        """Show the path in buttons that are kept: new ones cost more than all the maps of a layer."""
        steps = steps_of(path)
        for place, (word, there) in enumerate([(name, ""), *steps]):
            if place == len(self._kept):
                self._add_crumb(place)
            self._show_crumb(self._kept[place], word, there, last=place == len(steps))
        every = [link for crumb in self._kept for link in crumb.links]
        self._links = every[: 2 * len(steps) + 1]
        for link in every:
            link.setVisible(link in self._links)
        self._crumbs.invalidate()
        self.steps = self._steps()

    def _add_crumb(self, place: int) -> None:
        crumb = _Crumb(_crumb_button(), parts.icon_label("chevron-right") if place else None)
        crumb.button.clicked.connect(lambda: self._session.select(path=crumb.path))
        for link in crumb.links:
            self._crumbs.addWidget(link)
            link.show()  # a layout shows it later, and until then leaves it out of the row's width
            link.ensurePolished()
        self._kept.append(crumb)

    def _show_crumb(self, crumb: _Crumb, word: str, path: str, *, last: bool) -> None:
        role, button = "crumbLast" if last else "crumb", crumb.button
        crumb.path = path
        button.setText(word)
        button.setToolTip(path or words.tr("the whole model"))
        if button.property("role") != role:
            button.setProperty("role", role)
            button.style().unpolish(button)
            button.style().polish(button)

    def _steps(self) -> tuple[Step, ...]:
        early = [self._without(place) for place in range(0, max(len(self._links) - 3, 0), 2)]
        shorter = (lambda: self._say_shape(long=True), lambda: self._say_shape(long=False))
        brief = (lambda: self._say_reading(long=True), lambda: self._say_reading(long=False))
        short = (lambda: self._say_sample(long=True), lambda: self._say_sample(long=False))
        last = (hidden(self.shape), short, hidden(self.fill))
        return (shorter, brief, *early[:1], hidden(self.type), *early[1:], *last)

    def _without(self, place: int) -> Step:
        """Return the step that hides one part of the path and the arrow behind it."""

        def show(on: bool) -> None:
            for link in self._links[place : place + 2]:
                link.setVisible(on)
            self._crumbs.invalidate()  # a row inside a row is not measured anew by itself

        return (lambda: show(True), lambda: show(False))

    def _show_tensor(self, record: Record | None, wall: WallState) -> None:
        self._record = record
        notes = record.notes if record is not None else ()
        self.shape.setToolTip("\n".join(notes))
        column = next((one for one in wall.columns if one.maps is not None), None)
        samples = column.maps.samples if column is not None and column.maps is not None else 1
        sample = self._session.look.sample
        one = words.tr("sample {}")
        entries = [(one.format(place), place) for place in range(min(samples, MOST_IN_MENU))]
        self._sample = (sample, samples)
        _fill_menu(self.sample, "", entries, lambda place: self._session.set_look(sample=place))

    _record: Record | None = None
    _sample = (0, 1)

    def _say_sample(self, *, long: bool) -> None:
        words_of = words.tr("sample {} of {}") if long else words.tr("{} of {}")
        self.sample.setText(words_of.format(*self._sample))

    def _say_shape(self, *, long: bool) -> None:
        record = self._record
        if record is None:
            self.shape.setText("")
            return
        sizes = record.shape[1:] if len(record.shape) > 1 and record.shape[0] == 1 else record.shape
        dtype = f" {str(record.dtype).removeprefix('torch.')}" if long else ""
        self.shape.setText(numbers.shape(sizes) + dtype)

    def _show_reading(self, record: Record | None, wall: WallState) -> None:
        column = next((one for one in wall.columns if one.maps is not None and one.number is not None), None)
        self._reading = column.maps.reading if column is not None and column.maps is not None else ""
        possible = readings_of(record, self._session.look) if record is not None else ()
        fixed = wall.shown in (Shown.GRAD_CAM, Shown.ATTENTION)
        chosen = () if fixed or len(possible) < 2 else possible
        entries = [(words.axes(one), one) for one in chosen]
        _fill_menu(self.reading, "", entries, self._session.set_reading)
        for action, one in zip(self.reading.menu().actions(), chosen, strict=True):
            action.setCheckable(True)
            action.setChecked(one == self._reading)

    _reading = ""

    def _say_reading(self, *, long: bool) -> None:
        text = words.axes(self._reading)
        one_sample = words.axes(self._reading.removeprefix("sample × "))
        self.reading.setText(one_sample if long else words.tr("axes"))
        self.reading.setToolTip(
            words.tr("Axes: {}. The choice holds for all modules of this type.").format(text)
        )

    def _show_calls(self, recording: Recording | None, wall: WallState) -> None:
        calls = len(recording.calls(wall.path)) if recording is not None else 0
        chosen = self._session.selection.call
        one = words.tr("call {}")
        entries = [(one.format(call + 1), call) for call in range(min(calls, MOST_IN_MENU))]
        text = words.tr("call {} of {}").format(chosen + 1, calls)
        _fill_menu(self.call, text, entries, lambda call: self._session.select(call=call))

    def _show_leaves(self, recording: Recording | None, wall: WallState) -> None:
        kind = self._session.selection.kinds[-1] if wall.shown in SIDED else Kind.OUTPUT
        call = self._session.selection.call
        leaves = recording.leaves(wall.path, kind, call) if recording is not None else ()
        chosen = self._session.selection.leaf if self._session.selection.leaf in leaves else (*leaves, "")[0]
        entries = [(leaf or words.tr("the tensor"), leaf) for leaf in leaves]
        _fill_menu(
            self.leaf, chosen or words.tr("the tensor"), entries, lambda leaf: self._session.select(leaf=leaf)
        )

    def _show_overwritten(self, record: Record | None) -> None:
        by = record.overwritten_by if record is not None else None
        self.plain.setVisible(by is not None)
        self.plain.setChecked(self._session.look.plain)
        if by is None:
            self.overwritten.say("")
            return
        what = words.tr("overwritten in place by `{}`").format(by)
        all_of_it = words.tr("{}: a plain hook would show the wrong values").format(what)
        self.overwritten.say(all_of_it, what, words.tr("overwritten in place"), words.tr("overwritten"))

    def _recolour(self) -> None:
        if self._node is None:
            parts.restyle(self.type, "")
            return
        look = theme()
        colour = look.family[family_of(self._node)]
        ground = look.tint(colour, 0.14 if look.dark else 0.1)
        style = f"color: {colour.name()}; background: {ground.name()}; border-radius: 4px;"
        parts.restyle(self.type, style)


@dataclasses.dataclass(eq=False)
class _Crumb:
    """One part of the path, and the arrow before it."""

    button: QToolButton
    arrow: QWidget | None
    path: str = ""

    @property
    def links(self) -> list[QWidget]:
        return [self.button] if self.arrow is None else [self.arrow, self.button]


def _crumb_button() -> QToolButton:
    made = QToolButton()
    made.setFont(font("ui", 13))
    made.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
    return made


def _menu_button(tip: str) -> QToolButton:
    made = QToolButton()
    made.setProperty("role", "flatdrop")
    made.setFont(font("mono", 11))
    made.setFixedHeight(scaled(22))
    made.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    made.setToolTip(tip)
    made.setAccessibleName(tip)
    made.setMenu(QMenu(made))
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    made.hide()
    return made


def _fill_menu(
    button: QToolButton, text: str, entries: Sequence[tuple[str, Value]], choose: Callable[[Value], None]
) -> None:
    """Show a button with a menu, or nothing where there is only one choice."""
    button.setVisible(len(entries) > 1)
    button.setText(text)
    menu = button.menu()
    menu.clear()
    if len(entries) < 2:
        return
    for entry, value in entries:
        menu.addAction(entry).triggered.connect(lambda _=False, value=value: choose(value))
