"""What a pickle would import, read from its steps: nothing of it is imported, built or run."""

from __future__ import annotations

import pickletools
import zipfile
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from hookviewer.errors import HookViewerError
from hookviewer.sources.wording import shown

STEPS = 1_000_000
"""Steps of the longest pickle that is read: 40,000 tensors take so many. Each may take 200 bytes."""

LARGEST = 64 << 20
"""Bytes of the largest pickle inside an archive."""

_USUAL = ("torch._utils._rebuild_", "collections.OrderedDict", "__builtin__.set", "builtins.set")

_OLD_PARTS = 5
"""Pickles at the start of a file of torch before 1.6: a mark, a version, sizes, the content, the storages."""


class DamagedError(Exception):
    """The bytes are no pickle, or not a whole one."""


def is_usual(name: str) -> bool:
    """Whether files of mere weights have this name as well."""
    return name.startswith(_USUAL) or (name.startswith("torch.") and name.endswith("Storage"))


def names_in_file(path: Path) -> tuple[str, ...]:
    """Return the names that loading a file of torch.save would import, the unusual ones first; for an
    archive, those of all pickles in it.

    Raises `HookViewerError` for a pickle too long to be one of tensors.
    """
    with path.open("rb") as file:
        try:
            archive = file.read(2) == b"PK"
            file.seek(0)
            found = _names_in_archive(file, path, 0) if archive else _names_in_pickles(file, path, _OLD_PARTS)
            return tuple(sorted(set(found), key=lambda name: (is_usual(name), name)))
        except (DamagedError, zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError):
            raise HookViewerError(
                f"{shown(path, 300)} is damaged or cut off: download or save it again."
            ) from None


def _names_in_archive(file: IO[bytes], path: Path, depth: int) -> Iterator[str]:
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            with archive.open(entry) as member:
                # torch may leave the check sums out, and tells damage by itself
                setattr(member, "_expected_crc", None)  # noqa: B010
                head = member.read(2)
                if not _is_pickle(entry.filename, head) and head != b"PK":
                    continue
                if entry.file_size > LARGEST:
                    raise _too_long(path)
                member.seek(0)
                if head == b"PK" and depth < 2:
                    yield from _names_in_archive(member, path, depth + 1)
                elif head != b"PK":
                    yield from _names_in_pickles(member, path, 1)


def _is_pickle(name: str, head: bytes) -> bool:
    # the bytes of a tensor may begin like a pickle, and need not be one
    return name.endswith((".pkl", ".pickle", ".pt", ".pth")) or (
        head[:1] == b"\x80" and "/data/" not in f"/{name}"
    )


def _names_in_pickles(file: IO[bytes], path: Path, parts: int) -> Iterator[str]:
    left = STEPS
    for _ in range(parts):
        for name in names_in(_steps(file)):
            left -= 1
            if left < 0:
                raise _too_long(path)
            if name is not None:
                yield name


def _steps(file: IO[bytes]) -> Iterator[tuple[str, Any]]:
    try:
        for opcode, argument, _ in pickletools.genops(file):
            yield opcode.name, argument
    except (ValueError, IndexError, OverflowError, MemoryError, EOFError, zipfile.BadZipFile) as error:
        raise DamagedError(str(error)) from error


def names_in(steps: Iterable[tuple[str, Any]]) -> Iterator[str | None]:
    """Yield, for each step of a pickle, the dotted name that it imports, or `None`."""
    last: deque[str] = deque(["?", "?"], maxlen=2)
    memo: dict[int, str] = {}
    fresh = False  # whether the step before put a string there
    for step, argument in steps:
        if step in ("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"):
            if fresh:
                memo[len(memo) if argument is None else argument] = last[-1]
            elif step == "MEMOIZE":
                memo[len(memo)] = "?"
            yield None
            continue
        fresh = "UNICODE" in step or "STRING" in step
        if fresh:
            last.append(str(argument))
        elif step in ("GET", "BINGET", "LONG_BINGET"):
            last.append(memo.get(argument, "?"))
        yield _imported(step, argument, last)


def _imported(step: str, argument: Any, last: deque[str]) -> str | None:
    match step:
        case "GLOBAL" | "INST":
            return str(argument).replace(" ", ".", 1)
        case "STACK_GLOBAL":
            return ".".join(last)
        case "EXT1" | "EXT2" | "EXT4":
            return f"extension {argument} of copyreg"
    return None


def _too_long(path: Path) -> HookViewerError:
    return HookViewerError(
        f"{shown(path, 300)} has more pickled steps than any file of tensors, and would fill the memory: "
        "save the state dict alone, as .safetensors."
    )
