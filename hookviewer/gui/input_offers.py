"""What a message about an input that does not fit offers to do."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from hookviewer.gui.state import InputItem, Offer, RunError
from hookviewer.inputs import ArgumentsLacking, EntryNeeded, signature

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

MOST_ENTRIES = 16
"""So many tensors of a file are added at once at most."""

_LACKING = re.compile(r"missing \d+ required (positional|keyword)")
_SIZES = re.compile(
    r"to have \d+ channels|cannot be multiplied|size of tensor|sizes of tensors|too small|can't be greater"
    r"|image (height|width|size)|is invalid for input|normalized_shape|[Ee]xpected \dD|doesn't match"
    r"|does not match|must match|divisible|larger than|out of bounds",
    re.IGNORECASE,
)
"""What torch and model code say of a picture of another size or of other channels."""


def offers_for(session: Session, error: BaseException | None) -> tuple[Offer, ...]:
    """Return what could be done where an input could not be opened."""
    if isinstance(error, ArgumentsLacking):
        return (_arguments(session),)
    if isinstance(error, EntryNeeded):
        return _entries(session, error)
    return ()


def offers_after(session: Session, item: InputItem, error: RunError) -> tuple[Offer, ...]:
    """Return what could be done where the model did not take an input."""
    said, given = f"{error.sentence}\n{error.report}", item.input
    if not error.path and _LACKING.search(said):
        return (_arguments(session),)
    if given.image is not None and error.path is not None and _SIZES.search(error.sentence):
        return (Offer(_tr("Preprocessing…"), session.recipe_asked.emit),)
    if given.spec.startswith(("random:", "ones:")) and error.path is not None:
        return (Offer(_tr("Another shape…"), partial(session.shape_asked.emit, item.listed)),)
    return ()


def _arguments(session: Session) -> Offer:
    return Offer(_tr("Several arguments…"), session.arguments_asked.emit)


def _entries(session: Session, error: EntryNeeded) -> tuple[Offer, ...]:
    """Return: each tensor of a file as an input; and all as arguments, where they are called as those are."""
    specs = list(error.specs.values())[:MOST_ENTRIES]
    words = _tr("Add all {}") if len(specs) == len(error.specs) else _tr("Add the first {}")
    each = Offer(words.format(len(specs)), partial(session.open_inputs, specs))
    required = [one.name for one in signature(session.model) if one.required] if session.model else []
    if len(required) < 2 or not set(required) <= set(error.specs):
        return (each,)
    spec = "args:" + ";".join(f"{name}={error.specs[name]}" for name in required)
    words = _tr("As arguments {}").format(", ".join(required))
    return (Offer(words, partial(session.open_inputs, [spec])), each)


def _tr(text: str) -> str:
    return QCoreApplication.translate("InputLane", text)
