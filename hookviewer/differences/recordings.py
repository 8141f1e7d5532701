"""How far two tensors, or two whole recordings, lie apart, in numbers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import torch

from hookviewer.differences import numbers
from hookviewer.differences.numbers import alike
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key
from hookviewer.recording import Record, Recording

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True)
class Difference:
    """Numbers about A − B, over all places where both values are finite.

    `cosine` is the cosine of the angle between A and B (NaN when one is zero everywhere), `relative_l2` is
    |A − B| / |A| in the L2 norm (infinite when only A is zero everywhere), `max_abs` and `mean_abs` are of
    |A − B|, `max_relative` is the largest |A − B| / max(|A|, |B|), `sign_changes` counts places where A and B
    have opposite signs among `count` finite ones, `not_finite` those left out, `unlike` those of them where
    only one is finite, or both are not in the same way (NaN and infinity, infinities of both signs). `equal`:
    every value is the same, NaN where NaN. `max_ulp` and `mean_ulp` count representable numbers between A and
    B; NaN where their types differ or are not float16, bfloat16, float32 or float64.
    """

    cosine: float
    relative_l2: float
    max_abs: float
    max_relative: float
    sign_changes: int
    mean_abs: float
    equal: bool
    not_finite: int = 0
    count: int = 0
    unlike: int = 0
    max_ulp: float = math.nan
    mean_ulp: float = math.nan

    @property
    def sign_share(self) -> float:
        """The share of places with opposite signs among the finite ones, 0 to 1 (NaN without any)."""
        return self.sign_changes / self.count if self.count else math.nan


@dataclasses.dataclass(frozen=True, eq=False)
class Differences(Mapping[Key, Difference]):
    """The difference of every tensor that both recordings hold, in the order of the first.

    `absent` gives the reason for every key that only one of them holds, or whose shapes are not alike.
    """

    differences: Mapping[Key, Difference]
    absent: Mapping[Key, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("differences", "absent"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __getitem__(self, key: Key) -> Difference:
        if key in self.differences:
            return self.differences[key]
        raise KeyError(self.absent.get(key, f"Neither recording holds {tuple(key)}."))

    def __iter__(self) -> Iterator[Key]:
        return iter(self.differences)

    def __len__(self) -> int:
        return len(self.differences)


@overload
def compare(a: Recording, b: Recording) -> Differences: ...
@overload
def compare(a: Record, b: Record) -> Difference: ...
def compare(a: Recording | Record, b: Recording | Record) -> Differences | Difference:
    """Return the numbers of A − B: one `Difference` for two records, one per key for two recordings.

    Raises `HookViewerError` for two records whose shapes are not alike, or whose values were not kept.
    """
    if isinstance(a, Record) and isinstance(b, Record):
        return between(a.array(), b.array(), a.dtype if a.dtype == b.dtype else None)
    if isinstance(a, Recording) and isinstance(b, Recording):
        return _recordings(a, b)
    raise TypeError("compare takes two recordings or two records")


def difference(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """Return A − B in floating point: float32 for float32 and narrower, else float64 (or complex).

    Where either is NaN, or both are the same infinity, the difference is NaN. Raises `HookViewerError` when
    the shapes are not alike.
    """
    first, second = alike(np.asarray(a), np.asarray(b))
    dtype = np.result_type(_floating(first.dtype), _floating(second.dtype))
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.subtract(first, second, dtype=dtype))


def _floating(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind in "fc":
        return np.dtype(np.float32) if dtype == np.float16 else dtype
    return np.dtype(np.float64)


def _recordings(a: Recording, b: Recording) -> Differences:
    differences: dict[Key, Difference] = {}
    absent = {key: f"Only B holds it; in A: {a.reason(key)}" for key in b if key not in a.records}
    for key in a:
        if key not in b.records:
            absent[key] = f"Only A holds it; in B: {b.reason(key)}"
            continue
        try:
            differences[key] = compare(a.records[key], b.records[key])
        except HookViewerError as error:
            absent[key] = str(error)
    return Differences(differences, absent)


def between(a: npt.ArrayLike, b: npt.ArrayLike, dtype: torch.dtype | None = None) -> Difference:
    """Return the numbers of A − B of two arrays of one shape; ULP are counted in their common `dtype`.

    Raises `HookViewerError` when the shapes are not alike.
    """
    first, second = alike(np.asarray(a), np.asarray(b))
    return of_sums(numbers.all_sums(first, second, dtype), 0)


def of_sums(sums: numbers.Sums, row: int) -> Difference:
    """Return the difference of one row."""
    return Difference(
        cosine=float(numbers.cosine(sums)[row]),
        relative_l2=float(numbers.relative_l2(sums)[row]),
        max_abs=float(numbers.known(sums, sums.largest)[row]),
        max_relative=float(numbers.known(sums, sums.relative)[row]),
        sign_changes=int(sums.signs[row]),
        mean_abs=float(numbers.mean(sums, sums.total)[row]),
        equal=bool(sums.equal[row]),
        not_finite=int(sums.places[row] - sums.finite[row]),
        count=int(sums.finite[row]),
        unlike=int(sums.unlike[row]),
        max_ulp=float(numbers.known(sums, sums.ulp_largest)[row]),
        mean_ulp=float(numbers.mean(sums, sums.ulp_total)[row]),
    )
