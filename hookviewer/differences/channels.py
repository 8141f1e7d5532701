"""The numbers of a difference channel by channel, all channels at once."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from hookviewer.differences.recordings import Difference

Array = npt.NDArray[Any]


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
    def sign_share(self) -> Array:
        """The share of places with opposite signs among the finite ones, 0 to 1 (NaN where there is none)."""
        raise NotImplementedError

    def channel(self, index: int) -> Difference:
        """Return the numbers of one channel."""
        raise NotImplementedError

    def order(self, key: str = "relative_l2") -> npt.NDArray[np.intp]:
        """Return the channels in order, those that differ most first and those without a number last.

        `key` is the name of a number; of cosine, psnr the smallest differ most.
        """
        raise NotImplementedError


def channel_differences(
    a: npt.ArrayLike, b: npt.ArrayLike, *, dtype: torch.dtype | None = None
) -> ChannelDifferences:
    """Return the numbers of A − B for every channel of two arrays [C, H, W] (or [C, anything]) of one shape.

    `dtype` is the common type of the tensors in the model, for the distance in ULP, by itself that of the
    arrays. Raises `HookViewerError` when the shapes are not alike.
    """
    raise NotImplementedError
