"""What the axes of an array mean: a guess from the shape, in words, and every other reading to choose from.

A reading names the axes in order: `sample × channel × row × column`. The first of `readings(array)` is
the guess.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LAYOUTS = ("maps", "bars", "number", "table")

_TOKEN_GRID = "sample × token in a grid × feature"
_CHANNELS_LAST = "sample × row × column × channel"
_BY_AXES = {
    0: ("number",),
    1: ("feature", "row"),
    2: ("sample × feature", "row × column"),
    3: (
        "channel × row × column",
        "sample × token × feature",
        "sample × channel × time",
        "sample × row × column",
    ),
    4: ("sample × channel × row × column", _CHANNELS_LAST, "channel × depth × row × column"),
    5: ("sample × channel × depth × row × column",),
}
_SMALLEST_GRID = 4  # tokens by tokens
_FEWEST_FEATURES = 16


@dataclass(frozen=True, eq=False)
class Maps:
    """An array as something that can be drawn.

    `values` is [C, H, W] in float32: C maps; for `bars` [1, 1, D]; for `number` and `table` the numbers in
    their own dtype, [1, rows, columns]. `axes` says in words what the three axes are, `titles` name the
    channels where a number is not enough, `samples` is the length of the batch that `sample` chooses from,
    `reading` the reading in force.
    """

    values: Array
    axes: str
    layout: str
    titles: tuple[str, ...] = ()
    samples: int = 1
    reading: str = ""


def readings(array: npt.ArrayLike) -> tuple[str, ...]:
    """Return what the axes may mean; the first is the guess from the shape, the last is always `table`."""
    shape = np.shape(array)
    known = _BY_AXES.get(len(shape), ())
    if 0 in shape or not known:
        return ("table",)
    if len(shape) == 3 and _grid(shape[1]):
        known = (*known, _TOKEN_GRID)
    guess = _guess(shape, known)
    return (guess, *(reading for reading in known if reading != guess), "table")


def as_maps(array: npt.ArrayLike, *, sample: int = 0, reading: str | None = None) -> Maps:
    """Return an array as maps, bars, a number or a table; every array has one of these.

    `reading` is one of `readings(array)`, the guess where it is None. By shape: [N, C, H, W] gives the C maps
    of `sample`, [C, H, W] its maps. [N, L, D] gives D maps when L (or L − 1, behind a class token) tokens
    make a square grid, and one map of L × D when N is 1. [N, C, D, H, W] gives one map per channel and slice,
    [N, D] and [D] bars, a single value a number; any other array and an empty one a table. Complex values are
    shown by their magnitude.
    """
    values = np.asarray(array)
    chosen = readings(values)[0] if reading is None else reading
    if chosen not in readings(values):
        raise ValueError(f"an array of shape {values.shape} cannot be read as {chosen!r}")
    if chosen in ("table", "number"):
        return _numbers(values, chosen)
    samples = values.shape[0] if chosen.startswith("sample") else 1
    one = values[sample] if chosen.startswith("sample") else values
    maps, axes, titles = _drawn(_real32(one), chosen.removeprefix("sample × "))
    return Maps(maps, axes, "bars" if axes == "feature" else "maps", titles, samples, chosen)


def _guess(shape: tuple[int, ...], known: tuple[str, ...]) -> str:
    if len(shape) == 3 and _TOKEN_GRID in known and _looks_like_tokens(*shape):
        return _TOKEN_GRID
    if len(shape) == 3 and shape[0] == 1:
        return "sample × token × feature"
    if len(shape) == 4 and looks_channels_last(shape):
        return _CHANNELS_LAST
    return known[0]


def _looks_like_tokens(samples: int, tokens: int, features: int) -> bool:
    return features >= _FEWEST_FEATURES and features != tokens and (samples == 1 or features % 8 == 0)


def looks_channels_last(shape: Sequence[int]) -> bool:
    """Return whether [N, a, b, c] is square maps before many channels, as a Swin transformer has them."""
    _, rows, columns, channels = shape
    return rows == columns and channels % 16 == 0 and channels > 1.6 * rows


def _grid(tokens: int) -> tuple[int, int] | None:
    """Return (leading tokens, side) where the tokens make a square, after a class token or without one."""
    for leading in (0, 1):
        side = math.isqrt(max(tokens - leading, 0))
        if side >= _SMALLEST_GRID and side * side == tokens - leading:
            return leading, side
    return None


def _drawn(one: Array, axes: str) -> tuple[Array, str, tuple[str, ...]]:
    """Return the maps of one sample, their axes in words and the names of the channels."""
    match axes:
        case "feature":
            return one[None, None, :], axes, ()
        case "row":
            return one[None, :, None], "value by row", ()
        case "row × column" | "token × feature" | "channel × time":
            return one[None], axes, ()
        case "token in a grid × feature":
            return _token_grid(one)
        case "row × column × channel":
            return np.moveaxis(one, -1, 0), "channel × row × column (stored channels last)", ()
        case "channel × depth × row × column":
            return _slices(one)
    return one, axes, ()


def _token_grid(tokens: Array) -> tuple[Array, str, tuple[str, ...]]:
    leading, side = _grid(len(tokens)) or (0, 1)
    maps = tokens[leading:].T.reshape(-1, side, side)
    apart = ", the class token left out" if leading else ""
    return maps, f"feature × row × column of the tokens' grid{apart}", ()


def _slices(volume: Array) -> tuple[Array, str, tuple[str, ...]]:
    channels, depth = volume.shape[:2]
    titles = tuple(f"c{channel} z{slice_}" for channel in range(channels) for slice_ in range(depth))
    return volume.reshape(-1, *volume.shape[2:]), "channel and depth × row × column", titles


def _numbers(values: Array, layout: str) -> Maps:
    rows = math.prod(values.shape[:-1])
    width = values.shape[-1] if values.ndim else 1
    shape = "×".join(map(str, values.shape))
    axes = "one number" if layout == "number" else f"table of {shape}, the last axis along the columns"
    return Maps(values.reshape(1, rows, width), axes, layout, reading=layout)


def _real32(values: Array) -> Array:
    values = np.abs(values) if values.dtype.kind == "c" else values
    with np.errstate(over="ignore"):
        return values.astype(np.float32, copy=False)
