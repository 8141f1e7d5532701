"""Tensors in .safetensors files, which can hold nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import torch

from hookviewer.errors import HookViewerError
from hookviewer.inputs.entries import MOST, Entry, TensorFile, chosen, too_many_bytes
from hookviewer.inputs.places import explained
from hookviewer.sources import files


class SafetensorsFile(TensorFile):
    """`batch.safetensors?entry=x`: one tensor of several."""

    rank = 33
    endings = (".safetensors",)

    def entries(self, path: Path) -> tuple[Entry, ...]:
        with _opened(path) as file:
            return tuple(_entry(file, name) for name in file.keys())  # noqa: SIM118

    def read(self, path: Path, entry: str) -> torch.Tensor:
        with _opened(path) as file:
            name = chosen(path, list(file.keys()), entry)
            shape, size = file.get_slice(name).get_shape(), path.stat().st_size
            if min(prod(shape), size) > MOST:
                raise too_many_bytes(f"{name} in {path}", min(prod(shape), size))
            tensor: torch.Tensor = file.get_tensor(name)
            return tensor.clone()


def _entry(file: Any, name: str) -> Entry:
    part = file.get_slice(name)
    return Entry(name, tuple(part.get_shape()), str(part.get_dtype()).lower())


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    from safetensors import SafetensorError, safe_open

    if files.kind(path) != "safetensors":
        raise HookViewerError(explained(path, "safetensors file", "it may be cut off, save it again"))
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            yield file
    except SafetensorError as error:
        raise HookViewerError(
            f"{path} is a damaged safetensors file ({error!s:.200}): save it again."
        ) from None
