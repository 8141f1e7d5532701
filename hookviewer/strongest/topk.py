"""The k strongest and weakest inputs of every channel of one layer, as a pure reducer."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hookviewer.errors import HookViewerError
from hookviewer.recording import Record
from hookviewer.strongest.cells import by_channel, reading_of

Array = npt.NDArray[Any]


class Place(NamedTuple):
    """Where a channel was excited: the value, the number of the input, the sample in it, the cell in its map.

    `cell` is (row, column) of a map, (token,) or (time,) of a sequence, () of a vector.
    """

    value: float
    input: int
    sample: int
    cell: tuple[int, ...]


class Side(NamedTuple):
    """The k best inputs of every channel, the best first: [C, k], `cells` [C, k, axes]; input −1 is none."""

    values: Array
    inputs: Array
    samples: Array
    cells: Array

    def places(self, channel: int) -> tuple[Place, ...]:
        """Return the filled places of one channel."""
        rows = (column[channel].tolist() for column in self)
        return tuple(
            Place(value, number, sample, tuple(cell))
            for value, number, sample, cell in zip(*rows, strict=True)
            if number >= 0
        )


@dataclasses.dataclass(frozen=True, eq=False)
class TopK:
    """The k inputs with the largest value of each channel and those with the smallest.

    An input (each sample of a batch) counts once, at its best cell. Ties keep the earlier input, and its
    first cell. NaN never counts. Memory: k places per channel. `reading` says what the axes mean.
    """

    k: int = 9
    reading: str = ""
    largest: Side | None = None
    smallest: Side | None = None

    @property
    def channels(self) -> int:
        """How many channels there are, 0 before the first input."""
        return 0 if self.largest is None else len(self.largest.values)

    def added(self, record: Record, number: int) -> TopK:
        """Return the reducer with one more input; `number` (0 or more) tells it apart.

        The axes mean what `reading` says (`arrays.readings`), by itself the guess from the first shape.
        Raises `HookViewerError` for a layer whose axes or channels change, or whose values were not kept.
        """
        values = record.array()
        reading = self.reading or reading_of(values.shape)
        samples, cells = by_channel(values, reading)
        if self.largest is not None:
            self._check(samples.shape[1], len(cells), self.largest)
        if not samples.size:
            return self
        return TopK(
            self.k,
            reading,
            _best(self.largest, _found(samples, cells, number, highest=True), self.k, sign=-1),
            _best(self.smallest, _found(samples, cells, number, highest=False), self.k, sign=1),
        )

    def most(self, channel: int) -> tuple[Place, ...]:
        """Return the places that excite `channel` most, the largest value first."""
        return () if self.largest is None else self.largest.places(channel)

    def least(self, channel: int) -> tuple[Place, ...]:
        """Return the places that excite `channel` least, the smallest value first."""
        return () if self.smallest is None else self.smallest.places(channel)

    def _check(self, channels: int, axes: int, known: Side) -> None:
        if (channels, axes) != (len(known.values), known.cells.shape[2]):
            raise HookViewerError(
                f"It has {channels} channels for this input and {len(known.values)} for those before: "
                "choose how its axes are read, or inputs of one size."
            )


def _found(samples: Array, cells: tuple[int, ...], number: int, *, highest: bool) -> Side:
    """Return the best cell of every sample [S, C, cells], as places [C, S]."""
    best = samples.argmax(axis=2) if highest else samples.argmin(axis=2)
    values = _taken(samples, best)
    if np.isnan(values).any():  # numpy takes NaN for the largest and the smallest alike
        last = np.where(np.isnan(samples), -math.inf if highest else math.inf, samples)
        best = last.argmax(axis=2) if highest else last.argmin(axis=2)
        values = _taken(samples, best)
    places = (
        np.stack(np.unravel_index(best.T, cells), axis=-1) if cells else np.empty((*best.T.shape, 0), int)
    )
    return Side(
        values,
        np.where(np.isnan(values), -1, number),
        np.broadcast_to(np.arange(len(samples)), values.shape),
        places,
    )


def _taken(samples: Array, best: Array) -> Array:
    return np.take_along_axis(samples, best[:, :, None], axis=2)[:, :, 0].T.astype(np.float64)


def _best(known: Side | None, found: Side, k: int, *, sign: int) -> Side:
    """Return the first k of both in order of the value times `sign`, NaN (which is no place) last."""
    both = found if known is None else Side(*map(_behind, known, found))
    order = np.argsort(both.values * sign, axis=1, kind="stable")[:, :k]
    values, inputs, samples = (np.take_along_axis(column, order, axis=1) for column in both[:3])
    return Side(values, inputs, samples, np.take_along_axis(both.cells, order[:, :, None], axis=1))


def _behind(known: Array, found: Array) -> Array:
    return np.concatenate([known, found], axis=1)
