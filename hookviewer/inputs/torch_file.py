"""Tensors saved by torch.save: loaded without running anything, and none of them larger than its file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hookviewer.errors import HookViewerError
from hookviewer.inputs.array_file import to_tensor
from hookviewer.inputs.entries import MOST, Entry, TensorFile, chosen, too_many_bytes
from hookviewer.inputs.places import explained
from hookviewer.sources import files, torch_file
from hookviewer.sources.decisions import TrustNeeded
from hookviewer.sources.wording import shown

DEPTH = 8
"""Dictionaries and lists inside each other that are looked through."""

REPEATED = 256 << 20
"""Bytes up to which a tensor may be larger than what is stored of it."""


class TorchFile(TensorFile):
    """`batch.pt`, `batch.pt?entry=x`: a tensor, or one of a dictionary or list of tensors."""

    rank = 32
    endings = (".pt", ".pth")

    def entries(self, path: Path) -> tuple[Entry, ...]:
        return tuple(
            Entry(name, tuple(one.shape), str(one.dtype).removeprefix("torch."))
            for name, one in _tensors(_loaded(path, data=False))
        )

    def read(self, path: Path, entry: str) -> torch.Tensor:
        found = dict(_tensors(_loaded(path, data=True)))
        name = chosen(path, list(found), entry)
        what = f"{shown(name)} in {shown(path, 300)}" if name else shown(path, 300)
        one = found[name]
        return to_tensor(one, what) if isinstance(one, np.ndarray) else _plain(one, what)


def _loaded(path: Path, *, data: bool) -> Any:
    if files.kind(path) not in ("torch", "old torch"):
        raise HookViewerError(explained(path, "file of tensors", "save one with torch.save"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that checking a sparse tensor takes time
            return torch_file.load(path, data=data).content
    except TrustNeeded:  # nobody is asked: an input needs no program
        raise HookViewerError(
            f"{shown(path, 300)} holds Python objects, not only tensors, and loading it could run code from "
            "it: save the tensor alone, with torch.save(x.cpu(), …)."
        ) from None


def _tensors(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the tensors and arrays inside dictionaries and lists: `x`, `batch.x`, `batch.0`."""
    if isinstance(value, torch.Tensor | np.ndarray):
        yield name, value
    elif depth < DEPTH and isinstance(value, Mapping | list | tuple):
        parts = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, one in parts:
            if isinstance(key, str | int):
                yield from _tensors(one, f"{name}.{key}" if name else str(key), depth + 1)


def _plain(tensor: torch.Tensor, what: str) -> torch.Tensor:
    """Return an own dense tensor; a small storage may claim to be a huge tensor."""
    if tensor.layout != torch.strided or tensor.is_quantized:
        kind = "quantized" if tensor.is_quantized else str(tensor.layout).removeprefix("torch.")
        raise HookViewerError(f"{what} is {kind}: save it dense, with .to_dense() or .dequantize().")
    needed = tensor.numel() * tensor.element_size()
    stored = tensor.untyped_storage().nbytes()
    if needed > MOST:
        raise too_many_bytes(what, needed)
    if needed > max(stored, REPEATED):
        raise HookViewerError(
            f"{what} repeats {stored:,} bytes to {needed:,}: save a small one and repeat it in the model."
        )
    return tensor.detach().clone(memory_format=torch.contiguous_format)
