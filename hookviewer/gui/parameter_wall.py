"""The wall of weights: one parameter or buffer of the selected module, and its gradient beside it. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from hookviewer.errors import HookViewerError
from hookviewer.gui.columns import Column, WallState, wall_of
from hookviewer.gui.scaling import difference_levels_of
from hookviewer.gui.shown_maps import maps_in
from hookviewer.gui.state import InputItem, Look, Selection

NUMBER = 0
"""What stands for the number of an input in the column of a weight, which belongs to no input."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Wall", text)


def parameter_wall(items: Sequence[InputItem], selection: Selection, look: Look) -> WallState:
    """Return the wall of the selected module's weights."""
    leaf = look.parameters.leaf(selection.path, selection.leaf)
    title = " · ".join(filter(None, (leaf or _tr("Weights"), look.parameters.variant)))
    column = _value(Column("", title, NUMBER), selection, look)
    last = _gradient(items, selection, look) if look.beside and column.maps is not None else None
    maps = last.maps if last is not None else None
    levels = None if maps is None else difference_levels_of(maps, selection.shown)
    return wall_of([column], last, levels, selection, look)


def _value(column: Column, selection: Selection, look: Look) -> Column:
    known = look.parameters
    if known.path != selection.path:
        return dataclasses.replace(column, reason=_tr("Reading the weights …"), waiting=True)
    try:
        record = known.value(selection.path, selection.leaf)
        return dataclasses.replace(column, record=record, maps=maps_in(record, selection, look))
    except HookViewerError as error:
        return dataclasses.replace(column, reason=str(error))


def _gradient(items: Sequence[InputItem], selection: Selection, look: Look) -> Column:
    known = look.parameters
    item = next((one for one in items if one.number == known.number), None)
    title = _tr("Gradient, {}").format(item.title) if item is not None else _tr("Gradient")
    column = Column("", title, None)
    try:
        record = known.gradient(selection.path, selection.leaf)
        return dataclasses.replace(column, record=record, maps=maps_in(record, selection, look))
    except HookViewerError as error:
        return dataclasses.replace(column, reason=str(error) or _tr("Running …"))
