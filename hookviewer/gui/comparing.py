"""Which columns of the wall are compared, and the difference of their maps. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from PySide6.QtCore import QCoreApplication

from hookviewer import arrays
from hookviewer.errors import HookViewerError
from hookviewer.gui.remembered import remembered
from hookviewer.gui.state import PLAIN
from hookviewer.kinds import Kind
from hookviewer.recording import Record

if TYPE_CHECKING:
    from hookviewer.gui.columns import Column


def _tr(text: str) -> str:
    return QCoreApplication.translate("Wall", text)


@dataclasses.dataclass(frozen=True)
class Pair:
    """Places of the two columns whose difference is shown: `minuend` − `subtrahend`.

    Relative numbers are relative to `reference`, the original where the other one is its edited run.
    """

    minuend: int = 0
    subtrahend: int = 1
    reference: int = 0
    title: str = "A − B"

    @property
    def other(self) -> int:
        """The one that is not the reference."""
        return self.minuend + self.subtrahend - self.reference


def pair_of(columns: Sequence[Column], number: int) -> Pair:
    """Return which columns are compared: an input without and with edits, the current one's, else A and B."""
    pairs = list(edited_pairs(columns))
    if not pairs:
        letters = [column.letter for column in columns[:2]]
        return Pair(title=" − ".join(letters)) if len(letters) == 2 else Pair()
    current = next((one.item for one in columns if one.item is not None and one.item.number == number), None)
    own = [pair for pair in pairs if current is not None and _listed(columns[pair[0]]) == current.listed]
    plain, edited = (own or pairs)[0]
    title = _tr("edited − original")
    if len(pairs) > 1:
        title = f"{title} ({columns[edited].letter} − {columns[plain].letter})"
    return Pair(edited, plain, plain, title)


def edited_pairs(columns: Sequence[Column]) -> Iterator[tuple[int, int]]:
    """Yield the places of every input in the plain way and with edits, where both have a column."""
    for plain, first in enumerate(columns):
        for edited, second in enumerate(columns):
            if first.item is None or second.item is None or first.item.variant != PLAIN:
                continue
            changes = dict(second.item.variant.changes)
            if set(changes) == {"edits"} and _listed(first) == _listed(second):
                yield plain, edited


def _listed(column: Column) -> int | None:
    return None if column.item is None else column.item.listed


def compared_maps(filled: Sequence[Column], number: int) -> arrays.Maps:
    """Return the difference that channels are sorted by; raise `HookViewerError` where there is none."""
    pair = pair_of(filled, number)
    there = len(filled) > 1
    first, second = (filled[pair.minuend].maps, filled[pair.subtrahend].maps) if there else (None, None)
    if first is None or second is None:
        raise HookViewerError(_tr("Tick a second input to sort by the difference."))
    reason = why_no_difference(first, second)
    if reason:
        raise HookViewerError(reason)
    return difference_maps(first, second)


def why_no_difference(first: arrays.Maps, second: arrays.Maps) -> str:
    """Return why maps cannot be subtracted, or nothing."""
    if first.values.shape == second.values.shape:
        return ""
    words = _tr("No difference: the shapes {} and {} are not the same.")
    return words.format(*("×".join(map(str, maps.values.shape)) for maps in (first, second)))


@remembered(4)
def difference_maps(first: arrays.Maps, second: arrays.Maps) -> arrays.Maps:
    """Return the first maps minus the second ones of the same shape."""
    one, other = (
        maps.values if maps.values.dtype.kind in "fc" else maps.values.astype(np.float64)
        for maps in (first, second)
    )
    with np.errstate(invalid="ignore", over="ignore"):
        return dataclasses.replace(first, values=one - other, apart=None)


@remembered(4)
def difference_record(record: Record, maps: arrays.Maps, title: str) -> Record:
    kept = torch.from_numpy(np.ascontiguousarray(maps.values))
    key = record.key._replace(kind=Kind.ATTRIBUTION, leaf=title)
    return Record(key, tuple(kept.shape), kept.dtype, kept=kept)
