"""What a right click on the wall offers as a target: the cell under the pointer, and its channel."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication

from hookviewer.gui.columns import Column
from hookviewer.gui.field_lane import looks_like_a_picture
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Offer, Pointed, TargetChoice
from hookviewer.gui.target_classes import known_names
from hookviewer.gui.target_field import is_cell, show_on_the_picture
from hookviewer.gui.target_names import short
from hookviewer.gui.target_picking import cell_target, channel_target


def targets_at(session: Session, column: Column, spot: Pointed) -> list[tuple[str, Callable[[], None]]]:
    """Return entries of a menu, each with what it does, for a place of a column; none without a unit."""
    run = session.runs.get(column.number) if column.number is not None else None
    if run is None or column.maps is None:
        return []
    recording, selection, look = run.recording, session.selection, session.look
    cell = cell_target(recording, selection, look, spot)
    found = [(_tr("Gradient of this cell"), cell, start_from)]
    if cell is not None and is_cell(cell) and selection.path and _seen(session, column):
        found.append((_tr("What this cell sees of the picture"), cell, see))
    if column.maps.layout in ("maps", "lines") and len(column.maps.values) > 1:
        channel = channel_target(recording, selection, look, spot.channel)
        found.append((_tr("Gradient of this channel"), channel, start_from))
    return [(text, partial(does, session, one)) for text, one, does in found if one is not None]


def _seen(session: Session, column: Column) -> bool:
    """Return whether the input of a column is a picture."""
    return column.number is not None and looks_like_a_picture(session.item(column.number).input)


def start_from(session: Session, choice: TargetChoice) -> None:
    """Make gradients start from a unit, with a way back."""
    undo = _start(session, choice)
    what = _tr("Gradients start from {}.").format(short(choice, known_names(session)))
    now = _tr("Look at the gradient (G) of an earlier layer: it is what this place depends on.")
    offers = (Offer(_tr("Show on the picture"), partial(show_on_the_picture, session)),)
    session.tell(Message("info", what, now, undo=undo, offers=offers if is_cell(choice) else ()))


def see(session: Session, choice: TargetChoice) -> None:
    """Show how strongly each pixel of the picture acts on a cell, with a way back to where it was."""
    selection, over = session.selection, session.look.over
    take_back = _start(session, choice)
    show_on_the_picture(session)

    def undo() -> None:
        take_back()
        session.set_look(over=over)
        back = {field.name: getattr(selection, field.name) for field in dataclasses.fields(selection)}
        session.select(**back)

    what = _tr("This is what {} sees.").format(short(choice, known_names(session)))
    now = _tr("The brighter, the more a pixel acts on it; the rectangle is all that can.")
    session.tell(Message("info", what, now, undo=undo))


def _start(session: Session, choice: TargetChoice) -> Callable[[], None]:
    before = session.settings.target
    session.set_settings(target=choice)
    return lambda: session.set_settings(target=before)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Target", text)
