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
from hookviewer.sources.safetensors_file import HEADER
from hookviewer.sources.wording import shown


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
                raise too_many_bytes(f"{shown(name)} in {shown(path, 300)}", min(prod(shape), size))
            tensor: torch.Tensor = file.get_tensor(name)
            return tensor.clone()


def _entry(file: Any, name: str) -> Entry:
    part = file.get_slice(name)
    return Entry(name, tuple(part.get_shape()), str(part.get_dtype()).lower())


def _check_header(path: Path) -> None:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if length > min(HEADER, path.stat().st_size):
        raise HookViewerError(
            f"{shown(path, 300)} is a damaged safetensors file (its header states {length:,} bytes): save it "
            "again."
        )


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    from safetensors import safe_open

    if files.kind(path) != "safetensors":
        raise HookViewerError(explained(path, "safetensors file", "it may be cut off, save it again"))
    _check_header(path)
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            yield file
    except HookViewerError:
        raise
    except Exception as error:  # what a damaged header makes of the library is nowhere stated
        reason = shown(" ".join(str(error).split()), 200)
        raise HookViewerError(
            f"{shown(path, 300)} is a damaged safetensors file ({reason}): save it again."
        ) from None
