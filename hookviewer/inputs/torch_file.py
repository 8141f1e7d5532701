"""Tensors saved by torch.save: loaded without running anything, and none of them larger than its file."""

from __future__ import annotations

import pickle
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from hookviewer.errors import HookViewerError
from hookviewer.inputs.entries import MOST, Entry, TensorFile, chosen, too_many_bytes
from hookviewer.inputs.places import explained
from hookviewer.sources import files
from hookviewer.sources.calling import told

DEPTH = 8
"""Dictionaries and lists inside each other that are looked through."""

REPEATED = 256 << 20
"""Bytes up to which a tensor may be larger than what is stored of it."""

SAFE = (2, 10)
"""The first torch whose `weights_only` cannot be made to run code (CVE-2026-24747)."""


class TorchFile(TensorFile):
    """`batch.pt`, `batch.pt?entry=x`: a tensor, or one of a dictionary or list of tensors."""

    rank = 32
    endings = (".pt", ".pth")

    def entries(self, path: Path) -> tuple[Entry, ...]:
        return tuple(
            Entry(name, tuple(one.shape), str(one.dtype).removeprefix("torch."))
            for name, one in _tensors(load(path))
        )

    def read(self, path: Path, entry: str) -> torch.Tensor:
        found = dict(_tensors(load(path)))
        name = chosen(path, list(found), entry)
        return _plain(found[name], f"{name} in {path}" if name else str(path))


def load(path: Path) -> Any:
    """Return what torch.save wrote, on the CPU; nothing in the file is run.

    Raises `HookViewerError` for files that hold more than tensors, are no such file, or are damaged.
    """
    _check(path)
    try:
        return torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except pickle.UnpicklingError:
        raise HookViewerError(
            f"{path} holds Python objects, not only tensors, and loading it could run code from it: "
            "save the tensor alone, with torch.save(x.cpu(), …)."
        ) from None
    except Exception as error:  # what a damaged file makes of torch.load is nowhere stated
        raise HookViewerError(f"{path} is damaged or cut off ({told(error):.200}): save it again.") from error


def _check(path: Path) -> None:
    version = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
    if version < SAFE:
        raise HookViewerError(
            f"torch {torch.__version__} can be made to run code by a .pt file (CVE-2026-24747): "
            "update to torch 2.10, or give a .npy or .safetensors file."
        )
    if files.kind(path) != "torch":
        raise HookViewerError(explained(path, "file of tensors", "save one with torch.save"))
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            total = sum(one.file_size for one in archive.infolist())
        size = path.stat().st_size
        if total > 1.01 * size + (1 << 20):
            raise HookViewerError(
                f"{path} claims {total:,} bytes in a file of {size:,}, as an attack does: save it again."
            )


def _tensors(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors inside dictionaries and lists: `x`, `batch.x`, `batch.0`."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif depth < DEPTH and isinstance(value, Mapping | list | tuple):
        parts = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, one in parts:
            yield from _tensors(one, f"{name}.{key}" if name else str(key), depth + 1)


def _plain(tensor: torch.Tensor, what: str) -> torch.Tensor:
    """Return an own dense tensor; a small storage may claim to be a huge tensor."""
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
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
