"""Where an edit begins: the selected layer, a channel, a rectangle, as they are seen on the wall. Pure."""

from __future__ import annotations

import dataclasses

from hookviewer.gui.edit_choice import EditChoice
from hookviewer.gui.edit_places import index_of, map_index, shapes
from hookviewer.gui.session import Session
from hookviewer.gui.state import Selection, Shown
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Recording

SEEN = {Shown.OUTPUT: Kind.OUTPUT, Shown.GRADIENT: Kind.GRAD_OUTPUT, Shown.PRODUCT: Kind.OUTPUT}
"""What is shown cell by cell, and the tensor that an edit of it changes."""


def whole_layer(session: Session, path: str | None = None) -> EditChoice:
    """Return an edit of a whole layer: of the selected one, or of another."""
    chosen = session.selection.path if path is None else path
    kind = SEEN.get(session.selection.shown, Kind.OUTPUT)
    return EditChoice(chosen, kind=kind)


def of_channel(session: Session, channel: int) -> EditChoice:
    """Return an edit of one channel of what is shown; raises `HookViewerError` where there is none."""
    return placed(session, dataclasses.replace(_shown(session.selection), channels=(channel,)))


def of_region(session: Session) -> EditChoice:
    """Return an edit of the rectangle in all channels; raises `HookViewerError` where there is none."""
    return placed(session, dataclasses.replace(_shown(session.selection), region=session.selection.region))


def _shown(selection: Selection) -> EditChoice:
    return EditChoice(selection.path, kind=SEEN.get(selection.shown, Kind.OUTPUT))


def placed(session: Session, choice: EditChoice) -> EditChoice:
    """Return an edit with the index that its channels and rectangle have in the tensor.

    Raises `HookViewerError` where there are no such places.
    """
    if not choice.channels and choice.region is None:
        return dataclasses.replace(choice, index=None)
    key, shape = tensor_of(session, choice)
    if shape is None:  # it was not called yet: channels are nearly everywhere where pictures have them
        return dataclasses.replace(choice, index=map_index(choice.channels, choice.region))
    index = index_of(key, shape, session.look, choice.channels, choice.region)
    return dataclasses.replace(choice, index=index)


def tensor_of(session: Session, choice: EditChoice) -> tuple[Key, tuple[int, ...] | None]:
    """Return the first tensor that an edit changes, and its shape; None where no run knows it."""
    if choice.kind is Kind.PARAM_GRAD:
        own = [
            (name, shape)
            for name, shape in parameters_of(session, choice.path)
            if choice.leaf in (None, name)
        ]
        name, shape = own[0] if own else (choice.leaf or "", None)
        return Key(choice.path, choice.kind, 0, name), shape
    found = shapes(recording_of(session), choice.path, choice.kind, choice.call)
    leaf = choice.leaf if choice.leaf in found else next(iter(found), "")
    return Key(choice.path, choice.kind, choice.call or 0, leaf or ""), found.get(leaf or "")


def parameters_of(session: Session, path: str) -> tuple[tuple[str, tuple[int, ...] | None], ...]:
    """Return the names and shapes of a module's own parameters."""
    nodes = session.tree.walk() if session.tree is not None else ()
    return next((node.own for node in nodes if node.path == path), ())


def recording_of(session: Session) -> Recording:
    """Return the recording of the current input without edits, or of any input; an empty one without."""
    item = session.current_input
    own = session.runs.get(item.listed) if item is not None else None
    runs = [run for run in (own, *session.runs.values()) if run is not None and run.recording.module_calls]
    return runs[0].recording if runs else Recording({})
