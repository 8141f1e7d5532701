"""The rectangle of an input that excited a channel."""

from __future__ import annotations

from hookviewer.kinds import Key
from hookviewer.receptive import Box, Fields
from hookviewer.strongest.topk import Place


def patch(fields: Fields, key: Key, place: Place) -> Box | None:
    """Return the rectangle of the picture that the cell of `place` sees, cut off at the picture's borders.

    `fields` are `receptive.fields(model, args)` of an input of the same shape. `None` where the field is not
    known or the layer has no cells: then it is the whole picture.
    """
    raise NotImplementedError
