"""What a right click on the wall offers to change: the channel under the pointer, and the rectangle."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication

from hookviewer.errors import HookViewerError
from hookviewer.gui.columns import Column
from hookviewer.gui.edit_choice import EditChoice
from hookviewer.gui.edit_start import SEEN, of_channel, of_region
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Pointed


def edits_at(session: Session, column: Column, spot: Pointed) -> list[tuple[str, Callable[[], None]]]:
    """Return entries of a menu, each with what it does; none where what is shown is no tensor of a run."""
    if column.number is None or session.selection.shown not in SEEN:
        return []
    edit = partial(of_channel, session, spot.channel)
    found: list[tuple[str, Callable[[], None]]] = [
        (_tr("Zero channel {}").format(spot.channel), partial(apply, session, edit)),
        (_tr("Edit channel {}…").format(spot.channel), partial(ask, session, edit)),
    ]
    if session.selection.region is not None:
        found.append((_tr("Edit this rectangle…"), partial(ask, session, partial(of_region, session))))
    return found


def apply(session: Session, begin: Callable[[], EditChoice]) -> None:
    """Put an edit on the list; what is in the way is told."""
    _with(session, begin, session.editing.add)


def ask(session: Session, begin: Callable[[], EditChoice]) -> None:
    """Show the form with an edit."""
    _with(session, begin, session.editing.ask)


def _with(session: Session, begin: Callable[[], EditChoice], does: Callable[[EditChoice], None]) -> None:
    try:
        choice = begin()
    except HookViewerError as error:
        session.tell(Message("warn", _tr("This cannot be edited."), str(error)))
        return
    does(choice)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Edits", text)
