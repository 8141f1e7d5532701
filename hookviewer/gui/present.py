"""What the wall shows at present: worked out once, however many widgets show a part of it."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hookviewer.gui.columns import WallState, resolve
from hookviewer.gui.state import InputItem, Look, Run, Selection

if TYPE_CHECKING:
    from hookviewer.gui.session import Session


@dataclasses.dataclass(frozen=True, eq=False)
class _Answer:
    """A state of the session, and what the wall shows for it."""

    items: tuple[InputItem, ...]
    runs: Mapping[int, Run]
    selection: Selection
    look: Look
    running: bool
    wall: WallState

    def holds(self, session: Session, selection: Selection) -> bool:
        """Return whether it answers for the session's state; its values are replaced on every change."""
        same = self.runs is session.runs and self.look is session.look and self.running == session.running
        return same and self.selection == selection and self.items == session.ticked_inputs


_kept: weakref.WeakKeyDictionary[Session, _Answer] = weakref.WeakKeyDictionary()


def present_wall(session: Session, selection: Selection | None = None) -> WallState:
    """Return what the wall shows for the session's present state, or for another `selection` in it.

    Only the last answer for the session's own selection is kept.
    """
    chosen = session.selection if selection is None else selection
    kept = _kept.get(session)
    if kept is not None and kept.holds(session, chosen):
        return kept.wall
    items, runs, look, running = session.ticked_inputs, session.runs, session.look, session.running
    wall = resolve(items, runs, chosen, look, running=running)
    if chosen == session.selection:
        _kept[session] = _Answer(items, runs, chosen, look, running, wall)
    return wall
