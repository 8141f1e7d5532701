"""The rectangle of an input that excited a channel."""

from __future__ import annotations

from hookviewer.kinds import Key
from hookviewer.receptive import Box, Field, Fields
from hookviewer.strongest.topk import Place


def patch(fields: Fields, key: Key, place: Place) -> Box | None:
    """Return the rectangle of the picture that the cell of `place` sees, cut off at the picture's borders.

    `fields` are `receptive.fields(model, args)` of an input of the same shape. `None` where the field is not
    known or the layer has no rows and columns: then it is the whole picture.
    """
    field = fields.of(key)
    if not isinstance(field, Field) or field.folded or len(place.cell) != 2:
        return None
    row, column = place.cell
    if row >= field.shape[0] or column >= field.shape[1]:
        return None
    return field.box((row, column))
