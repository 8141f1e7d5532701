"""The file that a spec names, the options behind it, and what a file is when it is not what was hoped for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hookviewer.errors import HookViewerError
from hookviewer.sources import files
from hookviewer.sources.source import split_arguments

LONGEST = 80

_REALLY = {
    "empty": "is empty: download or save it again",
    "lfs": "is a Git LFS pointer, not the file itself: run git lfs pull",
    "html": "is a web page, not a {what}: download the file itself",
    "safetensors": "is a file of tensors (safetensors), not a {what}: give it that ending",
    "torch": "is a file of torch or a pickle, not a {what}: nothing in it was run",
    "torchscript": "is a TorchScript program, not a {what}: nothing in it was run",
    "exported": "is a program saved by torch.export, not a {what}: nothing in it was run",
    "zip": "is a zip archive, not a {what}: unpack it first",
    "compressed": "is a compressed archive, not a {what}: unpack it first",
    "hdf5": "is an HDF5 file, not a {what}: save the array with numpy.save",
}


def file_and_options(spec: str) -> tuple[Path, dict[str, Any]]:
    """Return the file that `spec` names and the options behind its question mark.

    A file may have a question mark in its name. Raises `HookViewerError` when there is no such file.
    """
    if "://" in spec[:12]:
        raise HookViewerError(f"{spec:.200} is an address: download the file, then give its name.")
    if "?" not in spec or _is_file(spec):
        return files.existing(spec), {}
    place, options = split_arguments(spec)
    return files.existing(place), options


def _is_file(spec: str) -> bool:
    try:
        return Path(spec).expanduser().is_file()
    except (OSError, ValueError):
        return False


def stem(path: Path) -> str:
    """Return a file's name without its end, as text that can be shown and written anywhere."""
    plain = path.stem.encode("utf-8", "replace").decode("utf-8")
    shown = "".join(one if one.isprintable() else "�" for one in plain)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def explained(path: Path, what: str, otherwise: str) -> str:
    """Return the sentence that says what a file is that is no `what`."""
    really = _REALLY.get(files.kind(path))
    if really is not None:
        return f"{path} {really.format(what=what)}."
    return f"{path} is no {what} that can be read: {otherwise}."
