"""The file that a spec names, the options behind it, and what a file is when it is not what was hoped for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hookviewer.errors import HookViewerError
from hookviewer.sources import files
from hookviewer.sources.source import split_arguments
from hookviewer.sources.wording import shown

LONGEST = 80

_REALLY = {
    "empty": "is empty: download or save it again",
    "lfs": "is a Git LFS pointer, not the file itself: run git lfs pull",
    "html": "is a web page, not a {what}: download the file itself",
    "text": "is text, not a {what}: check the name",
    "safetensors": "is a file of tensors (safetensors), not a {what}: give it that ending",
    "torch": "is a file of torch.save, not a {what}: give it the ending .pt",
    "old torch": "is a file of torch.save, not a {what}: give it the ending .pt",
    "pickle": "is a pickle, not a {what}, and nothing in it was run: save plain numbers",
    "torchscript": "is a TorchScript program, not a {what}, and nothing in it was run: check the name",
    "exported": "is a program saved by torch.export, not a {what}, and nothing in it was run: check the name",
    "array": "is an array of numpy, not a {what}: give it the ending .npy",
    "picture": "is a picture, not a {what}: give it the ending of its kind",
    "zip": "is a zip archive, not a {what}: unpack it first",
    "compressed": "is a compressed archive, not a {what}: unpack it first",
    "crowded": "is an archive of too many members, not a {what}: unpack it first",
    "locked": "is an archive with a password, not a {what}: unpack it first",
    "outside": "is an archive with names that lead out of it, not a {what}: it is not opened",
    "tar": "is a tar archive, not a {what}: unpack it first",
    "packed": "is a compressed file, not a {what}: unpack it first",
    "hdf5": "is an HDF5 file, not a {what}: save the array with numpy.save",
}


def file_and_options(spec: str) -> tuple[Path, dict[str, Any]]:
    """Return the file that `spec` names and the options behind its question mark.

    A file may have a question mark in its name. Raises `HookViewerError` when there is no such file.
    """
    if "://" in spec[:12]:
        raise HookViewerError(f"{shown(spec, 300)} is an address: download the file, then give its name.")
    if "?" not in spec or _is_file(spec):
        return files.existing(spec), {}
    place, options = split_arguments(spec)
    return files.existing(place), options


def _is_file(spec: str) -> bool:
    try:
        return Path(spec).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def stem(path: Path) -> str:
    """Return a file's name without its end, as text that can be shown and written anywhere."""
    return shown(path.stem, LONGEST)


def explained(path: Path, what: str, otherwise: str) -> str:
    """Return the sentence that says what a file is that is no `what`."""
    kind = files.kind(path)
    if kind == what:
        return f"{shown(path, 300)} is a {what} that is damaged, cut off or of a rare kind: save it again."
    really = _REALLY.get(kind)
    if really is not None:
        return f"{shown(path, 300)} {really.format(what=what)}."
    return f"{shown(path, 300)} is no {what} that can be read: {otherwise}."
