"""The distance of two floating-point numbers in units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Array = npt.NDArray[Any]

_NUMPY = {torch.float16: np.float16, torch.float32: np.float32, torch.float64: np.float64}
COUNTED = frozenset({*_NUMPY, torch.bfloat16})
"""The types in which ULP are counted."""


def ulps(a: npt.ArrayLike, b: npt.ArrayLike, dtype: torch.dtype | None = None) -> Array | None:
    """Return how many representable numbers B is away from A at each place, in float64.

    `dtype` is the type in which they are counted (float16, bfloat16, float32, float64), by itself that of the
    arrays. NaN where either is NaN; +0 and −0 are 0 apart. `None` for types that are not floating.
    """
    first, second = np.asarray(a), np.asarray(b)
    counted = counted_in(first, second) if dtype is None else dtype
    if counted is None or counted not in COUNTED:
        return None
    one, other = _ranks(first, counted), _ranks(second, counted)
    apart = np.maximum(one, other).view(np.uint64) - np.minimum(one, other).view(np.uint64)
    found = apart.astype(np.float64)
    found[np.isnan(first) | np.isnan(second)] = np.nan
    return found


def counted_in(a: Array, b: Array) -> torch.dtype | None:
    """Return the torch type that two arrays share, `None` where they have none in which ULP are counted."""
    if a.dtype != b.dtype or a.dtype.kind != "f":
        return None
    return {2: torch.float16, 4: torch.float32, 8: torch.float64}.get(a.dtype.itemsize)


def _ranks(values: Array, dtype: torch.dtype) -> npt.NDArray[np.int64]:
    """Return the place of each value in the order of all values of `dtype`, 0 for both zeros."""
    bits = _bits(values, dtype)
    wide = bits.astype(np.int64)
    np.subtract(np.int64(np.iinfo(bits.dtype).min), wide, out=wide, where=bits < 0)
    return wide


def _bits(values: Array, dtype: torch.dtype) -> Array:
    if dtype is not torch.bfloat16:
        own = np.ascontiguousarray(values, _NUMPY[dtype])
        return own.view(f"i{own.itemsize}").reshape(values.shape)
    return torch.from_numpy(np.array(values)).to(dtype).view(torch.int16).numpy()
