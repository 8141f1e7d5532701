"""What the session's state says the attention page shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from hookviewer.gui import cams
from hookviewer.gui.attention_scene import Scene, heads_in_order, words_of
from hookviewer.gui.state import InputItem, Shown
from hookviewer.leaves import input_leaves

if TYPE_CHECKING:
    from hookviewer.gui.session import Session


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
    return Scene(
        one,
        query,
        cams.seen(item) if query.grid is not None else None,
        min(session.look.sample, one.record.shape[0] - 1),
        min(session.selection.channel, len(query.heads) - 1),
        heads_in_order(query, session.look.sort),
        session.attention.layers(item),
        words_of(_tokens(item, query.heads.shape[-1]), session.look.sample) if query.grid is None else (),
    )


def _tokens(item: InputItem, count: int) -> torch.Tensor | None:
    """Return the whole numbers that an input holds, one for each token."""
    tensors = [tensor for _, tensor in input_leaves(item.input.args, item.input.kwargs)]
    return next((one for one in tensors if one.dim() in (1, 2) and one.shape[-1] == count), None)
