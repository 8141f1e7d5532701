"""One number for how far two records are apart, also where only their statistics were kept."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hookviewer.arrays import Statistics
from hookviewer.differences.numbers import unlike_shapes, wide
from hookviewer.differences.recordings import Difference, between
from hookviewer.recording import Record, statistics

Array = npt.NDArray[Any]

_BLOCK = 1 << 15
"""Values that are in float64 at a time."""
_ROUNDING = 4e-6
"""What rounding in the statistics may add to the distance of two equal tensors."""


class Distance(NamedTuple):
    """A relative L2 distance; only a lower bound where `exact` is false, NaN where nothing is known.

    Infinite for shapes that are not alike, and where one is finite and the other is not.
    """

    value: float
    exact: bool = True
    reason: str = ""


NOTHING_APART = Distance(0.0)


def distance(a: Record, b: Record) -> Distance:
    """Return how far two records are apart."""
    if a.shape != b.shape:
        return Distance(math.inf, reason=unlike_shapes(a.shape, b.shape))
    if a.kept is not None and b.kept is not None:
        return _of_values(a.array(), b.array())
    lost, letter = (a, "A") if a.kept is None else (b, "B")
    why = f"In {letter}: {lost.missing or 'its values were not kept.'}"
    if any(one.kept is None and one.summary is None for one in (a, b)):
        return Distance(math.nan, exact=False, reason=why)
    return Distance(lower_bound(statistics(a), statistics(b)), exact=False, reason=why)


def largest(distances: Iterable[Distance]) -> Distance:
    """Return the largest of several, which is exact only where all are; nothing apart without any."""
    found = list(distances)
    if not found:
        return NOTHING_APART
    worst = max(found, key=lambda one: -1.0 if math.isnan(one.value) else one.value)
    lost = next((one for one in found if not one.exact), None)
    if lost is None:
        return worst
    return worst._replace(exact=False, reason=worst.reason or lost.reason)


def lower_bound(a: Statistics, b: Statistics) -> float:
    """Return a relative L2 distance that two tensors with these statistics have at least.

    From the triangle inequality for the L2 norms, and from that of Cauchy and Schwarz for the means. NaN
    where both hold values that are not finite, which may lie anywhere.
    """
    apart = [getattr(a, name) != getattr(b, name) for name in ("nan", "pos_inf", "neg_inf")]
    if any(apart):
        return math.inf
    if a.nan or a.pos_inf or a.neg_inf or not a.count:
        return math.nan if a.count else 0.0
    root = math.sqrt(a.count)
    gaps = (
        abs(a.l2 - b.l2),
        root * abs(a.mean - b.mean),
        root * abs(a.mean_abs - b.mean_abs),
        abs(a.max - b.max),
        abs(a.min - b.min),
    )
    slack = _ROUNDING * max(a.l2, b.l2)
    gap = max(max(gaps) - slack, 0.0)
    if a.l2 > 0:
        return gap / a.l2
    return math.inf if gap > 0 else 0.0


def _of_values(a: Array, b: Array) -> Distance:
    """Return the distance of two arrays in few walks through memory, which is most of the work."""
    squares, size = _squares(a.reshape(-1), b.reshape(-1))
    if not (math.isfinite(squares) and math.isfinite(size)):
        return _with_gaps(between(a, b))
    if squares == 0:  # also where the squares of tiny numbers vanish, the difference does not
        return Distance(0.0 if np.array_equal(a, b) else math.ulp(0.0))
    return Distance(math.sqrt(squares) / math.sqrt(size) if size > 0 else math.inf)


def _squares(a: Array, b: Array) -> tuple[float, float]:
    """Return the sums of the squares of A − B and of A."""
    squares, size = 0.0, 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, a.size, _BLOCK):
            first, gap = wide(a[start : start + _BLOCK]), wide(b[start : start + _BLOCK])
            np.subtract(first, gap, out=gap)
            squares += float(np.vdot(gap, gap).real)
            size += float(np.vdot(first, first).real)
    return squares, size


def _with_gaps(numbers: Difference) -> Distance:
    """Return the distance of arrays with values that are not finite."""
    if not numbers.unlike:
        return Distance(0.0 if numbers.equal else _finite(numbers.relative_l2))
    return Distance(
        math.inf,
        reason=f"{numbers.unlike:,} values are finite in one of both only, or NaN in one and infinite in the "
        "other.",
    )


def _finite(relative: float) -> float:
    return 0.0 if math.isnan(relative) else relative
