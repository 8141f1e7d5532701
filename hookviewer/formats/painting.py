"""The pixels of an entry: its tiles in the colours of their scale, one pixel a cell, and as a wall."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer import render
from hookviewer.arrays import Maps
from hookviewer.formats.entry import Entry

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True, eq=False)
class Tiles:
    """The tiles of an entry: `shape` is how many there are, their height and width.

    `total` is how many channels there are in all. A signal is one tile with a row for each channel.
    """

    entry: Entry
    maps: Maps
    total: int

    @property
    def is_signal(self) -> bool:
        """Whether the channels are the rows of one tile."""
        return self.maps.layout == "lines"

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many tiles there are, their height and width."""
        count, height, width = self.maps.values.shape
        return (1, count, width) if self.is_signal else (count, height, width)

    @property
    def columns(self) -> int:
        """How many tiles belong in a row; 0 where they stand as they fit."""
        return self.maps.across

    @property
    def names(self) -> tuple[str, ...]:
        """What is written on the tiles: numbers of channels, or names where the maps have some."""
        if self.maps.layout not in ("maps", "lines"):
            return ()
        if self.maps.titles:
            return self.maps.titles
        return tuple(map(str, self.entry.channels(self.total).tolist()))

    def index(self) -> Array | None:
        """Return the entries of the colour table, uint8 of `shape`; None where a cell has another colour."""
        values = self.maps.values
        odd = values.dtype.kind == "f" and not np.isfinite(values).all()
        if odd or self.maps.colours is not None:
            return None
        made = render.maps_index(values, self.levels, curve=self.entry.curve)
        return made.reshape(self.shape)

    def colours(self) -> Array:
        """Return the colour of every cell, RGBA uint8 of `shape`."""
        if self.maps.colours is not None:
            light = render.lights(self.maps.colours, self.levels, curve=self.entry.curve)
            return np.concatenate([light, np.full((*light.shape[:-1], 1), 255, np.uint8)], axis=-1)
        values, entry = self.maps.values, self.entry
        return render.maps_rgba(values, self.levels, entry.colormap, curve=entry.curve).reshape(
            *self.shape, 4
        )

    @property
    def levels(self) -> Array | tuple[float, float]:
        """The levels of what is drawn: one pair, or one for each tile (of a signal each row), [n, 2]."""
        if self.maps.layout == "bars":
            return self.entry.levels
        return self.entry.scale(self.total)


def tiles_of(entry: Entry) -> Tiles:
    """Return the tiles of an entry; raise `HookViewerError` where there is nothing to draw."""
    whole = entry.whole()
    return Tiles(entry, entry.drawn_of(whole), len(whole.values))
