"""What the numbers of a difference are made of: sums over rows of values, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from hookviewer.differences.ulp import COUNTED, ulps
from hookviewer.errors import HookViewerError

Array = npt.NDArray[Any]

_BLOCK = 1 << 15
"""Values that are in float64 at a time."""


_SMALLER = 2.0**-520
"""A factor (which costs no digits) for values whose squares are infinite: ratios stay the same."""


class Sums(NamedTuple):
    """One entry per row of values, over the places where both A and B are finite."""

    product: Array
    squares_a: Array
    squares_b: Array
    squares: Array
    total: Array
    largest: Array
    relative: Array
    signs: Array
    finite: Array
    places: Array
    unlike: Array
    """Places where one of both is finite only, or they are not finite in the same way."""
    equal: Array
    ulp_largest: Array
    ulp_total: Array


_GREATEST = frozenset({"largest", "relative", "ulp_largest"})


def row_sums(a: Array, b: Array, dtype: torch.dtype | None) -> Sums:
    """Return the sums of every row of two arrays [R, N]; ULP are counted in `dtype`, NaN where it is None."""
    dtype = counted(dtype)
    rows = [_across(a[part], b[part], dtype) for part in _parts(*a.shape)]
    return Sums(*(np.concatenate(column) for column in zip(*rows, strict=True)))


def all_sums(a: Array, b: Array, dtype: torch.dtype | None) -> Sums:
    """Return the sums of all values of two arrays, as one row."""
    first, second = a.reshape(1, -1), b.reshape(1, -1)
    sums = _across(first, second, counted(dtype))
    squared = (sums.squares_a, sums.squares_b, sums.squares)
    if np.isfinite(np.concatenate(squared)).all():
        return sums
    smaller = _across(wide(first) * _SMALLER, wide(second) * _SMALLER, None)
    names = ("product", "squares_a", "squares_b", "squares")
    return sums._replace(**{name: getattr(smaller, name) for name in names})


def alike(a: Array, b: Array) -> tuple[Array, Array]:
    """Return both arrays; raise `HookViewerError` when their shapes are not alike."""
    if a.shape != b.shape:
        raise HookViewerError(unlike_shapes(a.shape, b.shape))
    return a, b


def unlike_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    """Return the sentence for two shapes that cannot be compared."""
    sizes = ["×".join(map(str, shape)) or "a single number" for shape in (a, b)]
    return (
        f"A is {sizes[0]} and B is {sizes[1]}: only tensors of one shape can be compared, "
        "give both runs inputs of one size."
    )


def cosine(sums: Sums) -> Array:
    """Return the cosine of the angle between A and B per row, NaN where one is zero everywhere."""
    size = np.sqrt(sums.squares_a) * np.sqrt(sums.squares_b)
    with np.errstate(invalid="ignore"):
        found = np.divide(sums.product, size, where=size > 0, out=np.full(size.shape, np.nan))
    return np.asarray(np.clip(found, -1.0, 1.0))


def relative_l2(sums: Sums) -> Array:
    """Return |A − B| / |A| per row: infinite where only A is zero everywhere, NaN without a finite value."""
    size, gap = np.sqrt(sums.squares_a), np.sqrt(sums.squares)
    without = np.where(gap > 0, np.inf, 0.0)
    with np.errstate(invalid="ignore"):
        found: Array = np.divide(gap, size, where=size > 0, out=without)
    return known(sums, found)


def known(sums: Sums, numbers: Array) -> Array:
    """Return the numbers of the rows that have a finite value at all, NaN for the others."""
    return np.where(sums.finite > 0, numbers, np.nan)


def mean(sums: Sums, totals: Array) -> Array:
    """Return totals per finite place, NaN where there is none."""
    return known(sums, totals / np.maximum(sums.finite, 1))


def _parts(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(columns, 1))
    yield from (slice(start, start + step) for start in range(0, max(rows, 1), step))


def _across(a: Array, b: Array, dtype: torch.dtype | None) -> Sums:
    """Return the sums of few long rows, or of many short ones, a block at a time."""
    columns = a.shape[1]
    blocks = [
        _block_sums(a[:, start : start + _BLOCK], b[:, start : start + _BLOCK], dtype)
        for start in range(0, max(columns, 1), _BLOCK)
    ]
    return blocks[0] if len(blocks) == 1 else Sums(*map(_merged, Sums._fields, zip(*blocks, strict=True)))


def _merged(name: str, columns: tuple[Array, ...]) -> Array:
    stacked = np.stack(columns)
    if name == "equal":
        return np.asarray(stacked.all(axis=0))
    return np.asarray(stacked.max(axis=0) if name in _GREATEST else stacked.sum(axis=0))


def _block_sums(a: Array, b: Array, dtype: torch.dtype | None) -> Sums:
    same = a == b
    if same.all() and np.isfinite(a).all():
        return _equal_sums(a, known=dtype is not None)
    same |= _both_nan(a, b)
    ulp = _ulps(a, b, dtype)
    a, b = wide(a), wide(b)
    finite = np.isfinite(a) & np.isfinite(b)
    unlike = np.count_nonzero(~finite & ~same, axis=1)
    if not finite.all():
        a, b, ulp = np.where(finite, a, 0), np.where(finite, b, 0), np.where(finite, ulp, 0)
    with np.errstate(over="ignore"):
        gap = np.abs(a - b)
        size = np.maximum(np.abs(a), np.abs(b))
        return Sums(
            product=_dots(a, b.conj()).real,
            squares_a=_dots(a, a.conj()).real,
            squares_b=_dots(b, b.conj()).real,
            squares=_dots(gap, gap),
            total=gap.sum(axis=1),
            largest=gap.max(axis=1, initial=0.0),
            relative=np.divide(gap, size, where=size > 0, out=np.zeros_like(gap)).max(axis=1, initial=0.0),
            signs=np.count_nonzero(np.sign(a.real) * np.sign(b.real) < 0, axis=1),
            finite=np.count_nonzero(finite, axis=1),
            places=np.full(len(a), a.shape[1]),
            unlike=unlike,
            equal=same.all(axis=1),
            ulp_largest=ulp.max(axis=1, initial=0.0),
            ulp_total=ulp.sum(axis=1),
        )


def _equal_sums(a: Array, *, known: bool) -> Sums:
    """Return the sums of finite values that are the same in A and B; most of them are 0."""
    a = wide(a)
    squares = _dots(a, a.conj()).real
    nothing, none = np.zeros(len(a)), np.zeros(len(a), np.int64)
    count = np.full(len(a), a.shape[1])
    ulp = nothing if known else np.full(len(a), np.nan)
    return Sums(
        product=squares,
        squares_a=squares,
        squares_b=squares,
        squares=nothing,
        total=nothing,
        largest=nothing,
        relative=nothing,
        signs=none,
        finite=count,
        places=count,
        unlike=none,
        equal=np.ones(len(a), np.bool_),
        ulp_largest=ulp,
        ulp_total=ulp,
    )


def _dots(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _both_nan(a: Array, b: Array) -> Array | bool:
    return np.isnan(a) & np.isnan(b) if a.dtype.kind in "fc" and b.dtype.kind in "fc" else False


def _ulps(a: Array, b: Array, dtype: torch.dtype | None) -> Array:
    found = None if dtype is None else ulps(a, b, dtype)
    return np.full(a.shape, np.nan) if found is None else found


def counted(dtype: torch.dtype | None) -> torch.dtype | None:
    """Return the type in which ULP are counted, `None` where there are none."""
    return dtype if dtype in COUNTED else None


def wide(values: Array) -> Array:
    """Return the values in float64, or complex128."""
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
