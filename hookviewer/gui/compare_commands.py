"""What the window can be told to compare: the actions of the menu Compare."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QDialog

from hookviewer.gui.compare_channels_dialog import ChannelsDialog
from hookviewer.gui.compare_cka import CkaDialog
from hookviewer.gui.top_inputs_dialog import TopInputsDialog

if TYPE_CHECKING:
    from hookviewer.gui.actions import Actions
    from hookviewer.gui.main_window import MainWindow

NAMES = ("compare", "", "diverging", "channels", "cka", "top_inputs")
"""Its actions in the order of the menu; an empty name is a line."""


def add_actions(actions: Actions, window: MainWindow) -> None:
    """Make the actions."""
    session = window.session
    actions.add("compare", _tr("What columns differ in…"), partial(_choose, window), "Ctrl+K", "columns-3")
    actions.add("diverging", _tr("Find where columns first go apart"), partial(_look, window))
    channels = _tr("Channels compared, as a table…")
    actions.add("channels", channels, partial(_open, window, ChannelsDialog), "", "table-2")
    actions.add("cka", _tr("Layers alike (CKA)…"), partial(_open, window, CkaDialog))
    actions.add("top_inputs", _tr("Top inputs of this layer…"), partial(_open, window, TopInputsDialog))
    for signal in (session.model_changed, session.inputs_changed):
        signal.connect(partial(refresh, actions, window))
    refresh(actions, window)


def refresh(actions: Actions, window: MainWindow) -> None:
    """Enable what can be done now."""
    session = window.session
    there = session.model is not None
    for name in ("compare", "cka", "top_inputs"):
        actions[name].setEnabled(there)
    for name in ("diverging", "channels"):
        actions[name].setEnabled(there and len(session.ticked_inputs) > 1)


def _choose(window: MainWindow) -> None:
    window.wall.controls.choose_columns()


def _look(window: MainWindow) -> None:
    window.docks.panels["layers"].show()
    window.session.diverging.look()


def _open(window: MainWindow, kind: type[ChannelsDialog | CkaDialog | TopInputsDialog]) -> QDialog:
    dialog = kind(window.session, window)
    dialog.show()
    return dialog


def _tr(text: str) -> str:
    return QCoreApplication.translate("Compare", text)
