"""From values to pixels: the colour tables, quantising, enlarging and reducing, and whole walls of maps."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer.resources import resource

Array = npt.NDArray[Any]
Pixels = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]
Levels = tuple[float, float]

COLORMAPS = ("magma", "viridis", "inferno", "cividis", "gray", "ember", "CET-D1A", "turbo")
"""The colour maps, in the order of the menu."""
DIVERGING = frozenset({"ember", "CET-D1A"})
"""The maps with zero in the middle."""

NAN: Colour = (61, 255, 139)
POS_INF: Colour = (187, 255, 212)
NEG_INF: Colour = (31, 128, 70)

CURVES = ("linear", "log")
"""How values are spread over the colours: evenly, or by `bent`."""
DECADES = 1000.0
"""A logarithmic scale is a logarithm down to this part of its larger end, and even around zero."""


def packed(colour: Colour) -> int:
    """Return a colour as 0xffRRGGBB."""
    red, green, blue = colour
    return 0xFF000000 | red << 16 | green << 8 | blue


@functools.cache
def colour_table(name: str) -> Pixels:
    """Return the 256 colours of a map, uint8 [256, 4], opaque RGBA, read-only."""
    with np.load(resource("colormaps.npz")) as tables:
        table = np.full((256, 4), 255, np.uint8)
        table[:, :3] = tables[name]
    table.flags.writeable = False
    return table


def zero_index(colormap: str) -> int:
    """Return the entry of a colour table that is zero: the middle of a diverging map, else the first."""
    return 128 if colormap in DIVERGING else 0


def to_index(array: npt.ArrayLike, levels: Levels, *, curve: str = "linear") -> Pixels:
    """Return the entry of the colour table for every value, uint8 of the array's shape.

    floor((value − low) / (high − low) · 255 + 0.5), step by step in float32, held to 0 … 255. Equal levels
    give 128 everywhere; NaN gives 0 here and its own colour in `to_rgba`. Complex values count by magnitude.
    On a `"log"` curve value, low and high are `bent` first.
    """
    values = np.asarray(array)
    values = np.abs(values) if values.dtype.kind == "c" else values
    low, span, threshold = (float(one[0]) for one in steps_of(np.array([levels]), curve))
    if span == 0:
        return np.full(values.shape, 128, np.uint8)
    kind = _precision(span)
    with np.errstate(over="ignore", invalid="ignore"):
        cells = np.atleast_1d(values).astype(kind)
        placed(cells, kind(low), kind(span), kind(threshold), curve, cells)
        return np.where(np.isnan(cells), 0, cells).astype(np.uint8).reshape(values.shape)


def steps_of(levels: npt.ArrayLike, curve: str) -> tuple[Array, Array, Array]:
    """Return lower end, span and threshold of pairs of levels [n, 2], as `placed` takes them."""
    ends = np.asarray(levels, np.float64)
    threshold = np.maximum(np.abs(ends).max(axis=1), np.finfo(np.float32).tiny * DECADES) / DECADES
    if curve == "log":
        ends = bent(ends, threshold[:, None])
    return ends[:, 0], ends[:, 1] - ends[:, 0], threshold


def bent(values: Array, threshold: npt.ArrayLike) -> Array:
    """Return sign(value) · ln(1 + |value| / threshold): even around zero, a logarithm far from it."""
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.log(np.abs(values) / threshold + values.dtype.type(1))
        result: Array = np.copysign(sizes, values)
    return result


def placed(
    values: Array, low: npt.ArrayLike, span: npt.ArrayLike, threshold: npt.ArrayLike, curve: str, out: Array
) -> None:
    """Write where values lie between the first colour and the last one, 0 to 255, and half a step more.

    All of it is computed in the precision of `out`. The whole part is the entry of the colour table; NaN
    stays NaN.
    """
    kind = out.dtype.type
    values = bent(values, np.asarray(threshold, kind)) if curve == "log" else values
    np.subtract(values, np.asarray(low, kind), out=out)
    np.divide(out, np.asarray(span, kind), out=out)
    np.multiply(out, kind(255), out=out)
    np.add(out, kind(0.5), out=out)
    np.clip(out, kind(0), kind(255), out=out)


def to_rgba(
    array: npt.ArrayLike,
    levels: Levels,
    colormap: str,
    *,
    nan: Colour = NAN,
    pos_inf: Colour = POS_INF,
    neg_inf: Colour = NEG_INF,
    curve: str = "linear",
) -> Pixels:
    """Return the colour of every value, uint8 [..., 4]; NaN and the infinities have their own."""
    values = np.asarray(array)
    values = np.abs(values) if values.dtype.kind == "c" else values
    picture = _looked_up(to_index(values, levels, curve=curve), colormap)
    if not _all_finite(values):
        for where, colour in (
            (np.isnan(values), nan),
            (values == np.inf, pos_inf),
            (values == -np.inf, neg_inf),
        ):
            picture[where] = (*colour, 255)
    return picture


def enlarged(picture: Array, times: int) -> Array:
    """Return a picture [H, W] or [H, W, …] with every cell `times` cells wide and high: no smoothing."""
    return picture.repeat(times, axis=0).repeat(times, axis=1)


def reduced(maps: Array, times: int) -> Array:
    """Return maps [..., H, W] with each block of `times` × `times` cells as its mean (smaller at the rim)."""
    rows = _block_means(maps, times, axis=-2)
    return _block_means(rows, times, axis=-1)


def wall_columns(count: int, height: int, width: int, *, gutter: int = 2, aspect: float = 1.5) -> int:
    """Return how many maps stand side by side so that the wall is about `aspect` times as wide as high."""
    columns = math.sqrt(aspect * count * (height + gutter) / (width + gutter))
    return min(max(1, round(columns)), max(1, count))


def maps_index(maps: Array, levels: npt.ArrayLike, *, curve: str = "linear") -> Pixels:
    """Return maps [C, H, W] as entries of the colour table, on one pair of levels or a pair each [C, 2]."""
    ends = np.asarray(levels, np.float64)
    if ends.ndim == 1:
        return to_index(maps, _pair(ends), curve=curve)
    made = [to_index(one, _pair(pair), curve=curve) for one, pair in zip(maps, ends, strict=True)]
    return np.stack(made) if made else np.zeros(maps.shape, np.uint8)


def maps_rgba(maps: Array, levels: npt.ArrayLike, colormap: str, *, curve: str = "linear") -> Pixels:
    """Return the colours of maps [C, H, W], uint8 [C, H, W, 4], on one pair of levels or a pair each."""
    ends = np.asarray(levels, np.float64)
    if ends.ndim == 1:
        return to_rgba(maps, _pair(ends), colormap, curve=curve)
    each = zip(maps, ends, strict=True)
    made = [to_rgba(one, _pair(pair), colormap, curve=curve) for one, pair in each]
    return np.stack(made) if made else np.zeros((*maps.shape, 4), np.uint8)


def share(values: npt.ArrayLike, levels: npt.ArrayLike, *, curve: str = "linear") -> Array:
    """Return where values lie between the lower level (0) and the upper one (1), float64; NaN stays NaN.

    `levels` are one pair, or one for each of the values' first axis [n, 2]. On equal levels all lie at 1/2.
    """
    numbers, ends = np.asarray(values, np.float64), np.asarray(levels, np.float64)
    shape = (-1, *[1] * (numbers.ndim - 1)) if ends.ndim == 2 else ()
    low, span, threshold = (one.reshape(shape) for one in steps_of(np.atleast_2d(ends), curve))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        numbers = bent(numbers, threshold) if curve == "log" else numbers
        found: Array = np.where(span == 0, np.where(np.isnan(numbers), np.nan, 0.5), (numbers - low) / span)
    return found


def lights(colours: Array, levels: npt.ArrayLike, *, curve: str = "linear") -> Pixels:
    """Return red, green and blue values [C, H, W, 3] as lights, uint8: the levels are none and all of it.

    The levels are one pair, or one for each picture [C, 2]. NaN is no light.
    """
    found = np.nan_to_num(np.clip(share(colours, levels, curve=curve), 0.0, 1.0))
    light: Pixels = (found * 255 + 0.5).astype(np.uint8)
    return light


def wall_index(
    maps: Array,
    levels: npt.ArrayLike,
    colormap: str,
    *,
    columns: int | None = None,
    gutter: int = 2,
    curve: str = "linear",
) -> Pixels:
    """Return the wall of maps [C, H, W] as entries of the colour table, gutters in the colour of zero."""
    count, height, width = maps.shape
    columns = columns or wall_columns(count, height, width, gutter=gutter)
    return tiled(maps_index(maps, levels, curve=curve), columns, gutter, zero_index(colormap))


def wall_picture(
    maps: Array,
    levels: npt.ArrayLike,
    colormap: str,
    columns: int | None = None,
    gutter: int = 2,
    scale: float = 1,
    *,
    ground: tuple[int, int, int, int] = (0, 0, 0, 0),
    curve: str = "linear",
) -> Pixels:
    """Return the wall of maps [C, H, W] as a picture, uint8 [rows, columns, 4], `ground` between them.

    `levels` are one pair, or one for each map [C, 2]. A scale of 2, 3, … enlarges every cell without
    smoothing, 1/2, 1/3, … averages blocks of values before they are coloured; the gutter keeps its width.
    `columns` None makes the wall a little wider than high.
    """
    if scale < 1:
        maps = reduced(maps, round(1 / scale))
    colours = maps_rgba(maps, levels, colormap, curve=curve)
    return picture_wall(colours, columns, gutter, max(1, round(scale)), ground=ground)


def picture_wall(
    pictures: Pixels,
    columns: int | None = None,
    gutter: int = 2,
    times: int = 1,
    *,
    ground: tuple[int, int, int, int] = (0, 0, 0, 0),
) -> Pixels:
    """Return the wall of coloured maps [C, H, W, 4] as a picture, every cell `times` as wide and high."""
    cells = np.ascontiguousarray(pictures).view(np.uint32)[..., 0]
    count, height, width = cells.shape
    columns = columns or wall_columns(count, height * times, width * times, gutter=gutter)
    if times > 1:
        cells = cells.repeat(times, axis=1).repeat(times, axis=2)
    behind = np.array(ground, np.uint8).view(np.uint32)[0]
    return tiled(cells, columns, gutter, behind)[..., None].view(np.uint8)


def tiled(maps: Array, columns: int, gutter: int, ground: int | np.generic) -> Array:
    """Return maps [C, H, W] of any dtype row after row, with `ground` between them and in empty places."""
    count, height, width = maps.shape
    rows = math.ceil(count / columns)
    cells = np.full((rows * columns, height + gutter, width + gutter), ground, maps.dtype)
    cells[:count, :height, :width] = maps
    ordered = cells.reshape(rows, columns, height + gutter, width + gutter).swapaxes(1, 2)
    wall = ordered.reshape(rows * (height + gutter), columns * (width + gutter))
    return np.ascontiguousarray(wall[: wall.shape[0] - gutter, : wall.shape[1] - gutter])


def _pair(ends: Array) -> Levels:
    low, high = ends.tolist()
    return low, high


def _precision(span: float) -> type[np.floating[Any]]:
    """float32, unless the span would vanish or overflow in it."""
    limits = np.finfo(np.float32)
    return np.float32 if float(limits.tiny) < abs(span) < float(limits.max) else np.float64


def _looked_up(index: Pixels, colormap: str) -> Pixels:
    table = colour_table(colormap).view(np.uint32)[:, 0]
    return np.take(table, index)[..., None].view(np.uint8)


def _all_finite(values: Array) -> bool:
    if values.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def _block_means(maps: Array, times: int, *, axis: int) -> Array:
    length = maps.shape[axis]
    starts = np.arange(0, length, times)
    sizes = np.diff(np.append(starts, length)).astype(np.float32)
    sums = np.add.reduceat(maps, starts, axis=axis, dtype=np.float32)
    result: Array = sums / (sizes[:, None] if axis == -2 else sizes)
    return result
