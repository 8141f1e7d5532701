"""What the session's state says the attention page shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hookviewer.gui import cams
from hookviewer.gui.attention_scene import Scene, heads_in_order
from hookviewer.gui.attention_tokens import names_of
from hookviewer.gui.state import InputItem, Shown

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

_IN_DECODER = re.compile(r"(^|\.)dec")


def item_of(session: Session) -> InputItem | None:
    """Return the current input if it is ticked, else the first ticked one."""
    ticked = session.ticked_inputs
    current = session.selection.input
    return next((item for item in ticked if item.number == current), ticked[0] if ticked else None)


def scene_of(session: Session) -> Scene | None:
    """Return what is asked of the selected attention; None where none is shown, or none known."""
    item = item_of(session)
    if session.selection.shown is not Shown.ATTENTION or item is None:
        return None
    one, query = session.attention.at(item), session.attention.query(item)
    if one is None or query is None:
        return None
    sample = min(session.look.sample, one.record.shape[0] - 1)
    path, crossed = one.record.key.path, not query.of_grid
    of_decoder = bool(_IN_DECODER.search(path))

    def names(count: int, *, decoder: bool) -> tuple[str, ...]:
        return names_of(item.input, session.model, count, sample, decoder=decoder)

    return Scene(
        one,
        query,
        cams.seen(item) if query.grid is not None else None,
        sample,
        min(session.selection.channel, len(query.heads) - 1),
        heads_in_order(query, session.look.sort),
        session.attention.layers(item),
        names(query.heads.shape[-1], decoder=of_decoder and not crossed) if query.grid is None else (),
        names(query.tokens, decoder=True) if crossed else (),
    )
