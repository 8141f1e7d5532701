"""The k strongest and weakest inputs of every channel of one layer, as a pure reducer."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy.typing as npt

from hookviewer.recording import Record

Array = npt.NDArray[Any]


class Place(NamedTuple):
    """Where a channel was excited: the value, the number of the input, the sample in it, the cell in its map.

    `cell` is (row, column) of a map, (token,) or (time,) of a sequence, () of a vector.
    """

    value: float
    input: int
    sample: int
    cell: tuple[int, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class TopK:
    """The k inputs with the largest value of each channel and those with the smallest; an input counts once.

    All arrays are [C, k]; unfilled places have the input −1. Ties keep the earlier input. NaN never counts.
    """

    k: int

    @property
    def channels(self) -> int:
        """How many channels there are, 0 before the first input."""
        raise NotImplementedError

    def added(self, record: Record, number: int, *, reading: str | None = None) -> TopK:
        """Return the reducer with one more input; `number` tells it apart.

        `reading` says what the axes mean (`arrays.readings`), by itself the guess from the shape. Raises
        `HookViewerError` for a layer whose number of channels changes, or whose values were not kept.
        """
        raise NotImplementedError

    def most(self, channel: int) -> tuple[Place, ...]:
        """Return the places that excite `channel` most, the largest value first."""
        raise NotImplementedError

    def least(self, channel: int) -> tuple[Place, ...]:
        """Return the places that excite `channel` least, the smallest value first."""
        raise NotImplementedError
