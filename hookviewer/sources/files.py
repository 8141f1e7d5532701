"""What a file is, told from its first bytes, before anything tries to load it."""

from __future__ import annotations

from pathlib import Path

from hookviewer.errors import HookViewerError
from hookviewer.sources import archives
from hookviewer.sources.wording import shown

_MAGIC = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How every file of torch.save before 1.6 begins, after the two bytes of the pickle protocol."""


def existing(name: str | Path) -> Path:
    """Return the path of a file that is there; raise a sentence for one that is not, or that is a folder."""
    written = shown(name, 300)
    path = Path(name).expanduser()
    try:
        if path.is_dir():
            raise HookViewerError(f"{written} is a folder: name a file in it.")
        if path.is_file():
            with path.open("rb"):
                return path
        if path.exists():
            raise HookViewerError(f"{written} is a device or a pipe, not a file: name a file.")
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise HookViewerError(f"{written} cannot be opened ({reason}): check the name.") from None
    raise HookViewerError(f"There is no file {written}: check the name and the folder.")


def kind(path: Path) -> str:
    """Return what a file is: safetensors, torch, old torch, torchscript, exported, or a key of `TROUBLE`."""
    with path.open("rb") as file:
        head = file.read(512)
    if not head:
        return "empty"
    if head.startswith(b"version https://git-lfs"):
        return "lfs"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        return "html"
    if head.startswith(b"PK"):
        return archives.kind(path)
    if head[8:9] == b"{" and head[7] < 0x20:  # eight bytes of text would be a header of many petabytes
        return "safetensors"
    return _other(head)


def _other(head: bytes) -> str:
    if head[257:262] == b"ustar":
        return "tar"
    if head.startswith(b"\x80"):
        return "old torch" if _MAGIC in head[:32] else "pickle"
    for start, name in _STARTS.items():
        if head.startswith(start):
            return name
    return "text" if all(0x20 <= byte < 0x7F or byte in b"\t\r\n" for byte in head) else "unknown"


_STARTS = {
    b"\x89HDF": "hdf5",
    b"\x93NUMPY": "array",
    b"\x89PNG": "picture",
    b"\xff\xd8\xff": "picture",
    b"GIF8": "picture",
    b"\x1f\x8b": "packed",
    b"BZh": "packed",
    b"\xfd7zXZ": "packed",
    b"7z\xbc\xaf": "packed",
    b"Rar!": "packed",
}

TROUBLE = {
    "empty": "is empty: download or save it again.",
    "lfs": "is a Git LFS pointer, not the file itself: run git lfs pull.",
    "html": "is a web page, not a file of weights: download the file itself.",
    "truncated": "is cut off or damaged: download or save it again.",
    "compressed": "is a compressed archive, which torch never writes: it is not opened. Unpack it first.",
    "crowded": "is an archive of more members than a network has tensors: it is not opened.",
    "locked": "is an archive with a password: unpack it first.",
    "outside": "is an archive with names that lead out of it, which torch never writes: it is not opened.",
    "zip": "is a zip archive without tensors of torch: unpack it first.",
    "tar": "is a tar archive, as torch wrote before 2017: load and save it with a newer torch.",
    "packed": "is a compressed file: unpack it first.",
    "hdf5": "is an HDF5 file, as Keras writes it: convert it to safetensors.",
    "array": "is an array of numpy, not a model: give it with --input.",
    "picture": "is a picture, not a model: give it with --input.",
    "text": "is text, and no file of weights that can be read: give .safetensors, or .pt with a state dict.",
    "pickle": "is a pickle that torch did not write, and reading it could run code from it: save the state "
    "dict with torch.save, or as .safetensors.",
    "unknown": "is no file of weights that can be read: give .safetensors, or .pt with a state dict.",
}

TORCHSCRIPT = (
    "is TorchScript, which cannot carry hooks: its modules run outside Python, out of sight. "
    "Open the Python class it was made from and give its state dict, or export that class with torch.export."
)


def usable_kind(path: Path) -> str:
    """Return `safetensors`, `torch`, `old torch` or `exported`; raise a sentence for any other."""
    found = kind(path)
    if found in TROUBLE:
        raise HookViewerError(f"{shown(path, 300)} {TROUBLE[found]}")
    if found == "torchscript":
        raise HookViewerError(f"{shown(path, 300)} {TORCHSCRIPT}")
    return found
