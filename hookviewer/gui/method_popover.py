"""The list of attribution methods, of targets, and how their maps lie on the picture."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QHBoxLayout, QLabel, QSlider, QWidget

from hookviewer.gui import likely, settings, target_names
from hookviewer.gui.cam_choice import SIGNS, method_of
from hookviewer.gui.method_words import cost_of, in_order, line_of, tip_of, tr
from hookviewer.gui.parts import Item, Segmented, button, column, frame, label, row, rule
from hookviewer.gui.session import Session
from hookviewer.gui.target_classes import known_names
from hookviewer.gui.target_dialog import TargetDialog
from hookviewer.gui.theme import MEDIUM, font, scaled, theme
from hookviewer.methods import Method
from hookviewer.target_choice import TargetChoice
from hookviewer.target_words import words

MOST_CLASSES = 5


class MethodPopover(QFrame):
    """Every change holds at once; the methods are remembered. A click outside closes it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("method_popover")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        look = theme()
        self.setStyleSheet(
            f"QFrame#method_popover {{ background: {look['raised'].name()};"
            f" border: 1px solid {look['border_strong'].name()}; }}"
        )
        self.boxes: dict[str, QCheckBox] = {}
        self.targets: dict[str, QCheckBox] = {}
        self.compute = button(tr("Compute"), "primary")
        self.compute.clicked.connect(session.attributions.compute)
        self.stop = button(tr("Stop"))
        self.stop.clicked.connect(session.attributions.stop)
        self.state = label("", "caption", 11)
        self._lay_out()
        session.look_changed.connect(self.refresh)
        session.attributions_changed.connect(self.refresh)
        self.refresh()

    def show_at(self, where: QPoint) -> None:
        """Show it with its upper left corner at a place of the screen, or beside that where it must."""
        self.adjustSize()
        room = self.screen().availableGeometry()
        x = min(where.x(), room.right() - self.width())
        y = min(where.y(), room.bottom() - self.height())
        self.move(max(x, room.left()), max(y, room.top()))
        self.show()

    def refresh(self) -> None:
        """Show what is chosen, and what is being computed."""
        choice, lane = self._session.look.cam, self._session.attributions
        for name, box in self.boxes.items():
            _check(box, name in choice.methods)
        chosen = {words(target) for target in choice.targets}
        for name, box in self.targets.items():
            _check(box, name in chosen)
        self.sign.setEnabled(any(method_of(name).signed for name in choice.methods))
        lacking = bool(lane.lacking()) and not lane.working
        self.compute.setVisible(lacking)
        self.stop.setVisible(lane.working)
        usual = tr("Some maps are not computed yet.") if lacking else tr("All maps are there.")
        self.state.setText(lane.line or usual)

    # -- how it is made

    def _lay_out(self) -> None:
        methods = in_order()
        layers = [one for one in methods if one.of_layers]
        inputs = [one for one in methods if not one.of_layers]
        targets = _head(tr("Targets beside the one of the run (two at most)"))
        rows: list[Item] = [
            *(_head(tr("Maps of the ticked layers")), self._table(layers), 9),
            *(_head(tr("Maps of the input")), self._table(inputs), 9, rule(), 9),
            *(targets, 3, *self._target_rows(), 9, rule(), 9),
            *(self._appearance(), 9, row(self.state, None, self.compute, self.stop, spacing=8)),
        ]
        self.setLayout(column(*rows, margins=(14, 11, 14, 12)))

    def _table(self, methods: Sequence[Method]) -> QFrame:
        grid = QGridLayout()
        grid.setContentsMargins(0, 3, 0, 0)
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(4)
        for place, method in enumerate(methods):
            box = self.boxes[method.name] = _box(tr(method.title), method.name)
            box.toggled.connect(lambda on, name=method.name: self._on_method(name, on))
            line, cost = label(line_of(method), "second", 11), label(cost_of(method), "caption", 11)
            for one in (box, line, cost):
                one.setToolTip(tip_of(method))
            grid.addWidget(box, place, 0)
            grid.addWidget(line, place, 1)
            grid.addWidget(cost, place, 2, Qt.AlignmentFlag.AlignRight)
        grid.setColumnMinimumWidth(0, scaled(160))
        grid.setColumnMinimumWidth(1, scaled(270))
        grid.setColumnStretch(1, 1)
        return frame(grid)

    def _target_rows(self) -> list[Item]:
        names = known_names(self._session)
        rows: list[Item] = []
        for target, share in self._offered():
            name = words(target)
            box = self.targets[name] = _box(target_names.short(target, names), name)
            box.toggled.connect(lambda on, target=target: self._on_target(target, on))
            rows += [row(box, None, label(share, "caption", 11, mono=True)), 3]
        other = button(tr("Another target…"), "plain")
        other.clicked.connect(self._ask_target)
        return [*rows, row(other, None)]

    def _offered(self) -> list[tuple[TargetChoice, str]]:
        """Return the classes that are likeliest on the current input, and what is chosen already."""
        item = self._session.current_input
        run = self._session.runs.get(item.number) if item is not None else None
        guesses = run.guesses[:MOST_CLASSES] if run is not None else ()
        likeliest = {TargetChoice("class", one.index): likely.share(one.share, 3) for one in guesses}
        own = self._session.settings.target
        if own.rule == "top" and guesses:
            own = TargetChoice("class", guesses[0].index)
        likeliest.pop(own, None)
        chosen = {one: "" for one in self._session.look.cam.targets if one not in likeliest}
        return [*likeliest.items(), *chosen.items()]

    def _appearance(self) -> QFrame:
        choice = self._session.look.cam
        slider = self.opacity = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(5, 99)
        slider.setValue(round(100 * choice.opacity))
        slider.setFixedWidth(scaled(120))
        slider.setAccessibleName(tr("Opacity of the maps over the picture"))
        share = label(f"{slider.value()} %", "second", 11, mono=True)
        share.setFixedWidth(share.fontMetrics().horizontalAdvance("100 %") + 4)
        slider.valueChanged.connect(lambda value: share.setText(f"{value} %"))
        slider.valueChanged.connect(lambda value: self._set(opacity=value / 100))
        self.contours = _box(tr("Lines of one value"), "contours")
        self.contours.setChecked(choice.contours)
        self.contours.toggled.connect(lambda on: self._set(contours=on))
        opacity = row(label(tr("Opacity"), "", 12), slider, share, 18, self.contours, None, spacing=8)
        return frame(column(opacity, 8, self._signs()))

    def _signs(self) -> QHBoxLayout:
        """Return the choice of what is seen of maps that have a sign."""
        self.sign = Segmented([tr("for and against"), tr("size"), tr("only for")], height=scaled(24))
        self.sign.setObjectName("cam_sign")
        self.sign.setAccessibleName(tr("Signed maps"))
        tip = tr("Gradient × input and its like have a sign: above zero speaks for the target.")
        self.sign.setToolTip(tip)
        self.sign.choose(SIGNS.index(self._session.look.cam.sign))
        self.sign.changed.connect(lambda place: self._set_sign(SIGNS[place]))
        return row(label(tr("Signed maps"), "", 12), self.sign, None, spacing=8)

    # -- what is done there

    def _on_method(self, name: str, on: bool) -> None:
        order = tuple(method.name for method in in_order())
        choice = self._session.look.cam.with_method(name, on, order)
        settings.remember_cam_methods(choice.methods)
        self._choose(choice.methods, choice.targets)
        self.refresh()  # the last method stays ticked

    def _on_target(self, target: TargetChoice, on: bool) -> None:
        choice = self._session.look.cam.with_target(target, on)
        self._choose(choice.methods, choice.targets)

    def _choose(self, methods: tuple[str, ...], targets: tuple[TargetChoice, ...]) -> None:
        self._session.attributions.resume()
        self._set(methods=methods, targets=targets)

    def _set(self, **changes: Any) -> None:
        session = self._session
        session.set_look(cam=dataclasses.replace(session.look.cam, **changes))

    def _set_sign(self, sign: str) -> None:
        """Show another side of signed maps; levels that were set by hand were those of the one before."""
        session = self._session
        session.set_look(levels=None, cam=dataclasses.replace(session.look.cam, sign=sign))

    def _ask_target(self) -> None:
        session, parent = self._session, self.parentWidget()
        dialog = TargetDialog(session, parent.window() if parent is not None else None)
        dialog.chosen.connect(lambda target: _add_target(session, target))
        self.close()
        dialog.open()


def _add_target(session: Session, target: TargetChoice) -> None:
    session.attributions.resume()
    session.set_look(cam=session.look.cam.with_target(target, True))


def _head(text: str) -> QLabel:
    return label(text, "", 12, weight=MEDIUM)


def _box(text: str, name: str) -> QCheckBox:
    made = QCheckBox(text)
    made.setObjectName(name)
    made.setFont(font("ui", 12))
    return made


def _check(box: QCheckBox, on: bool) -> None:
    before = box.blockSignals(True)
    box.setChecked(on)
    box.blockSignals(before)
