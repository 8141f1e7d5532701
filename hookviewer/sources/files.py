"""What a file is, told from its first bytes, before anything tries to load it."""

from __future__ import annotations

import zipfile
from pathlib import Path

from hookviewer.errors import HookViewerError


def existing(name: str | Path) -> Path:
    """Return the path of a file that is there; raise a sentence for one that is not, or that is a folder."""
    path = Path(name).expanduser()
    try:
        if path.is_dir():
            raise HookViewerError(f"{path} is a folder: name a file in it.")
        if path.is_file():
            return path
    except (OSError, ValueError) as error:
        raise HookViewerError(f"{name!s:.200} cannot be opened ({error}): check the name.") from None
    raise HookViewerError(f"There is no file {path}: check the name and the folder.")


def kind(path: Path) -> str:
    """Return what a file is: safetensors, torch, torchscript, exported, or a key of `TROUBLE`."""
    with path.open("rb") as file:
        head = file.read(256)
    if not head:
        return "empty"
    if head.startswith(b"version https://git-lfs"):
        return "lfs"
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html", b"<?xml")):
        return "html"
    if head.startswith(b"PK"):
        return _archive(path)
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 100_000_000:
        return "safetensors"
    if head.startswith(b"\x80"):
        return "torch"
    return "hdf5" if head.startswith(b"\x89HDF") else "unknown"


def _archive(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return "truncated"
    names = {entry.filename.partition("/")[2] for entry in entries} | {entry.filename for entry in entries}
    if names & {"archive_format", "serialized_exported_program.json"} or any(
        n.startswith("models/") for n in names
    ):
        return "exported"
    if "constants.pkl" in names or any(name.startswith("code/") for name in names):
        return "torchscript"
    if "data.pkl" not in names:
        return "zip"
    stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
    return "torch" if stored else "compressed"


TROUBLE = {
    "empty": "is empty: download or save it again.",
    "lfs": "is a Git LFS pointer, not the file itself: run git lfs pull.",
    "html": "is a web page, not a file of weights: download the file itself.",
    "truncated": "is cut off or damaged: download or save it again.",
    "compressed": "is a compressed archive, which torch never writes: it is not opened. Unpack it first.",
    "zip": "is a zip archive without tensors of torch: unpack it first.",
    "hdf5": "is an HDF5 file, as Keras writes it: convert it to safetensors.",
    "unknown": "is no file of weights that can be read: give .safetensors, or .pt with a state dict.",
}


def weights_kind(path: Path) -> str:
    """Return `safetensors` or `torch`; raise a sentence for every other kind of file."""
    found = kind(path)
    if found in TROUBLE:
        raise HookViewerError(f"{path} {TROUBLE[found]}")
    if found == "torchscript":
        raise HookViewerError(
            f"{path} is TorchScript, which cannot carry hooks: give the state dict of its Python class."
        )
    if found == "exported":
        raise HookViewerError(
            f"{path} is a program saved by torch.export, which is not opened yet: give the Python class."
        )
    return found
