"""The distance of two floating-point numbers in units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Array = npt.NDArray[Any]

_BITS = {torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32}
_BITS[torch.float64] = torch.int64


def ulps(a: npt.ArrayLike, b: npt.ArrayLike, dtype: torch.dtype | None = None) -> Array | None:
    """Return how many representable numbers B is away from A at each place, in float64.

    `dtype` is the type in which they are counted (float16, bfloat16, float32, float64), by itself that of the
    arrays. NaN where either is NaN; +0 and −0 are 0 apart. `None` for types that are not floating.
    """
    first, second = np.asarray(a), np.asarray(b)
    counted = counted_in(first, second) if dtype is None else dtype
    if counted not in _BITS:
        return None
    one, other = _ranks(first, counted), _ranks(second, counted)
    apart = np.maximum(one, other).view(np.uint64) - np.minimum(one, other).view(np.uint64)
    unknown = np.isnan(first) | np.isnan(second)
    return np.where(unknown, np.nan, apart.astype(np.float64))


def counted_in(a: Array, b: Array) -> torch.dtype | None:
    """Return the torch type that two arrays share, `None` where they have none in which ULP are counted."""
    if a.dtype != b.dtype or a.dtype.kind != "f":
        return None
    return {2: torch.float16, 4: torch.float32, 8: torch.float64}.get(a.dtype.itemsize)


def _ranks(values: Array, dtype: torch.dtype) -> npt.NDArray[np.int64]:
    """Return the place of each value in the order of all values of `dtype`, 0 for both zeros."""
    bits = torch.from_numpy(np.array(values)).to(dtype).view(_BITS[dtype]).numpy()
    wide = bits.astype(np.int64)
    return np.where(bits < 0, np.int64(np.iinfo(bits.dtype).min) - wide, wide)
