"""How far two tensors, or two whole recordings, lie apart, in numbers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key
from hookviewer.recording import Record, Recording

Array = npt.NDArray[Any]

_BLOCK = 1 << 18


@dataclasses.dataclass(frozen=True)
class Difference:
    """Numbers about A − B, over all places where both values are finite.

    `cosine` is the cosine of the angle between A and B (NaN when one is zero everywhere), `relative_l2` is
    |A − B| / |A| in the L2 norm (infinite when only A is zero everywhere), `max_abs` and `mean_abs` are of
    |A − B|, `max_relative` is the largest |A − B| / max(|A|, |B|), `sign_changes` counts places where A and B
    have opposite signs, `not_finite` those left out. `equal`: every value is the same, NaN where NaN.
    """

    cosine: float
    relative_l2: float
    max_abs: float
    max_relative: float
    sign_changes: int
    mean_abs: float
    equal: bool
    not_finite: int = 0


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
        return _between(*_alike(a.array(), b.array()))
    if isinstance(a, Recording) and isinstance(b, Recording):
        return _recordings(a, b)
    raise TypeError("compare takes two recordings or two records")


def difference(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """Return A − B in floating point: float32 for float32 and narrower, else float64 (or complex).

    Where either is NaN, or both are the same infinity, the difference is NaN. Raises `HookViewerError` when
    the shapes are not alike.
    """
    first, second = _alike(np.asarray(a), np.asarray(b))
    dtype = np.result_type(_floating(first.dtype), _floating(second.dtype))
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.subtract(first, second, dtype=dtype))


def _floating(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind in "fc":
        return np.dtype(np.float32) if dtype == np.float16 else dtype
    return np.dtype(np.float64)


def _alike(a: Array, b: Array) -> tuple[Array, Array]:
    if a.shape != b.shape:
        raise HookViewerError(_unlike(a.shape, b.shape))
    return a, b


def _unlike(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    sizes = ["×".join(map(str, shape)) or "a single number" for shape in (a, b)]
    return (
        f"A is {sizes[0]} and B is {sizes[1]}: only tensors of one shape can be compared, "
        "give both runs inputs of one size."
    )


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


@dataclasses.dataclass
class _Sums:
    product: float = 0.0
    squares_a: float = 0.0
    squares_b: float = 0.0
    squares: float = 0.0
    total: float = 0.0
    largest: float = 0.0
    relative: float = 0.0
    signs: int = 0
    finite: int = 0
    equal: bool = True


def _between(a: Array, b: Array) -> Difference:
    first, second = a.reshape(-1), b.reshape(-1)
    sums = _Sums()
    for start in range(0, first.size, _BLOCK):
        _add(sums, first[start : start + _BLOCK], second[start : start + _BLOCK])
    none = sums.finite == 0
    return Difference(
        cosine=_cosine(sums),
        relative_l2=math.nan if none else _ratio(math.sqrt(sums.squares), math.sqrt(sums.squares_a)),
        max_abs=math.nan if none else sums.largest,
        max_relative=math.nan if none else sums.relative,
        sign_changes=sums.signs,
        mean_abs=math.nan if none else sums.total / sums.finite,
        equal=sums.equal,
        not_finite=first.size - sums.finite,
    )


def _add(sums: _Sums, a: Array, b: Array) -> None:
    sums.equal = sums.equal and _same(a, b)
    a, b = _wide(a), _wide(b)
    finite = np.isfinite(a) & np.isfinite(b)
    if not finite.all():
        a, b = a[finite], b[finite]
    if not a.size:
        return
    gap = np.abs(a - b)
    size = np.maximum(np.abs(a), np.abs(b))
    sums.finite += a.size
    sums.product += float(np.vdot(b, a).real)
    sums.squares_a += float(np.vdot(a, a).real)
    sums.squares_b += float(np.vdot(b, b).real)
    sums.squares += float(gap @ gap)
    sums.total += float(gap.sum())
    sums.largest = max(sums.largest, float(gap.max()))
    sums.relative = max(
        sums.relative, float(np.divide(gap, size, where=size > 0, out=np.zeros_like(gap)).max())
    )
    sums.signs += int(np.count_nonzero(np.sign(a.real) * np.sign(b.real) < 0))


def _same(a: Array, b: Array) -> bool:
    number = a.dtype.kind in "fc" and b.dtype.kind in "fc"
    return np.array_equal(a, b, equal_nan=number)


def _wide(values: Array) -> Array:
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def _cosine(sums: _Sums) -> float:
    size = math.sqrt(sums.squares_a) * math.sqrt(sums.squares_b)
    return min(max(sums.product / size, -1.0), 1.0) if size > 0 else math.nan


def _ratio(numerator: float, denominator: float) -> float:
    if denominator > 0:
        return numerator / denominator
    return math.inf if numerator > 0 else 0.0
