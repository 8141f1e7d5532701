"""The run bar: model and input | device, mode, target | Run, Stop, Auto | panels, theme, Export."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QLabel, QMenu, QToolBar, QToolButton, QWidget

from hookviewer.gui import icons
from hookviewer.gui.choices import Choice, SegmentChoice
from hookviewer.gui.devices import devices, words
from hookviewer.gui.giving_way import Step, Yielding, hidden
from hookviewer.gui.guard import guarded
from hookviewer.gui.keyed_button import KeyedButton
from hookviewer.gui.parts import row, rule
from hookviewer.gui.session import Session
from hookviewer.gui.target_box import TargetBox
from hookviewer.gui.target_value import TargetValue
from hookviewer.gui.theme import MEDIUM, font, keeper, scaled, theme

Menus = Mapping[str, QMenu]
Actions = Mapping[str, QAction]


class RunBar(QToolBar):
    """Everything a run needs; `menus` holds `model`, `input` and `export`, `actions` those of the window."""

    def __init__(
        self, session: Session, menus: Menus, actions: Actions, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._actions = session, actions
        self.setObjectName("run_bar")
        self.setWindowTitle(self.tr("Run bar"))
        self.setMovable(False)
        self.setIconSize(QSize(16, 16))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.model = drop_button("folder-open", menus["model"], self.tr("Model") + "  Ctrl+O")
        self.model.setFont(font("ui", 12, MEDIUM))
        self.add = drop_button("image-plus", menus["input"], self.tr("Add input") + "  Ctrl+I")
        self.device = Choice("device", "cpu", self.tr("Device that the model runs on"))
        self.mode = SegmentChoice("mode", self.tr("Evaluation or training mode during the run"))
        self.target = TargetBox(session)
        self.value = TargetValue(session)
        self.run = KeyedButton("run", "play", self.tr("Run"), "F5")
        self.stop = KeyedButton("stop", "square", self.tr("Stop"), "Esc")
        self.auto = QCheckBox(self.tr("Auto"))
        self.export = drop_button("download", menus["export"], self.tr("Export") + "  Ctrl+E")
        self.theme = action_button(actions["theme"])
        self.looks = [action_button(actions[f"panel_{side}"]) for side in ("left", "bottom", "right")]
        self._fill()
        self._line = self._lay_out()
        self._connect()
        self.refresh()

    def _fill(self) -> None:
        for name in devices():
            self.device.addItem(words(name), name)
        for mode in ("eval", "train"):
            self.mode.addItem(mode, mode)
        self.auto.setProperty("role", "switch")
        self.auto.setFont(font("ui", 12))
        self.auto.setToolTip(self.tr("Record a layer as soon as it is ticked or opened"))

    def _lay_out(self) -> Yielding:
        self.mark = QLabel()
        self.mark.setPixmap(icons.mark(24))
        layout = row(
            *(self.mark, 4, self.model, self.add, 2, rule(20), 2),
            *(self.device, self.mode, self.target, self.value, 2, rule(20), 2),
            *(self.run, self.stop, 4, self.auto, None),
            *self.looks,
            *(self.theme, 2, rule(20), 2, self.export),
            spacing=6,
            margins=(2, 0, 0, 0),
        )
        line = Yielding(layout, self._steps())
        line.setFixedHeight(scaled(30))
        self.addWidget(line)
        return line

    def _steps(self) -> list[Step]:
        return [
            (lambda: say(self.add, self.tr("Add input")), lambda: say(self.add, "")),
            (lambda: self.target.shorten(False), lambda: self.target.shorten(True)),
            hidden(self.mark),
            (lambda: say(self.export, self.tr("Export")), lambda: say(self.export, "")),
            hidden(self.value),
            hidden(*self.looks),
            hidden(self.theme),
        ]

    def _connect(self) -> None:
        session = self._session
        self.device.currentIndexChanged.connect(self._on_device_chosen)
        self.mode.currentIndexChanged.connect(self._on_mode_chosen)
        self.target.currentIndexChanged.connect(self._line.fit)
        self.run.clicked.connect(self._actions["run"].trigger)
        self.stop.clicked.connect(self._actions["stop"].trigger)
        stop = self._actions["stop"]
        stop.changed.connect(lambda: self.stop.setEnabled(stop.isEnabled()))
        self.auto.toggled.connect(session.set_auto)
        for signal in (session.model_changed, session.settings_changed, session.run_started):
            signal.connect(self.refresh)
        for signal in (session.run_finished, session.inputs_changed, session.runs_changed):
            signal.connect(self.refresh)
        session.selection_changed.connect(self._line.fit)
        keeper().changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        icons.set_icon(self._actions["theme"], "sun" if theme().dark else "moon")

    def _on_device_chosen(self, place: int) -> None:
        self._session.set_settings(device=self.device.itemData(place))

    def _on_mode_chosen(self, place: int) -> None:
        self._session.set_settings(mode=self.mode.itemData(place))

    def refresh(self) -> None:
        """Show the session's settings and what can be done now."""
        session = self._session
        for box, value in ((self.device, session.settings.device), (self.mode, session.settings.mode)):
            before = box.blockSignals(True)
            box.setCurrentIndex(max(box.findData(value), 0))
            box.blockSignals(before)
        before = self.auto.blockSignals(True)
        self.auto.setChecked(session.auto)
        self.auto.blockSignals(before)
        there = session.model is not None
        name = session.card.name if session.card is not None else ""
        say(self.model, name or (self.tr("Model") if there else self.tr("Open model")))
        notes = session.card.notes if session.card is not None else ()
        self.model.setToolTip("\n".join((name or self.tr("Model"), *notes)) + "  Ctrl+O")
        icons.set_icon(self.model, "box" if there else "folder-open")
        for widget in (self.add, self.device, self.mode, self.target, self.auto, self.export):
            widget.setEnabled(there)
        self.run.setEnabled(self._actions["run"].isEnabled())
        self.stop.setEnabled(self._actions["stop"].isEnabled())
        self._line.fit()

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._line.setFixedWidth(max(self.width() - 18, 1))


def drop_button(icon: str, menu: QMenu, tip: str) -> QToolButton:
    """Return a button that opens a menu."""
    made = QToolButton()
    made.setProperty("role", "drop")
    made.setFont(font("ui", 12))
    made.setFixedHeight(scaled(28))
    made.setToolTip(tip)
    made.setAccessibleName(tip.partition("  ")[0])
    made.setIconSize(QSize(16, 16))
    made.setMenu(menu)
    made.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    icons.set_icon(made, icon)
    return made


def say(target: QToolButton, text: str) -> None:
    """Show a text beside a button's icon, or the icon alone."""
    style = Qt.ToolButtonStyle
    target.setText(f" {text}" if text else "")  # Fusion leaves too little air after an icon
    target.setToolButtonStyle(style.ToolButtonTextBesideIcon if text else style.ToolButtonIconOnly)


def action_button(action: QAction) -> QToolButton:
    """Return the lone icon of an action."""
    made = QToolButton()
    made.setDefaultAction(action)
    made.setIconSize(QSize(16, 16))
    made.setFixedSize(26, 26)
    made.setAccessibleName(action.toolTip().partition("  ")[0])
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return made
