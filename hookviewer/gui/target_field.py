"""What the cell that gradients start from sees of the picture: its rectangle and its gradient over it."""

from __future__ import annotations

from hookviewer.gui.field_lane import Seen
from hookviewer.gui.session import Session
from hookviewer.gui.state import SIDED, InputItem, Selection, Shown
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record
from hookviewer.target_choice import TargetChoice

OF_THE_PICTURE = (Kind.GRAD_INPUT, Kind.GRAD_INPUT_TOTAL, Kind.ATTRIBUTION)
"""Kinds of records of the whole model whose cells are pixels of its input."""


def is_cell(target: TargetChoice) -> bool:
    """Return whether a target is one cell of a layer."""
    return target.rule == "unit" and len(target.place) > 2 and None not in target.place


def target_seen(session: Session, item: InputItem | None, record: Record | None) -> Seen | None:
    """Return what the target sees, where `record` lies on the model's input and the target is a cell."""
    target = session.settings.target
    if item is None or record is None or not is_cell(target) or not _on_the_picture(record):
        return None
    target = item.variant.settings(session.settings).target
    key = Key(target.path, Kind.OUTPUT, target.call, target.leaf or "")
    seen = session.fields.seen_at(item, key, target.place)
    return seen if seen is not None and record.shape[-2:] == seen.size else None


def cells_are_of_the_output(selection: Selection, record: Record | None) -> bool:
    """Return whether the cells of what is shown are those of a module's output, of which a field is known."""
    at_input = selection.shown in SIDED and selection.side != "output"
    of_the_input = record is not None and record.key[:2] == ("", Kind.ATTRIBUTION)
    return not at_input and not of_the_input


def want_target(session: Session, item: InputItem | None, record: Record | None) -> None:
    """Find what cells see, where the rectangle of the target is to be drawn on `record`."""
    if item is not None and record is not None and _on_the_picture(record):
        session.fields.want_all(item)


def _on_the_picture(record: Record) -> bool:
    return not record.key.path and record.key.kind in OF_THE_PICTURE


def show_on_the_picture(session: Session) -> None:
    """Look at the gradient of the model's input, without its sign, over the picture."""
    item = session.current_input
    target = session.settings.target
    key = Key(target.path, Kind.OUTPUT, target.call, target.leaf or "")
    seen = session.fields.seen_at(item, key, target.place) if item is not None and is_cell(target) else None
    middle = None if seen is None else seen.middle_in(*seen.size)
    session.select(path="", shown=Shown.MAGNITUDE, side="input", leaf="", call=0, channel=0, cell=middle)
    session.set_look(over="overlay")
