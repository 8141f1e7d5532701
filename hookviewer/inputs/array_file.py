"""Inputs from .npy files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs.input import Input, InputSource
from hookviewer.sources.files import existing


class ArrayFile(InputSource):
    """`batch.npy`: one array, given to the model as it is."""

    rank = 30

    def accepts(self, spec: str) -> bool:
        return spec.lower().endswith(".npy")

    def open(self, spec: str, model: nn.Module | None) -> Input:
        path = existing(spec)
        return Input(path.stem, (to_tensor(read(path), str(path)),), spec=spec)


def read(path: Path) -> npt.NDArray[Any]:
    """Return the array in a .npy file; raise a sentence when it is damaged or holds Python objects."""
    try:
        # the header is checked against the size of the file before any memory is asked for
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # what a damaged header makes of numpy is nowhere stated
        objects = "Object arrays" in str(error) or "Python objects" in str(error)
        reason = "holds Python objects" if objects else "is damaged, cut off, or something else"
        raise HookViewerError(f"{path} is no plain array (it {reason}): save one with numpy.save.") from error
    return np.array(mapped)


def to_tensor(array: npt.NDArray[Any], name: str) -> torch.Tensor:
    """Return an own tensor with the values of `array`; 64-bit floats become 32-bit, as networks have them."""
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    try:
        return torch.tensor(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("="), copy=False))
    except TypeError:
        raise HookViewerError(
            f"{name} has values of type {array.dtype}, which torch does not know."
        ) from None
