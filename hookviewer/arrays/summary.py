"""Statistics of all values, for a whole array or channel by channel, in one walk through memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_PIECE = 4096  # values summed in the array's own precision before float64 takes over
_GROUP = 1 << 17  # values that stay in the processor's cache while all sums are made
_SHORT = 128  # values below which a row is too short for a call of its own
_STEEP = 8.0  # mean² / variance above which sums of squares lose too many digits
_SAFE = (1e-12, 1e15)  # sizes whose squares neither vanish nor overflow in float32


@dataclass(frozen=True)
class Statistics:
    """Numbers about all values of an array.

    `count` is the number of values, `zeros`, `nan`, `pos_inf` and `neg_inf` are numbers of values. Mean,
    standard deviation (of the population), extremes, L2 norm and mean of the absolute values are those of the
    finite values; they are NaN where there is none.
    """

    count: int
    mean: float
    std: float
    min: float
    max: float
    l2: float
    mean_abs: float
    zeros: int
    nan: int
    pos_inf: int
    neg_inf: int

    @property
    def zero_share(self) -> float:
        """The share of zeros among all values, 0 to 1."""
        return self.zeros / self.count if self.count else 0.0


@dataclass(frozen=True, eq=False)
class ChannelStatistics:
    """The numbers of `Statistics`, each as an array with one entry per channel."""

    count: Array
    mean: Array
    std: Array
    min: Array
    max: Array
    l2: Array
    mean_abs: Array
    zeros: Array
    nan: Array
    pos_inf: Array
    neg_inf: Array

    @property
    def zero_share(self) -> Array:
        """The share of zeros among all values of each channel, 0 to 1."""
        return self.zeros / np.maximum(self.count, 1)

    def channel(self, index: int) -> Statistics:
        """Return the statistics of one channel."""
        return _statistics(self, index)


def statistics(array: npt.ArrayLike) -> Statistics:
    """Return the statistics of all values of an array of any shape and dtype (complex: of its magnitude)."""
    flat = _real(array).reshape(-1)
    whole = flat.size - flat.size % _PIECE
    pieces = [flat[:whole].reshape(-1, _PIECE), flat[whole:].reshape(1, -1)]
    sums = _joined([_row_sums(piece) for piece in pieces if piece.size])
    return _statistics(_channels(_merged(_across_rows(sums))), 0)


def channel_statistics(maps: npt.ArrayLike) -> ChannelStatistics:
    """Return the statistics of every channel of `maps` [C, H, W] (or [C, anything])."""
    values = _real(maps)
    flat = values.reshape(len(values), int(np.prod(values.shape[1:])))
    parts = _even_parts(flat.shape[1])
    if parts == 1:
        return _channels(_row_sums(flat))
    if parts:
        pieces = _row_sums(flat.reshape(len(flat) * parts, -1))
        return _channels(_merged(_Sums(*(column.reshape(len(flat), parts).T for column in pieces))))
    starts = range(0, flat.shape[1], _PIECE)
    sums = [_row_sums(flat[:, start : start + _PIECE]) for start in starts]
    return _channels(_merged(_Sums(*(np.stack(column) for column in zip(*sums, strict=True)))))


def _even_parts(size: int) -> int:
    """Return into how many parts of one length, at most `_PIECE`, a row is cut; 0 where there is no way."""
    least = max(-(-size // _PIECE), 1)
    return next((parts for parts in range(least, 4 * least + 1) if size % parts == 0), 0)


class _Sums(NamedTuple):
    """What adds up: one entry per row, of the finite values."""

    values: Array
    finite: Array
    total: Array
    squares: Array
    deviation: Array
    """Sum of (value − mean of the row)²."""
    absolute: Array
    low: Array
    high: Array
    zeros: Array
    nan: Array
    pos_inf: Array
    neg_inf: Array


def _real(array: npt.ArrayLike) -> Array:
    values = np.asarray(array)
    return np.abs(values) if values.dtype.kind == "c" else values


def _working(rows: Array) -> Array:
    if rows.dtype in (np.float32, np.float64):
        return rows
    return rows.astype(np.float32 if rows.dtype == np.float16 else np.float64)


def _nothing(rows: int) -> _Sums:
    return _careful_sums(np.empty((rows, 0)))


def _row_sums(rows: Array) -> _Sums:
    """Return the sums of every row, a few rows at a time: all of them find the values in the cache."""
    if not rows.size:
        return _nothing(len(rows))
    made = np.zeros((7, len(rows)))
    step = max(1, _GROUP // rows.shape[1])
    for start in range(0, len(rows), step):
        _add_up(_working(rows[start : start + step]), made[:, start : start + step])
    total, low, high, squares, absolute, zeros, deviation = made
    count, none = np.full(len(rows), rows.shape[1]), np.zeros(len(rows), np.int64)
    numbers = (count, count, total, squares, deviation, absolute, low, high, zeros.astype(np.int64))
    return _corrected(_Sums(*numbers, none, none, none), rows)


def _joined(sums: list[_Sums]) -> _Sums:
    return _Sums(*(np.concatenate(column) for column in zip(*sums or [_nothing(0)], strict=True)))


def _add_up(rows: Array, out: Array) -> None:
    """Write total, extremes, squares, sizes, zeros and deviation of every row, in the rows' own precision."""
    ones = np.ones(rows.shape[1], rows.dtype)  # a product with ones adds up faster than `sum`
    scratch = np.empty(rows.shape, rows.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        out[0] = rows @ ones
        out[1], out[2] = rows.min(axis=1), rows.max(axis=1)
        out[3] = _squares(rows, scratch)
        out[4] = out[0] if out[1].min() >= 0 else np.abs(rows, out=scratch) @ ones
        zero = rows == 0
        if zero.any():
            np.copyto(scratch, zero)
            out[5] = scratch @ ones
        out[6] = _deviation(rows, out, scratch)


def _squares(rows: Array, scratch: Array) -> Array:
    """Return the sum of the squares of every row."""
    long = rows.shape[1] >= _SHORT
    ones = np.ones(rows.shape[1], rows.dtype)
    squares: Array = np.vecdot(rows, rows) if long else np.multiply(rows, rows, out=scratch) @ ones
    return squares


def _deviation(rows: Array, sums: Array, scratch: Array) -> Array:
    """Return the sum of (value − mean)² of every row.

    Where the mean is large beside it, squares would lose its digits: there it is made of differences, and the
    total with it.
    """
    count, total = rows.shape[1], sums[0]
    around = total * total / count
    deviation: Array = np.maximum(sums[3] - around, 0)
    steep = np.flatnonzero(around > _STEEP * deviation)
    if steep.size:
        place = scratch[: steep.size]
        mean = (total[steep] / count).astype(rows.dtype)
        np.subtract(rows[steep], mean[:, None], out=place)
        rest = (place @ np.ones(count, rows.dtype)).astype(np.float64)
        deviation[steep] = np.maximum(_squares(place, place) - rest * rest / count, 0)
        total[steep] = mean.astype(np.float64) * count + rest
    return deviation


def _corrected(sums: _Sums, rows: Array) -> _Sums:
    """Do the rows again in float64 whose sums are not finite, or whose squares vanish or overflow."""
    size = np.maximum(np.abs(sums.low), np.abs(sums.high))
    plain = np.isfinite(sums.total) & ((size == 0) | ((size > _SAFE[0]) & (size < _SAFE[1])))
    again = np.flatnonzero(~plain)
    if not again.size:
        return sums
    careful = _careful_sums(rows[again].astype(np.float64))
    return _Sums(*(_replaced(old, again, new) for old, new in zip(sums, careful, strict=True)))


def _replaced(old: Array, where: Array, new: Array) -> Array:
    result = old.copy()
    result[where] = new
    return result


def _careful_sums(rows: Array) -> _Sums:
    finite = np.isfinite(rows)
    values = np.where(finite, rows, 0.0)
    number = np.count_nonzero(finite, axis=1)
    total = values.sum(axis=1)
    mean = total / np.maximum(number, 1)
    with np.errstate(over="ignore"):
        squares = np.square(values).sum(axis=1)
        deviation = np.square(np.where(finite, values - mean[:, None], 0.0)).sum(axis=1)
    return _Sums(
        values=np.full(len(rows), rows.shape[1]),
        finite=number,
        total=total,
        squares=squares,
        deviation=deviation,
        absolute=np.abs(values).sum(axis=1),
        low=np.where(finite, rows, np.inf).min(axis=1, initial=np.inf),
        high=np.where(finite, rows, -np.inf).max(axis=1, initial=-np.inf),
        zeros=np.count_nonzero(rows == 0, axis=1),
        nan=np.count_nonzero(np.isnan(rows), axis=1),
        pos_inf=np.count_nonzero(rows == np.inf, axis=1),
        neg_inf=np.count_nonzero(rows == -np.inf, axis=1),
    )


def _across_rows(sums: _Sums) -> _Sums:
    return _Sums(*(column[:, None] for column in sums))


def _merged(parts: _Sums) -> _Sums:
    """Add up parts [P, R] to [R]; deviations as Chan, Golub and LeVeque (1979) merge them."""
    finite = parts.finite.sum(axis=0)
    total = parts.total.sum(axis=0)
    mean = total / np.maximum(finite, 1)
    means = parts.total / np.maximum(parts.finite, 1)
    with np.errstate(over="ignore"):
        deviation = (parts.deviation + parts.finite * np.square(means - mean)).sum(axis=0)
    added = {name: getattr(parts, name).sum(axis=0) for name in _ADDED}
    low = parts.low.min(axis=0, initial=np.inf)
    high = parts.high.max(axis=0, initial=-np.inf)
    return _Sums(finite=finite, total=total, deviation=deviation, low=low, high=high, **added)


_ADDED = ("values", "squares", "absolute", "zeros", "nan", "pos_inf", "neg_inf")


def _channels(sums: _Sums) -> ChannelStatistics:
    some = sums.finite > 0
    number = np.where(some, sums.finite, 1)
    nothing = np.where(some, 0.0, np.nan)
    return ChannelStatistics(
        count=sums.values,
        mean=sums.total / number + nothing,
        std=np.sqrt(sums.deviation / number) + nothing,
        min=np.where(some, sums.low, np.nan),
        max=np.where(some, sums.high, np.nan),
        l2=np.sqrt(sums.squares) + nothing,
        mean_abs=sums.absolute / number + nothing,
        zeros=sums.zeros,
        nan=sums.nan,
        pos_inf=sums.pos_inf,
        neg_inf=sums.neg_inf,
    )


def _statistics(channels: ChannelStatistics, index: int) -> Statistics:
    return Statistics(**dict(_numbers(channels, index)))


def _numbers(channels: ChannelStatistics, index: int) -> Iterator[tuple[str, Any]]:
    for name, column in vars(channels).items():
        yield name, column[index].item()
