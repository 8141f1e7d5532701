"""The distance of two floating-point numbers in units in the last place."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
import torch


def ulps(a: npt.ArrayLike, b: npt.ArrayLike, dtype: torch.dtype | None = None) -> npt.NDArray[Any] | None:
    """Return how many representable numbers lie between A and B at each place, in float64.

    `dtype` is the type in which they are counted (float16, bfloat16, float32, float64), by itself that of the
    arrays. NaN where either is NaN; +0 and −0 are 0 apart. `None` for types that are not floating.
    """
    raise NotImplementedError
