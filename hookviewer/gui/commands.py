"""What the window can be told to do: every action, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QLineEdit, QTextEdit
from shiboken6 import isValid

from hookviewer.gui import settings
from hookviewer.gui.about_page import AboutPage, open_log_folder
from hookviewer.gui.actions import Actions
from hookviewer.gui.bringing import Bringing
from hookviewer.gui.compare_commands import add_actions
from hookviewer.gui.editor import Editor
from hookviewer.gui.export_dialog import ALL_LAYERS, THIS_CHANNEL, THIS_LAYER, ExportDialog
from hookviewer.gui.history import History
from hookviewer.gui.input_panel import step_input
from hookviewer.gui.keys_page import KeysPage
from hookviewer.gui.messages import versions
from hookviewer.gui.opening import Opening
from hookviewer.gui.overlay import Overlay
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Settings
from hookviewer.gui.theme import set_theme, theme
from hookviewer.gui.trust_maps_dialog import ask_trust
from hookviewer.gui.tutorial_dock import show_tutorial
from hookviewer.gui.tutorial_page import TutorialPage

if TYPE_CHECKING:
    from hookviewer.gui.main_window import MainWindow

SIDES = ("left", "bottom", "right")


class Commands(QObject):
    """Makes the window's actions and keeps them enabled when they can be done."""

    said = Signal(str)

    def __init__(
        self, session: Session, opening: Opening, bringing: Bringing, history: History, window: MainWindow
    ) -> None:
        super().__init__(window)
        self._session, self._opening, self._window = session, opening, window
        self._bringing, self._history = bringing, history
        self.actions = Actions(window)
        self._make_file()
        self._make_edit()
        self._make_view()
        self._make_run()
        add_actions(self.actions, window)
        self._make_help()
        for signal in (session.model_changed, session.run_started, session.run_finished):
            signal.connect(self.refresh)
        for changed in (session.inputs_changed, session.runs_changed, session.settings_changed):
            changed.connect(self.refresh)
        session.attributions_changed.connect(self._refresh_stop)
        self.refresh()

    def _make_file(self) -> None:
        add, opening, bringing = self.actions.add, self._opening, self._bringing
        add("open_model", self.tr("Open model…"), opening.ask_model, "Ctrl+O", "folder-open")
        add("open_file", self.tr("Open model file…"), opening.ask_file, "Ctrl+Shift+O")
        add("open_project", self.tr("Open project folder…"), opening.ask_folder, "Ctrl+Shift+P")
        add("open_demo", self.tr("Open the demo"), opening.open_demo, "Ctrl+D")
        add("weights", self.tr("Load weights…"), opening.ask_weights)
        add("reload", self.tr("Reload model"), opening.reload, "Ctrl+R")
        add("add_input", self.tr("Add input…"), bringing.ask_inputs, "Ctrl+I", "image-plus")
        add("add_folder", self.tr("Add folder of inputs…"), bringing.ask_folder, "Ctrl+Shift+I")
        add("random_input", self.tr("Random tensor…"), partial(bringing.ask_shape, "random"))
        add("ones_input", self.tr("Tensor of ones…"), partial(bringing.ask_shape, "ones"))
        add("arguments", self.tr("Several arguments…"), bringing.ask_arguments)
        add("preprocessing", self.tr("Preprocessing of pictures…"), bringing.ask_recipe, "Ctrl+P")
        add(
            "next_file",
            self.tr("Next file in its folder"),
            partial(bringing.step_in_folder, 1),
            "Ctrl+PgDown",
        )
        before = partial(bringing.step_in_folder, -1)
        add("previous_file", self.tr("Previous file in its folder"), before, "Ctrl+PgUp")
        add("export", self.tr("Export…"), partial(self.ask_export, ALL_LAYERS), "Ctrl+E", "download")
        add("export_layer", self.tr("Export this layer…"), partial(self.ask_export, THIS_LAYER))
        add("export_channel", self.tr("Export this channel…"), partial(self.ask_export, THIS_CHANNEL))
        add("close", self.tr("Close"), self._window.close, "Ctrl+W")
        add("quit", self.tr("Quit"), self._window.close, "Ctrl+Q")

    def _make_edit(self) -> None:
        add = self.actions.add
        stack = self._history.stack
        for name, words, does, key, changed in (
            ("undo", self.tr("Undo"), self._history.undo, "Ctrl+Z", stack.undoTextChanged),
            ("redo", self.tr("Redo"), self._history.redo, "Ctrl+Shift+Z", stack.redoTextChanged),
        ):
            action = add(name, words, does, key, f"{name}-2")
            changed.connect(partial(self._show_step, action, words))
        stack.canUndoChanged.connect(self.actions["undo"].setEnabled)
        stack.canRedoChanged.connect(self.actions["redo"].setEnabled)
        self.actions["undo"].setEnabled(False)
        self.actions["redo"].setEnabled(False)
        add("paste", self.tr("Paste picture, file or name"), self.paste, "Ctrl+V")
        add("tick_inputs", self.tr("Tick all inputs"), partial(self._session.tick_inputs, True))
        add("untick_inputs", self.tr("Untick all inputs"), partial(self._session.tick_inputs, False))
        add("reset_settings", self.tr("Reset settings"), self._reset_settings)
        add("copy", self.tr("Copy picture"), self.copy, "Ctrl+C", "copy")
        add("copy_path", self.tr("Copy path of the module"), self._copy_path, "Ctrl+Shift+C")
        add("filter", self.tr("Filter modules"), self._filter, "Ctrl+F")
        add("tick", self.tr("Tick or untick this module"), self._tick, "Ctrl+T")
        add("untick_all", self.tr("Untick all modules"), self._window.docks.modules.untick_all)
        add("remove_input", self.tr("Remove this input"), self._remove_input)
        self._editor = Editor(self._session, self._window)
        add("edit_layer", self.tr("Edit this layer…"), self._editor.ask_layer, "Ctrl+Shift+E", "pencil")
        add("zero_channel", self.tr("Zero this channel"), self._editor.zero_channel, "Ctrl+Shift+0")
        add("edit_channel", self.tr("Edit this channel…"), self._editor.ask_channel)
        add("edit_region", self.tr("Edit this rectangle…"), self._editor.ask_region)
        add("show_edits", self.tr("Edits"), self._window.docks.show_edits)

    def _make_view(self) -> None:
        session = self._session
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
        calls = self.actions.switch("calls", self.tr("Functional calls"), session.calls.set_on)
        session.calls_changed.connect(self._remember_calls)
        calls.setChecked(settings.lists_calls())
        modules = self._window.docks.modules
        order = self.actions.switch("by_order", self.tr("Order of execution"), modules.by_order.setChecked)
        modules.by_order.toggled.connect(order.setChecked)
        add = self.actions.add
        add("overwritten", self.tr("Show overwritten layers"), modules.show_overwritten)
        self.actions.switch("full_screen", self.tr("Full screen"), self._set_full_screen, "F11")
        self.actions.add("reset_layout", self.tr("Reset layout"), self._window.docks.reset)

    def _make_run(self) -> None:
        session, wall, add = self._session, self._window.wall, self.actions.add
        add("run", self.tr("Run"), session.run, "F5", "play")
        # Esc is the window's: it stops, closes a page, or closes a message
        add("stop", self.tr("Stop") + "\tEsc", session.stop, "", "square")
        self.actions.switch("auto", self.tr("Run by itself"), session.set_auto)
        add("target_class", self.tr("Target…"), self._choose_target, "Ctrl+Shift+G", "crosshair")
        add("trust_map", self.tr("How much does this map say?…"), self.ask_trust)
        add("layer_before", self.tr("Layer before") + "\t[", partial(wall.step_layer, -1))
        add("layer_after", self.tr("Layer after") + "\t]", partial(wall.step_layer, 1))
        add("input_before", self.tr("Input before"), partial(step_input, session, -1), "PgUp")
        add("input_after", self.tr("Input after"), partial(step_input, session, 1), "PgDown")
        add("difference", self.tr("Difference of A and B") + "\tD", wall.toggle_difference)

    def _make_help(self) -> None:
        add = self.actions.add
        add("tutorial", self.tr("How hooks work"), self.show_tutorial, "F1", "anchor")
        add("keys", self.tr("Keys"), self.show_keys, "?", "keyboard")
        add("copy_versions", self.tr("Copy versions"), self._copy_versions)
        add("log_folder", self.tr("Open log folder"), open_log_folder)
        add("about", self.tr("About hookviewer"), self.show_about)

    def _refresh_stop(self) -> None:
        stop, session = self.actions["stop"], self._session
        stop.setEnabled(session.running or session.attributions.working)

    def refresh(self) -> None:
        """Enable what can be done now."""
        session, actions = self._session, self.actions
        there, shown = session.model is not None, bool(session.runs)
        working = session.running or session.attributions.working
        can = {"run": there and not session.running and bool(session.ticked_inputs), "stop": working}
        can |= dict.fromkeys(("add_input", "reload", "weights", "filter", "tick", "untick_all"), there)
        can |= dict.fromkeys(("copy_path", "auto", "layer_before", "layer_after", "target_class"), there)
        can |= dict.fromkeys(("export", "export_layer", "export_channel", "copy"), shown)
        inputs = ("remove_input", "input_before", "input_after", "next_file", "previous_file")
        can |= dict.fromkeys((*inputs, "tick_inputs", "untick_inputs"), bool(session.inputs))
        brings = ("add_folder", "random_input", "ones_input", "arguments", "preprocessing")
        can |= dict.fromkeys(brings, there)
        can |= dict.fromkeys(("panel_bottom", "panel_right"), there)
        can["difference"] = len(session.ticked_inputs) > 1
        can |= dict.fromkeys(("edit_layer", "show_edits"), there)
        can |= dict.fromkeys(("zero_channel", "edit_channel"), shown)
        count = self._window.docks.modules.overwritten
        words = self.tr("Show overwritten layers")
        actions["overwritten"].setText(f"{words} ({count})" if count else words)
        can["overwritten"] = bool(count)
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

    def paste(self) -> None:
        """Paste into the text field that has the focus, else open what is on the clipboard."""
        focus = self._window.focusWidget()
        if isinstance(focus, QLineEdit | QTextEdit):
            focus.paste()
        else:
            self._bringing.paste()

    def _remember_calls(self) -> None:
        _check(self.actions, "calls", self._session.calls.on)
        settings.remember_lists_calls(self._session.calls.on)

    def _show_step(self, action: QAction, words: str, step: str) -> None:
        action.setText(f"{words}: {step}" if step else words)

    def _reset_settings(self) -> None:
        before, session = settings.reset(), self._session
        budget = session.settings.budget
        self._use_settings(Settings().budget)
        self._window.docks.reset()

        def undo() -> None:
            settings.put_back(before)
            self._use_settings(budget)
            self._window.docks.restore()

        session.tell(Message("info", self.tr("Settings are as at the first start."), undo=undo))

    def _use_settings(self, budget: int) -> None:
        set_theme(settings.theme_name())
        self._session.set_settings(budget=budget)

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
            self._session.remove_input(item.listed)

    def ask_trust(self) -> None:
        """Check the selected map of importance."""
        ask_trust(self._session, self._window)

    def _choose_target(self) -> None:
        self._window.run_bar.target.choose()

    def show_tutorial(self) -> TutorialPage:
        """Show the page of lessons beside everything else."""
        return show_tutorial(self._session, self._opening, self._window)

    def show_keys(self) -> Overlay:
        """Show the page of keys over the window."""
        return self._show_page(KeysPage())

    def show_about(self) -> Overlay:
        """Show the page about the program over the window."""
        return self._show_page(AboutPage())

    def _show_page(self, page: KeysPage | AboutPage) -> Overlay:
        over = Overlay(page, self._window)
        page.closed.connect(over.close_page)
        over.show_over()
        return over

    # -- how the window looks ----------------------------------------------------------------------------

    def set_budget(self, size: int) -> None:
        """Let a run keep so many bytes, now and from now on."""
        self._session.set_settings(budget=size)
        settings.remember_budget(size)

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
        if not isValid(self._window) or self._session.model is None or not self._window.isVisible():
            return  # panels are hidden too when a program ends without closing its window
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
