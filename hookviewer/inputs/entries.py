"""Files that hold tensors, one or several by name."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs import options as reading
from hookviewer.inputs import shapes
from hookviewer.inputs.input import Input, InputSource, samples
from hookviewer.inputs.lacking import EntryNeeded
from hookviewer.inputs.places import file_and_options, stem
from hookviewer.sources.nearby import nearby
from hookviewer.sources.wording import shown, some

MOST = 4 << 30
"""Bytes of the largest tensor that is read as an input."""

LAYOUTS = ("fit", "keep")
"""Whether a tensor's axes are put as the model takes them (`fitting`), or stay as they are in the file."""

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64")


@dataclasses.dataclass(frozen=True)
class Entry:
    """A tensor in a file: its name, shape and type, as far as the file says them without being read."""

    name: str
    shape: tuple[int, ...]
    dtype: str


class TensorFile(InputSource):
    """A kind of file of tensors; `endings` are those of its names."""

    endings: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def entries(self, path: Path) -> tuple[Entry, ...]:
        """Return what is in the file, in its order."""

    @abstractmethod
    def read(self, path: Path, entry: str) -> torch.Tensor:
        """Return one tensor; `""` is the only one."""

    def accepts(self, spec: str) -> bool:
        return any(part.lower().endswith(self.endings) for part in (spec, spec.partition("?")[0]))

    def open(self, spec: str, model: nn.Module | None) -> Input:
        path, options = file_and_options(spec)
        for name in options:
            reading.check(name, ("entry", "dtype", "layout"), "A file of tensors")
        reading.one_of(LAYOUTS)("layout", options.get("layout", LAYOUTS[0]))
        entry = str(options.get("entry", ""))
        tensor = self.read(path, entry)
        if "dtype" in options:
            tensor = tensor.to(getattr(torch, reading.one_of(DTYPES)("dtype", options["dtype"])))
        name = f"{stem(path)} {entry}".strip()
        return Input(name, (tensor,), spec=spec, batch=batch_of(tensor, model))


def batch_of(tensor: torch.Tensor, model: nn.Module | None) -> int:
    """Return how many samples a tensor holds: its rows, or 1 where `model` takes one axis more."""
    try:
        axes = len(shapes.expected(model).shape) if model is not None else 0
    except HookViewerError:
        axes = 0
    return 1 if tensor.ndim + 1 == axes else samples((tensor,))


def chosen(path: Path, names: Sequence[str], entry: str) -> str:
    """Return the entry asked for, or the only one; raise a sentence that lists them when it is not clear."""
    if entry in names:
        return entry
    if not names:
        raise HookViewerError(f"{shown(path, 300)} holds no tensor: save at least one in it.")
    if entry:
        raise HookViewerError(
            f"{shown(path, 300)} has no entry {shown(entry)!r}: {nearby(entry, map(shown, names))}."
        )
    if len(names) > 1:
        raise EntryNeeded(
            f"{shown(path, 300)} holds {len(names)} tensors ({some(names, 8)}): "
            f"choose one with ?entry={quote(shown(names[0]))}.",
            {name: f"{path}?entry={quote(name)}" for name in names},
        )
    return names[0]


def too_many_bytes(what: str, needed: int) -> HookViewerError:
    """Return the error for a tensor that would take too much memory."""
    return HookViewerError(
        f"{what} takes {needed / 2**30:.1f} GB, more than the {MOST >> 30} GB of an input: save a part of it."
    )
