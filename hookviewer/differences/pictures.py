"""How alike maps look: PSNR and SSIM, channel by channel."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]


def psnr(a: npt.ArrayLike, b: npt.ArrayLike, *, data_range: float | None = None) -> Array:
    """Return the peak signal-to-noise ratio in dB of every channel [C] of maps [C, H, W].

    10·log10(data_range² / mean (A − B)²), infinite where A equals B. `data_range` is by itself the largest
    minus the smallest finite value of A in all channels; where A is constant, the ratio is NaN (infinite
    where equal). Places where either is not finite are left out.
    """
    raise NotImplementedError


def ssim(a: npt.ArrayLike, b: npt.ArrayLike, *, data_range: float | None = None) -> Array:
    """Return the mean structural similarity of every channel [C] of maps [C, H, W], −1 to 1.

    Wang, Bovik, Sheikh and Simoncelli 2004, with a uniform window of 7 × 7 and K = (0.01, 0.03), over the
    windows that lie inside. Maps under 7 cells have the largest odd window that fits. NaN for maps under 3
    cells, for constant A without a `data_range`, and for a channel with a value that is not finite.
    """
    raise NotImplementedError
