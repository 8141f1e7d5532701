"""The menu bar and the menus of the run bar, made of the window's actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent
from PySide6.QtWidgets import QMenu

from hookviewer.gui import numbers, recent, settings
from hookviewer.gui.commands import Commands
from hookviewer.gui.compare_commands import NAMES
from hookviewer.gui.opening import Opening
from hookviewer.gui.session import Session
from hookviewer.gui.state import Shown
from hookviewer.inputs.demo import PHOTOGRAPHS
from hookviewer.sources.demo import DEMOS
from hookviewer.sources.wording import shown

if TYPE_CHECKING:
    from hookviewer.gui.main_window import MainWindow

BUDGETS = tuple(size << 20 for size in (256, 512, 1024, 2048, 4096, 8192))


def _plain(text: str) -> str:
    """Return a name out of a file as words of a menu, where an ampersand would underline."""
    return shown(text, 90).replace("&", "&&")


class Menus(QObject):
    """Builds menus; where an entry has a key of the wall, that key is sent there."""

    def __init__(self, window: MainWindow, session: Session, commands: Commands, opening: Opening) -> None:
        super().__init__(window)
        self._window, self._session = window, session
        self._commands, self._actions, self._opening = commands, commands.actions, opening
        self.model, self.input, self.export = self._model_menu(), self._input_menu(), self._export_menu()

    def fill_bar(self) -> None:
        """Put everything into the menu bar."""
        fills = (
            (self.tr("File"), self._fill_file),
            (self.tr("Edit"), self._fill_edit),
            (self.tr("View"), self._fill_view),
            (self.tr("Run"), self._fill_run),
            (self.tr("Layer"), self._fill_layer),
            (self.tr("Compare"), self._fill_compare),
            (self.tr("Help"), self._fill_help),
        )
        for title, fill in fills:
            menu = self._window.menuBar().addMenu(title)
            menu.setToolTipsVisible(True)
            fill(menu)

    def _put(self, menu: QMenu, *names: str) -> None:
        for name in names:
            if name:
                menu.addAction(self._actions[name])
            else:
                menu.addSeparator()

    # -- the menus of the run bar -------------------------------------------------------------------------

    def _model_menu(self) -> QMenu:
        menu = QMenu(self._window)
        self._put(menu, "open_model", "open_file", "open_project")
        menu.addMenu(self._demo_menu(menu))
        menu.addMenu(self._recent_menu(menu))
        self._put(menu, "", "weights", "reload")
        return menu

    def _demo_menu(self, parent: QMenu) -> QMenu:
        menu = QMenu(self.tr("Demo models"), parent)
        for name in DEMOS:
            menu.addAction(name, partial(self._opening.open, f"demo:{name}"))
        return menu

    def _recent_menu(self, parent: QMenu) -> QMenu:
        menu = QMenu(self.tr("Recent models"), parent)
        menu.setObjectName("recent_models")
        menu.aboutToShow.connect(lambda: self._fill_recent(menu))
        return menu

    def _fill_recent(self, menu: QMenu) -> None:
        menu.clear()
        for one in recent.models():
            text = _plain(one.spec) + (f"  ({_plain(one.weights)})" if one.weights else "")
            self._recent(menu, text, one, partial(self._opening.open, one.spec, one.weights))
        self._end_recent(menu, recent.forget_models)

    def _recent_inputs_menu(self, parent: QMenu) -> QMenu:
        menu = QMenu(self.tr("Recent inputs"), parent)
        menu.setObjectName("recent_inputs")
        menu.aboutToShow.connect(lambda: self._fill_recent_inputs(menu))
        return menu

    def _fill_recent_inputs(self, menu: QMenu) -> None:
        menu.clear()
        for one in recent.inputs():
            self._recent(menu, _plain(one.spec), one, partial(self._session.open_inputs, [one.spec]))
        self._end_recent(menu, recent.forget_inputs)

    def _recent(self, menu: QMenu, text: str, one: recent.Recent, does: Callable[[], object]) -> None:
        """Add what was open; where its file is gone, it is grey and says so."""
        missing = one.missing
        action = menu.addAction(text + self.tr("  (not there any more)") if missing else text, does)
        action.setEnabled(not missing)

    def _end_recent(self, menu: QMenu, forget: Callable[[], object]) -> None:
        if menu.isEmpty():
            menu.addAction(self.tr("Nothing was open yet")).setEnabled(False)
            return
        menu.addSeparator()
        menu.addAction(self.tr("Forget these"), forget)

    def _input_menu(self) -> QMenu:
        menu = QMenu(self._window)
        self._put(menu, "add_input", "add_folder")
        menu.addMenu(self._recent_inputs_menu(menu))
        photographs = QMenu(self.tr("Demo photographs"), menu)
        for name in PHOTOGRAPHS:
            add = partial(self._session.open_inputs, [f"demo:{name}"])
            photographs.addAction(name.replace("_", " "), add)
        menu.addMenu(photographs)
        self._put(menu, "", "random_input", "ones_input", "arguments", "", "paste", "", "preprocessing")
        return menu

    def _export_menu(self) -> QMenu:
        menu = QMenu(self._window)
        self._put(menu, "export", "export_layer", "export_channel", "", "copy")
        return menu

    # -- the menu bar -------------------------------------------------------------------------------------

    def _fill_file(self, menu: QMenu) -> None:
        self._put(menu, "open_model", "open_file", "open_project", "open_demo")
        menu.addMenu(self._demo_menu(menu))
        menu.addMenu(self._recent_menu(menu))
        self._put(menu, "weights", "reload", "")
        inputs = menu.addMenu(self.tr("Add input"))
        inputs.addActions(self.input.actions())
        self._put(menu, "", "export", "export_layer", "export_channel", "", "close", "quit")

    def _fill_edit(self, menu: QMenu) -> None:
        self._put(menu, "undo", "redo", "", "copy", "copy_path", "paste", "", "filter", "")
        self._put(menu, "tick", "untick_all", "", "tick_inputs", "untick_inputs", "remove_input", "")
        self._put(menu, "reset_settings")

    def _fill_view(self, menu: QMenu) -> None:
        self._put(menu, "panel_left", "panel_bottom", "panel_right", "")
        docks = menu.addMenu(self.tr("Panels"))
        docks.aboutToShow.connect(lambda: self._fill_docks(docks))
        self._keys(
            menu,
            (self.tr("Fit"), "Z", Qt.Key.Key_Z),
            (self.tr("Zoom in"), "+", Qt.Key.Key_Plus),
            (self.tr("Zoom out"), "−", Qt.Key.Key_Minus),
            (self.tr("One cell, one pixel"), "1", Qt.Key.Key_1),
        )
        self._put(menu, "", "calls", "by_order", "overwritten", "")
        themes = menu.addMenu(self.tr("Theme"))
        self._choices(
            themes,
            [(self.tr("Dark"), "dark"), (self.tr("Light"), "light"), (self.tr("As the desktop"), "system")],
            settings.theme_name,
            self._commands.set_theme,
        )
        self._put(menu, "full_screen", "", "reset_layout")

    def _fill_docks(self, menu: QMenu) -> None:
        menu.clear()
        popup = self._window.createPopupMenu()
        if popup is not None:
            menu.addActions([action for action in popup.actions() if action.text() != "Run bar"])

    def _fill_run(self, menu: QMenu) -> None:
        self._put(menu, "run", "stop", "auto", "")
        limits = menu.addMenu(self.tr("Memory limit of a run"))
        self._choices(
            limits,
            [(numbers.size(size), size) for size in BUDGETS],
            lambda: self._session.settings.budget,
            self._commands.set_budget,
        )
        self._put(menu, "target_class", "trust_map")

    def _fill_layer(self, menu: QMenu) -> None:
        self._put(menu, "layer_before", "layer_after", "input_before", "input_after", "")
        self._put(menu, "previous_file", "next_file", "")
        shown = menu.addMenu(self.tr("Show"))
        self._choices(
            shown,
            [
                (self.tr("Output"), Shown.OUTPUT),
                (self.tr("Gradient"), Shown.GRADIENT),
                (self.tr("|Gradient|"), Shown.MAGNITUDE),
                (self.tr("Output × gradient"), Shown.PRODUCT),
                (self.tr("CAM: maps of importance (Grad-CAM and others)"), Shown.GRAD_CAM),
                (self.tr("Weights"), Shown.WEIGHTS),
                (self.tr("Attention"), Shown.ATTENTION),
            ],
            lambda: self._session.selection.shown,
            lambda kind: self._session.select(shown=kind),
        )
        self._choices(
            menu.addMenu(self.tr("At")),
            [
                (self.tr("The output"), "output"),
                (self.tr("The input, through this module"), "input"),
                (self.tr("The input, through all its uses"), "total"),
            ],
            lambda: self._session.selection.side,
            lambda side: self._session.select(side=side),
        )
        self._put(menu, "difference", "", "edit_layer", "zero_channel", "edit_channel", "edit_region")
        self._put(menu, "show_edits", "")
        self._keys(
            menu,
            (self.tr("Next kind"), "G", Qt.Key.Key_G),
            (self.tr("Sort"), "S", Qt.Key.Key_S),
            (self.tr("Blink A and B"), "Space", Qt.Key.Key_Space),
            (self.tr("Go to channel…"), "#", Qt.Key.Key_NumberSign),
        )

    def _fill_compare(self, menu: QMenu) -> None:
        self._put(menu, *NAMES[:1], "", "difference")
        self._keys(
            menu,
            (self.tr("Blink A and B"), "Space", Qt.Key.Key_Space),
            (self.tr("Swipe from A to B"), "W", Qt.Key.Key_W),
        )
        self._put(menu, *NAMES[1:])

    def _fill_help(self, menu: QMenu) -> None:
        self._put(menu, "tutorial", "keys", "", "log_folder", "copy_versions", "about")

    def _keys(self, menu: QMenu, *entries: tuple[str, str, Qt.Key]) -> None:
        """Add what the wall does on a plain letter; the letter is written, not taken by the menu."""
        for text, key, code in entries:
            menu.addAction(f"{text}\t{key}", partial(self._press, code))

    def _press(self, code: Qt.Key) -> None:
        text = chr(code.value).lower() if code.value < 128 else ""
        self._window.wall.keyPressEvent(
            QKeyEvent(QEvent.Type.KeyPress, code, Qt.KeyboardModifier.NoModifier, text)
        )

    def _choices(
        self,
        menu: QMenu,
        entries: Sequence[tuple[str, object]],
        current: Callable[[], object],
        choose: Callable[..., object],
    ) -> None:
        """Fill a menu with choices of which one is in force."""
        group = QActionGroup(menu)
        made: list[tuple[QAction, object]] = []
        for text, value in entries:
            action = menu.addAction(text, partial(choose, value))
            action.setCheckable(True)
            group.addAction(action)
            made.append((action, value))

        def mark() -> None:
            for action, value in made:
                action.setChecked(value == current())

        menu.aboutToShow.connect(mark)
