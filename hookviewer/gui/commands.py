"""What the window can be told to do: every action, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QMessageBox, QTextEdit

from hookviewer import __version__
from hookviewer.gui import icons, settings
from hookviewer.gui.actions import Actions
from hookviewer.gui.export_dialog import ALL_LAYERS, THIS_CHANNEL, THIS_LAYER, ExportDialog
from hookviewer.gui.input_panel import step_input
from hookviewer.gui.keys_page import KeysPage
from hookviewer.gui.messages import versions
from hookviewer.gui.opening import Opening
from hookviewer.gui.overlay import Overlay
from hookviewer.gui.session import Session
from hookviewer.gui.theme import set_theme, theme

if TYPE_CHECKING:
    from hookviewer.gui.main_window import MainWindow

SIDES = ("left", "bottom", "right")


class Commands(QObject):
    """Makes the window's actions and keeps them enabled when they can be done."""

    said = Signal(str)

    def __init__(self, session: Session, opening: Opening, window: MainWindow) -> None:
        super().__init__(window)
        self._session, self._opening, self._window = session, opening, window
        self.actions = Actions(window)
        self._make_file()
        self._make_edit()
        self._make_view()
        self._make_run()
        self._make_help()
        for signal in (session.model_changed, session.run_started, session.run_finished):
            signal.connect(self.refresh)
        for changed in (session.inputs_changed, session.runs_changed, session.settings_changed):
            changed.connect(self.refresh)
        self.refresh()

    def _make_file(self) -> None:
        add, opening = self.actions.add, self._opening
        add("open_model", self.tr("Open model…"), opening.ask_model, "Ctrl+O", "folder-open")
        add("open_python", self.tr("Open Python file…"), opening.ask_python_file, "Ctrl+Shift+O")
        add("open_demo", self.tr("Open the demo"), opening.open_demo, "Ctrl+D")
        add("weights", self.tr("Load weights…"), opening.ask_weights)
        add("reload", self.tr("Reload model"), opening.reload, "Ctrl+R")
        add("add_input", self.tr("Add input…"), opening.ask_inputs, "Ctrl+I", "image-plus")
        add("export", self.tr("Export…"), partial(self.ask_export, ALL_LAYERS), "Ctrl+E", "download")
        add("export_layer", self.tr("Export this layer…"), partial(self.ask_export, THIS_LAYER))
        add("export_channel", self.tr("Export this channel…"), partial(self.ask_export, THIS_CHANNEL))
        add("close", self.tr("Close"), self._window.close, "Ctrl+W")
        add("quit", self.tr("Quit"), self._window.close, "Ctrl+Q")

    def _make_edit(self) -> None:
        add = self.actions.add
        add("copy", self.tr("Copy picture"), self.copy, "Ctrl+C", "copy")
        add("copy_path", self.tr("Copy path of the module"), self._copy_path, "Ctrl+Shift+C")
        add("filter", self.tr("Filter modules"), self._filter, "Ctrl+F")
        add("tick", self.tr("Tick or untick this module"), self._tick, "Ctrl+T")
        add("untick_all", self.tr("Untick all modules"), self._window.docks.modules.untick_all)
        add("remove_input", self.tr("Remove this input"), self._remove_input)

    def _make_view(self) -> None:
        titles = {
            "left": self.tr("Modules and inputs"),
            "bottom": self.tr("Layers"),
            "right": self.tr("Inspector"),
        }
        for number, side in enumerate(SIDES, 1):
            show = partial(self._show_side, side)
            action = self.actions.switch(
                f"panel_{side}", titles[side], show, f"Ctrl+{number}", f"panel-{side}"
            )
            action.setChecked(True)
        look = "sun" if theme().dark else "moon"
        self.actions.add("theme", self.tr("Light or dark"), self._switch_theme, "Ctrl+Shift+L", look)
        self.actions.switch("full_screen", self.tr("Full screen"), self._set_full_screen, "F11")
        self.actions.add("reset_layout", self.tr("Reset layout"), self._window.docks.reset)

    def _make_run(self) -> None:
        session, wall, add = self._session, self._window.wall, self.actions.add
        add("run", self.tr("Run"), session.run, "F5", "play")
        # Esc is the window's: it stops, closes a page, or closes a message
        add("stop", self.tr("Stop") + "\tEsc", session.stop, "", "square")
        self.actions.switch("auto", self.tr("Run by itself"), session.set_auto)
        add("target_class", self.tr("Choose the target's class…"), self._choose_class)
        add("layer_before", self.tr("Layer before") + "\t[", partial(wall.step_layer, -1))
        add("layer_after", self.tr("Layer after") + "\t]", partial(wall.step_layer, 1))
        add("input_before", self.tr("Input before"), partial(step_input, session, -1), "PgUp")
        add("input_after", self.tr("Input after"), partial(step_input, session, 1), "PgDown")
        add("difference", self.tr("Difference of A and B") + "\tD", wall.toggle_difference)

    def _make_help(self) -> None:
        add = self.actions.add
        add("keys", self.tr("Keys"), self.show_keys, "?", "keyboard")
        add("copy_versions", self.tr("Copy versions"), self._copy_versions)
        add("about", self.tr("About hookviewer"), self._about)

    def refresh(self) -> None:
        """Enable what can be done now."""
        session, actions = self._session, self.actions
        there, shown = session.model is not None, bool(session.runs)
        can = {"run": there and not session.running and bool(session.ticked_inputs), "stop": session.running}
        can |= dict.fromkeys(("add_input", "reload", "weights", "filter", "tick", "untick_all"), there)
        can |= dict.fromkeys(("copy_path", "auto", "layer_before", "layer_after", "target_class"), there)
        can |= dict.fromkeys(("export", "export_layer", "export_channel", "copy"), shown)
        can |= dict.fromkeys(("remove_input", "input_before", "input_after"), bool(session.inputs))
        can |= dict.fromkeys(("panel_bottom", "panel_right"), there)
        can["difference"] = len(session.ticked_inputs) > 1
        for name, on in can.items():
            actions[name].setEnabled(on)
        _check(actions, "auto", session.auto)

    # -- what they do ------------------------------------------------------------------------------------

    def ask_export(self, what: int) -> ExportDialog:
        """Open the export dialog."""
        dialog = ExportDialog(self._session, what, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    def copy(self) -> None:
        """Copy the text where the focus is in one, else the picture of the wall."""
        focus = self._window.focusWidget()
        if isinstance(focus, QLineEdit | QTextEdit):
            focus.copy()
            return
        QGuiApplication.clipboard().setImage(self._window.wall.lanes.picture())
        self.said.emit(self.tr("Copied"))

    def _copy_path(self) -> None:
        QGuiApplication.clipboard().setText(self._session.selection.path)
        self.said.emit(self.tr("Copied"))

    def _copy_versions(self) -> None:
        QGuiApplication.clipboard().setText(versions())
        self.said.emit(self.tr("Copied"))

    def _filter(self) -> None:
        self._window.docks.panels["modules"].show()
        self._window.docks.modules.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._window.docks.modules.filter.selectAll()

    def _tick(self) -> None:
        path = self._session.selection.path
        self._session.tick([path], path not in self._session.plan.paths)

    def _remove_input(self) -> None:
        item = self._session.current_input
        if item is not None:
            self._session.remove_input(item.number)

    def _choose_class(self) -> None:
        self._window.run_bar.target.choose_class()

    def show_keys(self) -> Overlay:
        """Show the page of keys over the window."""
        page = KeysPage()
        over = Overlay(page, self._window)
        page.closed.connect(over.close_page)
        over.show_over()
        return over

    def _about(self) -> None:
        box = QMessageBox(self._window)
        box.setWindowTitle(self.tr("About hookviewer"))
        box.setIconPixmap(icons.mark(56))
        box.setText(f"<b>hookviewer {__version__}</b>")
        words = self.tr("Every map and every gradient of a PyTorch model, as they really were.")
        box.setInformativeText(f"{words}\n\n{versions()}\n\n{self.tr('MIT licence. Icons: Lucide, ISC.')}")
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    # -- how the window looks ----------------------------------------------------------------------------

    def set_theme(self, name: str) -> None:
        """Put a theme in force and start with it from now on."""
        set_theme(name)
        settings.remember_theme(name)

    def _switch_theme(self) -> None:
        self.set_theme("light" if theme().dark else "dark")

    def _show_side(self, side: str, on: bool) -> None:
        if self._session.model is None and side != "left":
            return
        for dock in self._window.docks.of(side):
            dock.setVisible(on)

    def show_sides(self) -> None:
        """Mark the switches of the sides whose panels are there."""
        if self._session.model is None or not self._window.isVisible():
            return
        for side in SIDES:
            shown = any(not dock.isHidden() for dock in self._window.docks.of(side))
            _check(self.actions, f"panel_{side}", shown)

    def _set_full_screen(self, on: bool) -> None:
        show: Callable[[], None] = self._window.showFullScreen if on else self._window.showNormal
        if on != self._window.isFullScreen():
            show()

    def show_full_screen(self, on: bool) -> None:
        """Mark whether the window fills the screen."""
        _check(self.actions, "full_screen", on)


def _check(actions: Actions, name: str, on: bool) -> None:
    before = actions[name].blockSignals(True)
    actions[name].setChecked(on)
    actions[name].blockSignals(before)
