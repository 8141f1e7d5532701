"""The classes that a target can be taken of, as far as the model's card and its last output tell them."""

from __future__ import annotations

from hookviewer.gui.session import Session
from hookviewer.gui.state import Run
from hookviewer.gui.target_names import class_name
from hookviewer.leaves import leaves
from hookviewer.target_choice import float_leaf

UNKNOWN = 1000
"""So many classes are offered as long as nothing tells how many there are."""


def current_run(session: Session) -> Run | None:
    """Return the run of the current input."""
    item = session.current_input
    return session.runs.get(item.number) if item is not None else None


def known_names(session: Session) -> tuple[str, ...]:
    """Return the names of the classes that the model says; empty where it says none."""
    return session.card.class_names if session.card is not None else ()


def class_names(session: Session) -> list[str]:
    """Return the names of all classes; as many as the output has scores where there are no names."""
    known = known_names(session)
    count = len(known) or _scores(session) or UNKNOWN
    return [class_name(index, known) for index in range(count)]


def _scores(session: Session) -> int:
    run = current_run(session) or next(iter(session.runs.values()), None)
    found = dict(leaves(run.recording.output)) if run is not None else {}
    scores = found.get(float_leaf(run.recording.output)) if run is not None else None
    return scores.shape[min(1, scores.ndim - 1)] if scores is not None and scores.ndim else 0
