"""The pixels of a wall, in numpy: four steps with kept buffers, each done again only when something changed.

values → cells (the maps in sight, made smaller where pixels are fewer than cells) → index (entries of the
colour table) → colours → board (the pixels of a part of the wall). A pan needs none of them as long as the
board reaches, a colour map the last two, levels the last three.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer import arrays, render
from hookviewer.gui.remembered import remembered
from hookviewer.gui.wall import geometry
from hookviewer.gui.wall.shrink import shrunk

Array = npt.NDArray[Any]
Colours = npt.NDArray[np.uint32]

PIECE = 1 << 15  # values coloured at a time: temporary arrays stay in the processor's cache
HATCH_PITCH = 7
MOST_KEPT = 1 << 22  # pixels of small maps kept for a whole layer


@dataclasses.dataclass(frozen=True, eq=False)
class Spread:
    """The least and the greatest value of each channel, and how many values are no numbers or infinite."""

    low: Array
    high: Array
    odd: Array

    @property
    def flat(self) -> Array:
        """Which channels have one value only, everywhere."""
        flat: Array = (self.low == self.high) & (self.odd == 0)
        return flat


@remembered()
def spread(maps: arrays.Maps) -> Spread:
    """Return the spread of each channel of maps [C, H, W]; NaN where a channel has NaN."""
    rows = maps.values.reshape(len(maps.values), -1)
    low, high = rows.min(axis=1), rows.max(axis=1)
    odd = np.zeros(len(rows), np.intp)
    rough = np.flatnonzero(~np.isfinite(low) | ~np.isfinite(high))
    odd[rough] = np.count_nonzero(~np.isfinite(rows[rough]), axis=1)
    return Spread(low, high, odd)


def flat_channels(maps: arrays.Maps) -> Array:
    """Return which channels are drawn hatched: those without a shape. A map of one cell has none to lack."""
    if maps.values[0].size == 1:
        return np.zeros(len(maps.values), bool)
    return spread(maps).flat


@dataclasses.dataclass(frozen=True)
class Paints:
    """The colours of what is no value, as 0xffRRGGBB: behind the tiles, NaN, and the two of a hatch."""

    canvas: int
    nan: int
    hatch_ground: int
    hatch_line: int
    pos_inf: int = 0xFFBBFFD4
    neg_inf: int = 0xFF1F8046


@dataclasses.dataclass(frozen=True, eq=False)
class Picture:
    """What a wall is to show: maps in the order of the tiles, on which scale, in which colours."""

    maps: arrays.Maps
    order: Array
    levels: tuple[float, float]
    colormap: str
    paints: Paints

    @property
    def cells(self) -> tuple[int, int]:
        """Height and width of a map."""
        return self.maps.values.shape[1], self.maps.values.shape[2]


@remembered(2)
def small(maps: arrays.Maps, height: int, width: int) -> Array:
    """Return all maps made smaller, float32 [C, height, width]."""
    return shrunk(maps.values, height, width)


@functools.lru_cache(maxsize=16)
def table(colormap: str) -> Colours:
    """Return the 256 colours of a map as 0xffRRGGBB."""
    colours = render.colour_table(colormap).astype(np.uint32)
    joined = colours[:, 0] << 16 | colours[:, 1] << 8 | colours[:, 2] | 0xFF000000
    return joined.astype(np.uint32)


class Kept:
    """Memory that is used again: fresh memory costs more than what is computed in it."""

    def __init__(self) -> None:
        self._memory: dict[str, Array] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: type[np.generic]) -> Array:
        """Return an array of this shape whose values are whatever was there."""
        size = math.prod(shape)
        memory = self._memory.get(name)
        if memory is None or memory.size < size or memory.size > 4 * size + (1 << 16):
            memory = self._memory[name] = np.empty(size, dtype)
        return memory[:size].reshape(shape)


@dataclasses.dataclass(frozen=True, eq=False)
class _Sheet:
    """One request: a picture, its tiles, and the part of the wall that is wanted."""

    picture: Picture
    grid: geometry.Grid
    box: geometry.Box

    @functools.cached_property
    def touched(self) -> tuple[range, range]:
        return self.grid.touched(self.box)

    @functools.cached_property
    def channels(self) -> Array:
        """The channels [rows, columns] of the tiles in sight; −1 where there is none."""
        rows, columns = self.touched
        return channels_in(self.picture, self.grid, rows, columns)

    @functools.cached_property
    def inset(self) -> tuple[int, int, int, int]:
        return geometry.inset(self.picture.cells, (self.grid.height, self.grid.width))

    @property
    def places(self) -> tuple[int, int]:
        """Height and width of a map in the atlas: its cells, or its pixels where those are fewer."""
        _, _, width, height = self.inset
        return min(height, self.picture.cells[0]), min(width, self.picture.cells[1])


class Board:
    """The kept buffers of one column, each made anew when something that it was made from has changed."""

    def __init__(self) -> None:
        self._kept = Kept()
        self._keys: dict[str, tuple[object, ...]] = {}
        self._made: dict[str, Array] = {}

    def pixels(self, picture: Picture, grid: geometry.Grid, box: geometry.Box) -> Colours:
        """Return the pixels of a box of the wall, uint32 [height, width] of 0xffRRGGBB.

        They are good until the next call.
        """
        sheet = _Sheet(picture, grid, box)
        seen = (picture.maps, picture.order, grid.columns, *sheet.touched, sheet.places)
        scaled = (*seen, picture.levels)
        inked = (*scaled, picture.colormap, picture.paints)
        cells = self._step("cells", seen, lambda: _cells(sheet))
        index = self._step("index", scaled, lambda: _index(cells, sheet, self._kept))
        atlas = self._step("atlas", inked, lambda: _atlas(cells, index, sheet, self._kept))
        return self._step("pixels", (*inked, grid, box), lambda: _placed(atlas, sheet, self._kept))

    def _step(self, name: str, key: tuple[object, ...], make: Callable[[], Array]) -> Array:
        before = self._keys.get(name)
        if before is None or len(before) != len(key) or not all(map(_same, key, before)):
            self._keys.pop(name, None)
            self._made[name] = make()
            self._keys[name] = key
        return self._made[name]


def _same(first: object, second: object) -> bool:
    return first is second or (not isinstance(first, np.ndarray | arrays.Maps) and first == second)


def channels_in(picture: Picture, grid: geometry.Grid, rows: range, columns: range) -> Array:
    """Return the channels [rows, columns] of a block of tiles; −1 where there is none."""
    tiles = np.asarray(rows)[:, None] * grid.columns + np.asarray(columns)[None, :]
    if not len(picture.order):
        return np.full(tiles.shape, -1)
    known = tiles < len(picture.order)
    channels = np.where(known, picture.order[np.where(known, tiles, 0)], -1)
    return np.where(channels < len(picture.maps.values), channels, -1)


def _cells(sheet: _Sheet) -> Array:
    """Return the maps in sight, float32 [n, h, w], one per tile that there is."""
    picture, (height, width) = sheet.picture, sheet.places
    channels = sheet.channels[sheet.channels >= 0]
    if (height, width) == picture.cells:
        return _taken(picture.maps.values, channels)
    if len(picture.maps.values) * height * width <= MOST_KEPT:
        return _taken(small(picture.maps, height, width), channels)
    return shrunk(_taken(picture.maps.values, channels), height, width)


def _taken(values: Array, channels: Array) -> Array:
    same = len(channels) == len(values) and bool((channels == np.arange(len(values))).all())
    return np.ascontiguousarray(values if same else values[channels], np.float32)


def _index(cells: Array, sheet: _Sheet, kept: Kept) -> Array:
    """Return the colour table's entries of the tiles in sight side by side, as `render.to_index` gives them.

    There is one more row and column, for the canvas.
    """
    index = kept.array("index", cells.shape, np.uint8)
    values, out, levels = cells.reshape(-1), index.reshape(-1), sheet.picture.levels
    low, span = float(levels[0]), float(levels[1]) - float(levels[0])
    if float(np.finfo(np.float32).tiny) < abs(span) < float(np.finfo(np.float32).max):
        scratch = kept.array("piece", (PIECE,), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, values.size, PIECE):
                piece = values[start : start + PIECE]
                place = out[start : start + PIECE]
                _quantised(piece, np.float32(low), np.float32(span), scratch[: len(piece)], place)
    else:
        index[:] = render.to_index(cells, levels)
    return _side_by_side(index, sheet, kept)


def _quantised(values: Array, low: np.float32, span: np.float32, scratch: Array, out: Array) -> None:
    np.subtract(values, low, out=scratch)
    np.divide(scratch, span, out=scratch)
    np.multiply(scratch, np.float32(255), out=scratch)
    np.add(scratch, np.float32(0.5), out=scratch)
    np.fmax(scratch, np.float32(0), out=scratch)
    np.fmin(scratch, np.float32(255), out=scratch)
    out[:] = scratch


def _side_by_side(index: Array, sheet: _Sheet, kept: Kept) -> Array:
    (rows, columns), (height, width) = sheet.channels.shape, sheet.places
    atlas = kept.array("entries", (rows * height + 1, columns * width + 1), np.uint8)
    blocks = _blocks(atlas, sheet)
    whole = _whole_rows(sheet)
    first = whole * columns
    blocks[:whole] = index[:first].reshape(whole, columns, height, width).swapaxes(1, 2)
    for place, (row, column) in enumerate(np.argwhere(sheet.channels[whole:] >= 0), first):
        blocks[whole + row, :, column] = index[place]
    return atlas


def _blocks(atlas: Array, sheet: _Sheet) -> Array:
    """Return the atlas as [rows of tiles, h, columns of tiles, w], without copying it."""
    (rows, columns), (height, width) = sheet.channels.shape, sheet.places
    down, across = atlas.strides
    shape, strides = (rows, height, columns, width), (down * height, down, across * width, across)
    return np.lib.stride_tricks.as_strided(atlas, shape, strides)


def _whole_rows(sheet: _Sheet) -> int:
    partly = np.flatnonzero((sheet.channels < 0).any(axis=1))
    return int(partly[0]) if partly.size else len(sheet.channels)


def _atlas(cells: Array, entries: Array, sheet: _Sheet, kept: Kept) -> Array:
    """Return the colours of the tiles in sight side by side, with a last row and column of canvas."""
    atlas = kept.array("atlas", entries.shape, np.uint32)
    lookup, flat, out = table(sheet.picture.colormap), entries.reshape(-1), atlas.reshape(-1)
    for start in range(0, flat.size, PIECE):
        np.take(lookup, flat[start : start + PIECE], out=out[start : start + PIECE], mode="clip")
    atlas[:, -1] = atlas[-1] = sheet.picture.paints.canvas
    blocks, missing = _blocks(atlas, sheet), np.argwhere(sheet.channels < 0)
    for row, column in missing:
        blocks[row, :, column] = sheet.picture.paints.canvas
    _mark_odd(blocks, cells, sheet)
    return atlas


def _mark_odd(blocks: Array, cells: Array, sheet: _Sheet) -> None:
    odd, paints = spread(sheet.picture.maps).odd, sheet.picture.paints
    if not odd.any():
        return
    for place, (row, column) in enumerate(np.argwhere(sheet.channels >= 0)):
        if odd[sheet.channels[row, column]]:
            block, values = blocks[row, :, column], cells[place]
            block[np.isnan(values)] = paints.nan
            block[values == np.inf] = paints.pos_inf
            block[values == -np.inf] = paints.neg_inf


def _placed(atlas: Array, sheet: _Sheet, kept: Kept) -> Colours:
    """Return the pixels of the box: for each the cell under its middle, canvas between the tiles."""
    (rows, columns), grid, box = sheet.touched, sheet.grid, sheet.box
    left, top, width, height = sheet.inset
    tall, wide = sheet.places
    down = geometry.index_along(box.top, box.bottom, grid.height + grid.gap, rows.start, height, top, tall)
    across = geometry.index_along(
        box.left, box.right, grid.width + grid.gap, columns.start, width, left, wide
    )
    down, across = _inside(down, len(atlas)), _inside(across, atlas.shape[1])
    wider = kept.array("wider", (len(atlas), len(across)), np.uint32)
    pixels = kept.array("pixels", (len(down), len(across)), np.uint32)
    np.take(atlas, across, axis=1, out=wider, mode="clip")
    np.take(wider, down, axis=0, out=pixels, mode="clip")
    _hatch(pixels, sheet)
    return pixels


def _inside(places: Array, length: int) -> Array:
    """Return the places with everything outside the atlas sent to its last row or column of canvas."""
    return np.where((places < 0) | (places >= length), length - 1, places)


def _hatch(pixels: Colours, sheet: _Sheet) -> None:
    flat = flat_channels(sheet.picture.maps)
    if not flat.any():
        return
    pattern = _pattern(*sheet.inset[2:], sheet.picture.paints, max(sheet.grid.gap // 2, 1))
    rows, columns = sheet.touched
    for row, column in np.argwhere((sheet.channels >= 0) & flat[sheet.channels]):
        tile = (rows.start + int(row)) * sheet.grid.columns + columns.start + int(column)
        _stamp(pixels, pattern, tile, sheet)


def _stamp(pixels: Colours, pattern: Colours, tile: int, sheet: _Sheet) -> None:
    x, y = sheet.grid.corner(tile)
    left, top, width, height = sheet.inset
    x, y = x + left - sheet.box.left, y + top - sheet.box.top
    part = geometry.Box(x, y, x + width, y + height).within(*sheet.box.size)
    cut = pattern[part.top - y : part.bottom - y, part.left - x : part.right - x]
    pixels[part.top : part.bottom, part.left : part.right] = cut


@functools.lru_cache(maxsize=4)
def _pattern(width: int, height: int, paints: Paints, line: int) -> Colours:
    diagonal = (np.arange(height)[:, None] + np.arange(width)[None, :]) % (HATCH_PITCH * line)
    return np.where(diagonal < line, np.uint32(paints.hatch_line), np.uint32(paints.hatch_ground))
