"""Reading .safetensors files, and the index of a model that is stored in several."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from hookviewer.errors import HookViewerError
from hookviewer.sources import files
from hookviewer.sources.wording import shown

HEADER = 25 << 20
"""Bytes of the largest header that is read: 100,000 tensors take half of it."""

INDEX = 32 << 20

Reader = Callable[[Path, bool], Mapping[str, Any]]


def read(path: Path, data: bool) -> dict[str, torch.Tensor]:
    """Return the tensors of a file; without `data` they have shapes only."""
    from safetensors import safe_open

    _check_header(path)
    try:
        with safe_open(path, framework="pt") as opened:
            if data:
                return {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
            return {name: _shape_only(opened.get_slice(name)) for name in opened.keys()}  # noqa: SIM118
    except Exception as error:  # what a damaged header makes of the library is nowhere stated
        reason = shown(" ".join(str(error).split()), 200)
        raise HookViewerError(
            f"{shown(path, 300)} is a damaged safetensors file ({reason}): download it again."
        ) from None


def _check_header(path: Path) -> None:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if length > HEADER:
        raise HookViewerError(
            f"{shown(path, 300)} is a damaged safetensors file (its header states {length:,} bytes): "
            "download it again."
        )


def _shape_only(part: Any) -> torch.Tensor:
    return torch.empty(part.get_shape(), device="meta")


def read_index(path: Path, read_torch: Reader, data: bool) -> dict[str, Any]:
    """Return the tensors of all files that an index names; they must lie beside it."""
    places = _weight_map(path)
    values: dict[str, Any] = {}
    for name in sorted(set(places.values())):
        shard = files.existing(path.parent / name)
        kind = files.usable_kind(shard)
        values |= read(shard, data) if kind == "safetensors" else read_torch(shard, data)
    lacking = [name for name in places if name not in values]
    if lacking:
        raise HookViewerError(
            f"{shown(path, 300)} names {shown(lacking[0])}, which {shown(places[lacking[0]])} does not hold: "
            "download the files again."
        )
    return {name: values[name] for name in places}


def _weight_map(path: Path) -> dict[str, str]:
    if path.stat().st_size > INDEX:
        raise HookViewerError(f"{shown(path, 300)} is too large for an index of weights: download it again.")
    try:
        content: Any = json.loads(path.read_bytes())
        places = content["weight_map"]
        checked = {str(name): str(file) for name, file in places.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise HookViewerError(
            f"{shown(path, 300)} is no index of weights (it has no weight_map): download it again."
        ) from None
    for file in checked.values():
        if not file or Path(file).name != file or "\\" in file or "\0" in file:
            raise HookViewerError(
                f"{shown(path, 300)} names {shown(file)!r}, which does not lie beside it: it is not opened."
            )
    return checked
