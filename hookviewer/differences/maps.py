"""Two layers as maps: the numbers of every channel, and how alike the maps look."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from hookviewer.differences import numbers
from hookviewer.differences.channels import ChannelDifferences, channel_differences
from hookviewer.differences.pictures import psnr, range_of, ssim
from hookviewer.errors import Cancelled

Array = npt.NDArray[Any]

_AT_ONCE = 1 << 20
"""Values that are compared between two looks at whether to go on."""


@dataclasses.dataclass(frozen=True, eq=False)
class MapDifferences:
    """The numbers of A − B of every channel, and of all of them together.

    PSNR and SSIM are relative to one range, that of A in all channels. `ssim` [C] is NaN where a channel has
    none (see `differences.ssim`); `layer_psnr` is of all places together, `layer_ssim` the mean of `ssim`
    over the channels that have one.
    """

    channels: ChannelDifferences
    ssim: Array
    layer_psnr: float
    layer_ssim: float


def map_differences(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    dtypes: tuple[torch.dtype, torch.dtype] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> MapDifferences:
    """Return the numbers of two arrays of maps [C, H, W] of one shape.

    `dtypes` are the types of the tensors in the model, by themselves those of the arrays: only where they are
    the same is there a distance in ULP. Raises `HookViewerError` when the shapes are not alike, `Cancelled`
    soon after `cancelled` says so.
    """
    first, second = numbers.alike(np.asarray(a), np.asarray(b))
    reach = range_of(first)
    step = max(1, _AT_ONCE // max(math.prod(first.shape[1:]), 1))
    parts = []
    for start in range(0, max(len(first), 1), step):
        if cancelled is not None and cancelled():
            raise Cancelled
        some = slice(start, start + step)
        parts.append(_part(first[some], second[some], dtypes, reach))
    likeness = np.concatenate([one for _, one in parts])
    known = likeness[np.isfinite(likeness)]
    return MapDifferences(
        _joined([one for one, _ in parts]),
        likeness,
        float(psnr(first[None], second[None], data_range=reach)[0]),
        float(known.mean()) if known.size else math.nan,
    )


def _part(
    a: Array, b: Array, dtypes: tuple[torch.dtype, torch.dtype] | None, reach: float
) -> tuple[ChannelDifferences, Array]:
    dtype = None if dtypes is None else dtypes[0]
    found = channel_differences(a, b, dtype=dtype, data_range=reach)
    if dtypes is not None and dtypes[0] != dtypes[1]:
        found = found.without_ulp
    real = a.ndim == 3 and a.dtype.kind != "c"
    return found, ssim(a, b, data_range=reach) if real else np.full(len(a), math.nan)


def _joined(parts: list[ChannelDifferences]) -> ChannelDifferences:
    names = [field.name for field in dataclasses.fields(ChannelDifferences)]
    return ChannelDifferences(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    )
