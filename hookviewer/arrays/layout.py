"""An array as something that can be drawn: maps, lines, bars, a number or a table."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer.arrays.roles import NOTHING, NUMBER, TABLE, TIMES, Hints, grid, readings, roles_of

Array = npt.NDArray[Any]

LAYOUTS = ("maps", "lines", "bars", "number", "table")
PARTS = ("magnitude", "phase", "real", "imaginary")
"""What is shown of complex numbers; the first where nothing was chosen."""
MAXIMUM = -1
"""A place on an axis that means the greatest value along it."""
_SLIDING = ("depth", "frame", "input channel")
_MOST_NAMED = 1 << 15
NO_PLACES: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class Slider:
    """An axis of which one place is shown: its role, its length and the place (`MAXIMUM`: the greatest)."""

    role: str
    size: int
    place: int


@dataclass(frozen=True, eq=False)
class Maps:
    """An array as something that can be drawn.

    `values` is [C, H, W] in float32: C maps; for `lines` [C, 1, T]; for `bars` [1, 1, D]; for `number` and
    `table` the numbers in their own dtype, [1, rows, columns]. `axes` says in words what the three axes are,
    `titles` name the channels where a number is not enough, `samples` is the length of the batch that
    `sample` chooses from, `reading` the reading in force, `sliders` the axes of which one place is shown.
    `across` is how many maps belong in a row (0: as they fit), `colours` [C, H, W, 3] red, green and blue
    where the maps are pictures (their `values` are the mean of the three), `apart` the tokens [k, C] that
    stand before a grid, `longest` the length of the longest sequence where this one ends earlier: what was
    padded is left out. `whole` says that the values are integers or truth values.
    """

    values: Array
    axes: str
    layout: str
    titles: tuple[str, ...] = ()
    samples: int = 1
    reading: str = ""
    sliders: tuple[Slider, ...] = ()
    across: int = 0
    colours: Array | None = None
    apart: Array | None = None
    longest: int | None = None
    complex: bool = False
    whole: bool = False

    @property
    def every(self) -> Array:
        """All values of the sample: those of the maps, and of the tokens that stand apart."""
        if self.apart is None:
            return self.values
        return np.concatenate([self.values.reshape(-1), np.asarray(self.apart).reshape(-1)])

    @property
    def in_place(self) -> bool:
        """Whether rows and columns of a map are rows and columns of what went in: no tokens, no weights."""
        return self.layout == "maps" and self.axes_along == ("row", "column")

    @property
    def axes_along(self) -> tuple[str, str]:
        """The roles of the rows and the columns of a map; `""` where it has one only."""
        core = _core(self.reading)
        match core:
            case ("time", "feature"):
                return "unit", "time"
            case ("row",):
                return "row", ""
        if "token in a grid" in core or "row" in core:
            return "row", "column"
        return (core[-2], core[-1]) if len(core) >= 2 else ("row", "column")

    @property
    def tile_role(self) -> str:
        """The role of the axis that has a tile for each place; `""` where the tile is alone."""
        core = _core(self.reading)
        if "token in a grid" in core:
            return "feature"
        if self.layout == "lines":
            return "channel"
        rest = [role for role in core if role not in ("row", "column")]
        if "row" in core:
            return rest[0] if rest else ""
        return core[0] if len(core) > 2 else ""


def as_maps(
    array: npt.ArrayLike,
    *,
    sample: int = 0,
    reading: str | None = None,
    hints: Hints = NOTHING,
    places: Mapping[str, int] = NO_PLACES,
    part: str = PARTS[0],
    lengths: Sequence[int] = (),
    parts: Sequence[Sequence[int]] = (),
) -> Maps:
    """Return an array as maps, lines, bars, a number or a table; every array has one of these.

    `reading` is one of `readings(shape, hints)`, the guess where it is None. `sample` is a place on the
    sample axis, `places` one on each axis that slides, by role (`MAXIMUM` for the greatest along it; one
    beyond the end is the last). Of complex values one of `PARTS` is shown. `lengths` says how long each
    padded sequence is, `parts` which sizes each sample has that is padded along several axes.
    """
    values = np.asarray(array)
    possible = readings(values.shape, hints)
    chosen = possible[0] if reading is None else reading
    if chosen not in possible:
        raise ValueError(f"an array of shape {values.shape} cannot be read as {chosen!r}")
    if chosen in (TABLE, NUMBER):
        return _numbers(values, chosen)
    roles, samples, longest = list(roles_of(chosen)), 1, None
    if "sample" in roles:
        axis = roles.index("sample")
        samples = values.shape[axis]
        values = np.moveaxis(values, axis, 0)[sample]
        roles.remove("sample")
        if axis == 0 and len(parts) == samples:
            longest = len(values) if roles[0] == "time" else None
            values = values[tuple(slice(max(size, 1)) for size in parts[sample])]
    real = _real32(values, part)
    sliders, one = _slid(real, roles, places)
    core = tuple(role for role in roles if not _slides(role))
    if len(lengths) == samples and core[:1] == ("time",):
        one, longest = one[: lengths[sample]], len(one)
    drawn = _drawn(one, core, hints)
    return Maps(
        **drawn,
        samples=samples,
        reading=chosen,
        sliders=sliders,
        longest=longest,
        complex=_is_complex(values),
        whole=values.dtype.kind in "biu",
    )


@functools.lru_cache(maxsize=1 << 8)
def _core(reading: str) -> tuple[str, ...]:
    """Return the roles of the axes that are drawn: neither chosen from, nor slid along."""
    return tuple(role for role in roles_of(reading) if role != "sample" and not _slides(role))


def _slides(role: str) -> bool:
    return role in _SLIDING or role.startswith("axis ")


def _slid(values: Array, roles: Sequence[str], places: Mapping[str, int]) -> tuple[tuple[Slider, ...], Array]:
    """Return the axes that slide, and the values at their places."""
    sliders = tuple(
        Slider(role, size, _place(role, size, places))
        for role, size in zip(roles, values.shape, strict=True)
        if _slides(role)
    )
    for slider in reversed(sliders):
        axis = roles.index(slider.role)
        at_maximum = slider.place == MAXIMUM
        values = values.max(axis=axis) if at_maximum else np.moveaxis(values, axis, 0)[slider.place]
    return sliders, values


def _place(role: str, size: int, places: Mapping[str, int]) -> int:
    place = places.get(role, size // 2 if role == "depth" else 0)
    return MAXIMUM if place == MAXIMUM else min(max(place, 0), size - 1)


def _drawn(one: Array, core: tuple[str, ...], hints: Hints) -> dict[str, Any]:
    """Return the maps of one sample, their axes in words, their layout and what else belongs to them."""
    match core:
        case ("feature",):
            return _made(one[None, None, :], "feature", "bars")
        case ("token", "feature") if len(one) == 1:
            return _made(one[None], "feature", "bars")
        case ("row",):
            return _made(one[None, :, None], "value by row")
        case ("channel" | "output channel", "time"):
            return _made(one[:, None, :], "channel × time", "lines")
        case ("time", "feature"):
            return _made(one.T[None], "feature by time")
        case ("token in a grid", "feature"):
            return _token_grid(one, hints)
        case ("row", "column", "channel"):
            return _made(np.moveaxis(one, -1, 0), "channel × row × column (stored channels last)")
        case (first, second, "row", "column"):
            return _blocks(one, second == "colour", ("c", "z") if first == "channel" else ("o", "i"))
    return _made(one[None] if one.ndim == 2 else one, TIMES.join(core))


def _made(values: Array, axes: str, layout: str = "maps", **others: Any) -> dict[str, Any]:
    return {"values": values, "axes": axes, "layout": layout, **others}


def _token_grid(tokens: Array, hints: Hints) -> dict[str, Any]:
    leading, rows, columns = grid(len(tokens), hints) or (0, 1, len(tokens))
    maps = tokens[leading:].T.reshape(-1, rows, columns)
    left_out = "1 token before it" if leading == 1 else f"{leading} tokens before it"
    words = f"feature × row × column of the tokens' grid{f', {left_out} left out' if leading else ''}"
    return _made(maps, words, apart=tokens[:leading] if leading else None)


def _blocks(one: Array, colours: bool, letters: tuple[str, str]) -> dict[str, Any]:
    """Return maps [A, B, H, W] as tiles, B in a row; three colours as one picture each."""
    if colours:
        pictures = np.ascontiguousarray(np.moveaxis(one, 1, -1))
        return _made(
            one.mean(axis=1, dtype=np.float32), "output channel × row × column, in colour", colours=pictures
        )
    rows, across = one.shape[:2]
    few = rows * across <= _MOST_NAMED
    names = (f"{letters[0]}{a} {letters[1]}{b}" for a in range(rows) for b in range(across)) if few else ()
    words = "channel and slice" if letters == ("c", "z") else "output and input channel"
    maps = one.reshape(-1, *one.shape[2:])
    return _made(maps, f"{words} × row × column", titles=tuple(names), across=across)


def _numbers(values: Array, layout: str) -> Maps:
    rows = math.prod(values.shape[:-1])
    width = values.shape[-1] if values.ndim else 1
    shape = "×".join(map(str, values.shape))
    axes = "one number" if layout == NUMBER else f"table of {shape}, the last axis along the columns"
    return Maps(values.reshape(1, rows, width), axes, layout, reading=layout)


def _is_complex(values: Array) -> bool:
    return values.dtype.kind == "c"


def _real32(values: Array, part: str) -> Array:
    if part not in PARTS:
        raise ValueError(f"unknown part {part!r} of complex numbers, not one of {PARTS}")
    if _is_complex(values):
        values = _part(values, part)
    with np.errstate(over="ignore"):
        return values.astype(np.float32, copy=False)


def _part(values: Array, part: str) -> Array:
    match part:
        case "phase":
            return np.angle(values)
        case "real":
            return values.real
        case "imaginary":
            return values.imag
    return np.abs(values)
