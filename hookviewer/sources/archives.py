"""What can be said of a zip archive before anything in it is unpacked."""

from __future__ import annotations

import os
import struct
import zipfile
from pathlib import Path
from typing import IO

ENTRIES = 200_000
"""Members of the largest archive that is looked into: torch writes one for each tensor."""

_TAIL = 65_557  # the end record, the longest comment


def kind(path: Path) -> str:
    """Return what an archive is: torch, torchscript, exported, or a key of `files.TROUBLE`."""
    try:
        with path.open("rb") as file:
            if not _ends_plainly(file):
                return "truncated"
            if _entries(file) > ENTRIES:
                return "crowded"
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, struct.error):
        return "truncated"
    content = _content({entry.filename for entry in entries})
    if content == "torchscript":  # it compresses its code, and is not opened anyway
        return content
    return _trouble(entries, path.stat().st_size) or content


def _trouble(entries: list[zipfile.ZipInfo], size: int) -> str:
    if any(entry.flag_bits & 1 for entry in entries):
        return "locked"
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        return "compressed"
    # members that share their bytes unpack to more than the archive
    if sum(entry.file_size for entry in entries) > 1.01 * size + (1 << 20):
        return "compressed"
    names = [entry.filename for entry in entries]
    # readers do not agree on what such an archive holds
    if min((entry.header_offset for entry in entries), default=0) > 0:
        return "truncated"
    if len(set(names)) != len(names):
        return "truncated"
    return "outside" if any(_leaves(name) for name in names) else ""


def _leaves(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return ".." in parts or name.startswith(("/", "\\")) or parts[0].endswith(":")


def _content(full: set[str]) -> str:
    names = full | {name.partition("/")[2] for name in full}
    exported = {"archive_format", "serialized_exported_program.json"}
    if names & exported or any(name.startswith("models/") for name in names):
        return "exported"
    if "constants.pkl" in names or any(name.startswith("code/") for name in names):
        return "torchscript"
    if "word/document.xml" in names or "data.pkl" not in names:
        return "zip"
    return "torch"


def _ends_plainly(file: IO[bytes]) -> bool:
    """Whether the end record is the last thing in the file: behind it, another one could be hidden."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 22))
    return file.read(4) == b"PK\x05\x06"


def _entries(file: IO[bytes]) -> int:
    """Return how many members the end of an archive states, without reading their names."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    place = tail.rfind(b"PK\x05\x06")
    if place < 0:
        raise zipfile.BadZipFile("no end record")
    count = int(struct.unpack_from("<H", tail, place + 10)[0])
    wide = tail.rfind(b"PK\x06\x06")
    if count == 0xFFFF and wide >= 0:
        return int(struct.unpack_from("<Q", tail, wide + 32)[0])
    return count
