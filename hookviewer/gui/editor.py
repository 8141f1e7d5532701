"""Opens the form of an edit over the window, and begins edits of what is selected."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from hookviewer.gui import edit_menu
from hookviewer.gui.edit_choice import EditChoice
from hookviewer.gui.edit_dialog import EditDialog
from hookviewer.gui.edit_start import of_channel, of_region, whole_layer
from hookviewer.gui.editing import EditAsked
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message


class Editor(QObject):
    """Answers whoever asks for an edit, over its `window`."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        session.editing.asked.connect(self._on_asked)

    def ask_layer(self) -> None:
        """Ask for an edit of the selected layer."""
        self._session.editing.ask(whole_layer(self._session))

    def ask_channel(self) -> None:
        """Ask for an edit of the selected channel."""
        channel = self._session.selection.channel
        edit_menu.ask(self._session, partial(of_channel, self._session, channel))

    def ask_region(self) -> None:
        """Ask for an edit of the rectangle."""
        if self._session.selection.region is None:
            now = self.tr("Draw one on the map of the Inspector, with Shift held.")
            self._session.tell(Message("info", self.tr("There is no rectangle."), now))
            return
        edit_menu.ask(self._session, partial(of_region, self._session))

    def zero_channel(self) -> None:
        """Zero the selected channel."""
        channel = self._session.selection.channel
        edit_menu.apply(self._session, partial(of_channel, self._session, channel))

    def _on_asked(self, asked: EditAsked) -> None:
        again = asked.number is not None
        dialog = EditDialog(self._session, asked.choice, self._window, again=again)
        dialog.chosen.connect(partial(self._on_chosen, asked.number))
        dialog.open()

    def _on_chosen(self, number: int | None, choice: EditChoice) -> None:
        listed = [one.number for one in self._session.editing.listed]
        if number in listed and number is not None:
            self._session.editing.exchange(number, choice)
        else:
            self._session.editing.add(choice)
