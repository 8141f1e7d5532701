"""The pixels of a wall, in numpy: steps with kept buffers, each done again only when something changed.

values → cells (the maps in sight, made smaller where pixels are fewer than cells) → codes (entries of the
colour table side by side, as one atlas) → board (the code of every pixel of a part of the wall) → pixels.
A pan needs none of them as long as the board reaches, a colour map only the last. Where only the place
changes, as it does in a zoom, the atlas is coloured once and then spread out.
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
from hookviewer.gui.wall.spikes import kept_in
from hookviewer.gui.wall.spreads import Spread, flat_channels, spread

__all__ = [
    "Board",
    "Paints",
    "Picture",
    "Spread",
    "channels_in",
    "equal",
    "flat_channels",
    "small",
    "spread",
    "table",
]

Array = npt.NDArray[Any]
Codes = npt.NDArray[np.uint16]
Colours = npt.NDArray[np.uint32]

_BULKY = np.ndarray | arrays.Maps
"""What is compared by identity: values take too long, and arrays have no one answer."""
PIECE = 1 << 15  # values coloured at a time: temporary arrays stay in the processor's cache
HATCH_PITCH = 7
MOST_KEPT = 1 << 22  # pixels of small maps kept for a whole layer
CANVAS, NAN, POS_INF, NEG_INF = 256, 257, 258, 259  # what follows the 256 colours of a map in `table`


@dataclasses.dataclass(frozen=True)
class Paints:
    """The colours of what is no value, as 0xffRRGGBB: behind the tiles, NaN, and the two of a hatch."""

    canvas: int
    nan: int
    hatch_ground: int
    hatch_line: int
    pos_inf: int = render.packed(render.POS_INF)
    neg_inf: int = render.packed(render.NEG_INF)


@dataclasses.dataclass(frozen=True, eq=False)
class Picture:
    """What a wall is to show: maps in the order of the tiles, on which scale, in which colours.

    `own` are the levels of every channel, [C, 2], where each has its own; then `levels` are not used.
    `curve` is one of `render.CURVES`.
    """

    maps: arrays.Maps
    order: Array
    levels: tuple[float, float]
    colormap: str
    paints: Paints
    own: Array | None = None
    curve: str = "linear"

    @property
    def colours(self) -> tuple[object, ...]:
        """All that the colours of its pixels depend on."""
        scale = (self.levels, self.own, self.curve)
        return (self.maps, self.order, *scale, self.colormap, self.paints)

    @property
    def cells(self) -> tuple[int, int]:
        """Height and width of a map."""
        return self.maps.values.shape[1], self.maps.values.shape[2]


@remembered(2)
def small(maps: arrays.Maps, height: int, width: int) -> Array:
    """Return all maps made smaller, float32 [C, height, width]; spikes keep their height."""
    return kept_in(shrunk(maps.values, height, width), maps, np.arange(len(maps.values)))


@functools.lru_cache(maxsize=16)
def table(colormap: str, paints: Paints) -> Colours:
    """Return the 256 colours of a map as 0xffRRGGBB, then those of the canvas, NaN, +inf and −inf."""
    colours = render.colour_table(colormap).astype(np.uint32)
    joined = colours[:, 0] << 16 | colours[:, 1] << 8 | colours[:, 2] | 0xFF000000
    more = (paints.canvas, paints.nan, paints.pos_inf, paints.neg_inf)
    return np.concatenate([joined, more]).astype(np.uint32)


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
        return geometry.framed(self.picture.cells, (self.grid.height, self.grid.width))

    @functools.cached_property
    def places_along(self) -> tuple[Array, Array]:
        """For every row and column of the box its place in the atlas, the last where there is no map."""
        (rows, columns), grid, box = self.touched, self.grid, self.box
        left, top, width, height = self.inset
        tall, wide = self.places
        pitch = (grid.height + grid.gap, grid.width + grid.gap)
        down = geometry.index_along(box.top, box.bottom, pitch[0], rows.start, height, top, tall)
        across = geometry.index_along(box.left, box.right, pitch[1], columns.start, width, left, wide)
        return _inside(down, len(rows) * tall), _inside(across, len(columns) * wide)

    def part_of(self, tile: int) -> tuple[tuple[slice, slice], tuple[int, int]]:
        """Return which pixels of the box are a tile's map, and where in the map they begin (left, top)."""
        x, y = self.grid.corner(tile)
        left, top, width, height = self.inset
        x, y = x + left - self.box.left, y + top - self.box.top
        part = geometry.Box(x, y, x + width, y + height).within(*self.box.size)
        return (slice(part.top, part.bottom), slice(part.left, part.right)), (part.left - x, part.top - y)

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
        self._inked: tuple[object, ...] = ()

    def pixels(self, picture: Picture, grid: geometry.Grid, box: geometry.Box) -> Colours:
        """Return the pixels of a box of the wall, uint32 [height, width] of 0xffRRGGBB.

        They are good until the next call.
        """
        sheet = _Sheet(picture, grid, box)
        seen = (picture.maps, picture.order, grid.columns, *sheet.touched, sheet.places)
        scaled = (*seen, picture.levels, picture.own, picture.curve)
        inked = (*scaled, picture.colormap, picture.paints)
        cells = self._step("cells", seen, lambda: _cells(sheet))
        codes = self._step("codes", scaled, lambda: _codes(cells, sheet, self._kept))
        return self._step("pixels", (*inked, grid, box), lambda: self._placed(codes, sheet, inked))

    def _placed(self, codes: Codes, sheet: _Sheet, inked: tuple[object, ...]) -> Colours:
        """Return the pixels: colours are looked up last, or first where cells are few or only moved."""
        width, height = sheet.box.size
        moved, self._inked = equal(inked, self._inked) or 3 * codes.size < width * height, inked
        if moved:
            atlas = self._step("atlas", inked, lambda: _coloured(codes, sheet, self._kept, "atlas"))
            pixels = _spread_out(atlas, sheet, self._kept, "pixels")
        else:
            key = (*inked[:-2], sheet.grid, sheet.box)
            board = self._step("board", key, lambda: _spread_out(codes, sheet, self._kept, "board"))
            pixels = _coloured(board, sheet, self._kept, "pixels")
        _hatch(pixels, sheet)
        return pixels

    def _step(self, name: str, key: tuple[object, ...], make: Callable[[], Array]) -> Array:
        if not equal(key, self._keys.get(name, ())):
            self._keys.pop(name, None)
            self._made[name] = make()
            self._keys[name] = key
        return self._made[name]


def _inside(places: Array, length: int) -> Array:
    places[(places < 0) | (places > length)] = length
    return places


def equal(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    """Return whether two keys are equal: arrays and maps are only equal to themselves."""
    return len(first) == len(second) and all(map(_same, first, second))


def _same(first: object, second: object) -> bool:
    if first is second or isinstance(first, _BULKY) or isinstance(second, _BULKY):
        return first is second
    return first == second


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
    most = 2 * channels.size >= len(picture.maps.values)
    if most and len(picture.maps.values) * height * width <= MOST_KEPT:
        return _taken(small(picture.maps, height, width), channels)
    return kept_in(shrunk(_taken(picture.maps.values, channels), height, width), picture.maps, channels)


def _taken(values: Array, channels: Array) -> Array:
    same = len(channels) == len(values) and bool((channels == np.arange(len(values))).all())
    return np.ascontiguousarray(values if same else values[channels], np.float32)


def _codes(cells: Array, sheet: _Sheet, kept: Kept) -> Codes:
    """Return the tiles in sight side by side as entries of `table`: those of `render.to_index`, and more.

    There is one more row and column, for the canvas.
    """
    index = kept.array("index", cells.shape, np.uint16)
    picture = sheet.picture
    if picture.own is None:
        indexed(cells.reshape(1, -1), np.array([picture.levels]), picture.curve, index.reshape(1, -1), kept)
    else:
        levels = picture.own[sheet.channels[sheet.channels >= 0]]
        indexed(cells.reshape(len(cells), -1), levels, picture.curve, index.reshape(len(cells), -1), kept)
    _mark_odd(index, cells, sheet)
    return _side_by_side(index, sheet, kept)


def indexed(rows: Array, levels: Array, curve: str, out: Codes, kept: Kept) -> None:
    """Write the entries of the colour table of rows of float32 values, each on its own levels [rows, 2]."""
    low, span, threshold = render.steps_of(levels, curve)
    good = (np.abs(span) > np.finfo(np.float32).tiny) & (np.abs(span) < np.finfo(np.float32).max)
    if not good.all():
        for row, ends in zip(range(len(rows)), levels, strict=True):
            out[row] = render.to_index(rows[row], (float(ends[0]), float(ends[1])), curve=curve)
        return
    scratch = kept.array("piece", (max(PIECE, 1),), np.float32)
    together = max(1, PIECE // max(rows.shape[1], 1))
    columns = min(rows.shape[1], PIECE)
    with np.errstate(over="ignore", invalid="ignore"):
        for first in range(0, len(rows), together):
            some = slice(first, first + together)
            ends = (low[some, None], span[some, None], threshold[some, None])
            for start in range(0, rows.shape[1], max(columns, 1)):
                piece = rows[some, start : start + columns]
                place = scratch[: piece.size].reshape(piece.shape)
                render.placed(piece, *ends, curve, place)
                out[some, start : start + columns] = place


def _mark_odd(index: Codes, cells: Array, sheet: _Sheet) -> None:
    odd = spread(sheet.picture.maps).odd
    if not odd.any():
        return
    for place in np.flatnonzero(odd[sheet.channels[sheet.channels >= 0]]):
        values, codes = cells[place], index[place]
        codes[np.isnan(values)] = NAN
        codes[values == np.inf] = POS_INF
        codes[values == -np.inf] = NEG_INF


def _side_by_side(index: Codes, sheet: _Sheet, kept: Kept) -> Codes:
    (rows, columns), (height, width) = sheet.channels.shape, sheet.places
    atlas = kept.array("entries", (rows * height + 1, columns * width + 1), np.uint16)
    atlas[:, -1] = atlas[-1] = CANVAS
    blocks = _blocks(atlas, sheet)
    whole = _whole_rows(sheet)
    first = whole * columns
    blocks[:whole] = index[:first].reshape(whole, columns, height, width).swapaxes(1, 2)
    for place, (row, column) in enumerate(np.argwhere(sheet.channels[whole:] >= 0), first):
        blocks[whole + row, :, column] = index[place]
    for row, column in np.argwhere(sheet.channels < 0):
        blocks[row, :, column] = CANVAS
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


def _coloured(codes: Codes, sheet: _Sheet, kept: Kept, name: str) -> Colours:
    colours = kept.array(name, codes.shape, np.uint32)
    lookup = table(sheet.picture.colormap, sheet.picture.paints)
    flat, out = codes.reshape(-1), colours.reshape(-1)
    for start in range(0, flat.size, PIECE):
        lookup.take(flat[start : start + PIECE], out=out[start : start + PIECE], mode="clip")
    return colours


def _spread_out(atlas: Array, sheet: _Sheet, kept: Kept, name: str) -> Array:
    """Return what every pixel of the box shows: the cell under its middle, canvas between the tiles."""
    down, across = sheet.places_along
    wider = kept.array(f"{name} wide", (len(atlas), len(across)), atlas.dtype.type)
    board = kept.array(name, (len(down), len(across)), atlas.dtype.type)
    atlas.take(across, axis=1, out=wider, mode="clip")
    wider.take(down, axis=0, out=board, mode="clip")
    return board


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
    where, (left, top) = sheet.part_of(tile)
    part = pixels[where]
    part[:] = pattern[top : top + part.shape[0], left : left + part.shape[1]]


@functools.lru_cache(maxsize=4)
def _pattern(width: int, height: int, paints: Paints, line: int) -> Colours:
    diagonal = (np.arange(height)[:, None] + np.arange(width)[None, :]) % (HATCH_PITCH * line)
    return np.where(diagonal < line, np.uint32(paints.hatch_line), np.uint32(paints.hatch_ground))
