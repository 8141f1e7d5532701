"""What a right click on the wall offers as a target: the cell under the pointer, and its channel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication

from hookviewer.gui.columns import Column
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Pointed, TargetChoice
from hookviewer.gui.target_classes import known_names
from hookviewer.gui.target_names import short
from hookviewer.gui.target_picking import cell_target, channel_target


def targets_at(session: Session, column: Column, spot: Pointed) -> list[tuple[str, Callable[[], None]]]:
    """Return entries of a menu, each with what it does, for a place of a column; none without a unit."""
    run = session.runs.get(column.number) if column.number is not None else None
    if run is None or column.maps is None:
        return []
    recording, selection, look = run.recording, session.selection, session.look
    found = [(_tr("Gradient of this cell"), cell_target(recording, selection, look, spot))]
    if column.maps.layout in ("maps", "lines") and len(column.maps.values) > 1:
        channel = channel_target(recording, selection, look, spot.channel)
        found.append((_tr("Gradient of this channel"), channel))
    return [(text, partial(start_from, session, one)) for text, one in found if one is not None]


def start_from(session: Session, choice: TargetChoice) -> None:
    """Make gradients start from a unit, with a way back."""
    before = session.settings.target
    session.set_settings(target=choice)
    what = _tr("Gradients start from {}.").format(short(choice, known_names(session)))
    now = _tr("Look at the gradient (G) of an earlier layer: it is what this place depends on.")
    session.tell(Message("info", what, now, undo=lambda: session.set_settings(target=before)))


def _tr(text: str) -> str:
    return QCoreApplication.translate("Target", text)
