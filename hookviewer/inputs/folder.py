"""What in a folder can be opened as an input."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from hookviewer.errors import HookViewerError
from hookviewer.inputs import picture

ARRAYS = frozenset({".npy", ".npz"})
"""Files of arrays. Not .pt and .safetensors, which in a folder are a model's weights more often than not."""


def in_folder(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the pictures and arrays in a folder by the ends of their names, `2.png` before `10.png`.

    Hidden and empty files and folders inside are left out. Raises `HookViewerError` when it cannot be read.
    """
    folder = Path(path).expanduser()
    try:
        with os.scandir(folder) as entries:
            found = [entry.path for entry in entries if _can_be_opened(entry)]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HookViewerError(f"{folder!s:.200} cannot be read as a folder ({reason}): check it.") from None
    return tuple(sorted(found, key=natural))


def spread(specs: Iterable[str]) -> tuple[str, ...]:
    """Return specs of inputs with the files of each folder among them in its place.

    Raises `HookViewerError` where a folder has no picture and no array in it.
    """
    return tuple(one for spec in specs for one in (_files_of(spec) if _is_folder(spec) else (spec,)))


def _is_folder(spec: str) -> bool:
    try:
        return Path(spec).expanduser().is_dir()
    except (OSError, ValueError, RuntimeError):  # a spec of another kind, too long for a name
        return False


def _files_of(folder: str) -> tuple[str, ...]:
    found = in_folder(folder)
    if not found:
        raise HookViewerError(f"{folder:.200} holds no pictures and no arrays: choose another folder.")
    return found


def suffixes() -> frozenset[str]:
    """Return the ends of the names of files that are inputs, with their dots, in small letters."""
    return picture.suffixes() | ARRAYS | {".pt", ".pth", ".safetensors"}


def _can_be_opened(entry: os.DirEntry[str]) -> bool:
    end = Path(entry.name).suffix.lower()
    if entry.name.startswith(".") or end not in picture.suffixes() | ARRAYS:
        return False
    try:
        return entry.is_file() and entry.stat().st_size > 0
    except OSError:  # a link to nothing
        return False


def natural(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """Return what sorts names as people do: numbers by their size, letters without their case."""
    parts = re.findall(r"[0-9]{1,300}|[^0-9]+", name)
    return [
        (0, int(part), "") if part[0] in "0123456789" else (1, 0, part.casefold()) for part in parts
    ], name
