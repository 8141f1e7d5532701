"""Files that are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hookviewer.errors import HookViewerError


@contextlib.contextmanager
def whole_file(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give a temporary path in the same folder to write to; it gets its final name when all went well.

    Raises `HookViewerError` when the file exists already and may not be overwritten, when `path` is a link or
    a folder, or when the folder cannot be written to.
    """
    refuse(path, overwrite=overwrite)
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise HookViewerError(
            f"{path.parent} cannot be written to ({error.strerror}): choose another folder."
        ) from error
    part = Path(name)
    try:
        yield part
        part.chmod(0o666 & ~_mask())
        _named(part, path, overwrite=overwrite)
    except OSError as error:
        raise HookViewerError(f"{path.name} could not be written: {error.strerror or error}.") from error
    finally:
        part.unlink(missing_ok=True)


def refuse(path: Path, *, overwrite: bool) -> None:
    """Raise `HookViewerError` when `path` may not become a new file."""
    if path.is_symlink() or path.is_dir():
        raise HookViewerError(f"{path} is a link or a folder: choose another name.")
    if path.exists() and not overwrite:
        raise HookViewerError(
            f"{path} exists already: choose another name, or say that it may be overwritten."
        )
    if not path.parent.is_dir():
        raise HookViewerError(f"The folder {path.parent} does not exist: make it, or choose another one.")


def _named(part: Path, path: Path, *, overwrite: bool) -> None:
    if overwrite:
        part.replace(path)
        return
    try:
        os.link(part, path)  # unlike a rename, this never replaces a file that appeared meanwhile
    except FileExistsError:
        refuse(path, overwrite=False)
    except OSError:  # a file system without hard links
        refuse(path, overwrite=False)
        part.replace(path)


def _mask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
