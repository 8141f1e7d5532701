"""A layer that is overwritten in place: its value at the hook beside that of a plain hook. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from hookviewer.errors import HookViewerError
from hookviewer.gui.columns import Column
from hookviewer.gui.parameter_wall import NUMBER
from hookviewer.gui.shown_maps import maps_in
from hookviewer.gui.state import Look, Selection
from hookviewer.recording import Record


def _tr(text: str) -> str:
    return QCoreApplication.translate("Wall", text)


def overwritten_record(column: Column | None) -> Record | None:
    """Return the record of a column where its tensor is overwritten later, and the values are there."""
    record = None if column is None else column.record
    return record if record is not None and record.overwritten_by and record.kept is not None else None


def with_plain(columns: Sequence[Column], selection: Selection, look: Look) -> list[Column]:
    """Return the first column and that of a plain hook; all columns where nothing overwrites the first."""
    record = overwritten_record(columns[0] if columns else None)
    if record is None:
        return list(columns)
    at_hook = f"{columns[0].title} · {_tr('at the hook')}"
    first = dataclasses.replace(columns[0], letter="A", title=at_hook)
    second = Column("B", _tr("A plain hook"), NUMBER, run=None)
    run = first.run
    plain = run.plain.get(record.key) if run is not None else None
    if plain is None:
        return [first, dataclasses.replace(second, reason=_tr("Running …"), waiting=True)]
    try:
        return [first, dataclasses.replace(second, record=plain, maps=maps_in(plain, selection, look))]
    except HookViewerError as error:
        return [first, dataclasses.replace(second, reason=str(error))]
