"""The numbers of a difference channel by channel, all channels at once."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from hookviewer.differences import numbers
from hookviewer.differences.pictures import range_of, ratio
from hookviewer.differences.recordings import Difference
from hookviewer.differences.ulp import counted_in

Array = npt.NDArray[Any]

_SMALL_IS_FAR = ("cosine", "psnr", "equal")
"""Numbers that are small where A and B are far apart."""


@dataclasses.dataclass(frozen=True, eq=False)
class ChannelDifferences:
    """The numbers of `Difference`, each as an array [C] with one entry per channel.

    `psnr` is the peak signal-to-noise ratio in dB (see `differences.psnr`). `max_ulp` and `mean_ulp` are NaN
    where the types differ or are not floating.
    """

    cosine: Array
    relative_l2: Array
    max_abs: Array
    mean_abs: Array
    max_relative: Array
    sign_changes: Array
    count: Array
    not_finite: Array
    unlike: Array
    equal: Array
    max_ulp: Array
    mean_ulp: Array
    psnr: Array

    @property
    def without_ulp(self) -> ChannelDifferences:
        """The same numbers for values of two types, between which no steps of one type lie."""
        none = np.full(self.cosine.shape, math.nan)
        return dataclasses.replace(self, max_ulp=none, mean_ulp=none)

    @property
    def sign_share(self) -> Array:
        """The share of places with opposite signs among the finite ones, 0 to 1 (NaN where there is none)."""
        return np.where(self.count > 0, self.sign_changes / np.maximum(self.count, 1), np.nan)

    def channel(self, index: int) -> Difference:
        """Return the numbers of one channel."""
        names = [field.name for field in dataclasses.fields(Difference)]
        return Difference(**{name: getattr(self, name)[index].item() for name in names})

    def order(self, key: str = "relative_l2") -> npt.NDArray[np.intp]:
        """Return the channels in order, those that differ most first and those without a number last.

        `key` is the name of a number; of cosine and psnr the smallest differ most.
        """
        column = np.asarray(getattr(self, key), np.float64)
        far = column if key in _SMALL_IS_FAR else -column
        return np.argsort(np.where(np.isnan(far), np.inf, far), kind="stable")


def channel_differences(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    dtype: torch.dtype | None = None,
    data_range: float | None = None,
) -> ChannelDifferences:
    """Return the numbers of A − B for every channel of two arrays [C, H, W] (or [C, anything]) of one shape.

    `dtype` is the common type of the tensors in the model, for the distance in ULP, by itself that of the
    arrays; `data_range` that of PSNR, by itself the range of A. Raises `HookViewerError` when the shapes are
    not alike.
    """
    first, second = numbers.alike(np.asarray(a), np.asarray(b))
    counted = counted_in(first, second) if dtype is None else dtype
    flat = (len(first), math.prod(first.shape[1:]))
    reach = range_of(first) if data_range is None else data_range
    return _of(numbers.row_sums(first.reshape(flat), second.reshape(flat), counted), reach)


def _of(sums: numbers.Sums, data_range: float) -> ChannelDifferences:
    return ChannelDifferences(
        cosine=numbers.cosine(sums),
        relative_l2=numbers.relative_l2(sums),
        max_abs=numbers.known(sums, sums.largest),
        mean_abs=numbers.mean(sums, sums.total),
        max_relative=numbers.known(sums, sums.relative),
        sign_changes=sums.signs,
        count=sums.finite,
        not_finite=sums.places - sums.finite,
        unlike=sums.unlike,
        equal=sums.equal,
        max_ulp=numbers.known(sums, sums.ulp_largest),
        mean_ulp=numbers.mean(sums, sums.ulp_total),
        psnr=ratio(numbers.mean(sums, sums.squares), data_range),
    )
