"""Files: whole recordings that can be opened again, and single records for other programs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hookviewer.errors import HookViewerError
from hookviewer.formats.entry import Caption, Entry, Figure
from hookviewer.formats.export import Manifest, Planned, export, planned
from hookviewer.formats.format import RecordFormat, RecordingFormat
from hookviewer.formats.whole_file import whole_file
from hookviewer.recording import Recording
from hookviewer.registry import classes_in

__all__ = [
    "Caption",
    "Entry",
    "Figure",
    "Manifest",
    "Planned",
    "RecordFormat",
    "RecordingFormat",
    "export",
    "load",
    "planned",
    "record_formats",
    "recording_formats",
    "save",
]


def record_formats() -> dict[str, RecordFormat]:
    """Return one of each format for single records, by name."""
    found = classes_in(sys.modules[__name__], RecordFormat)  # type: ignore[type-abstract]
    return {kind.name: kind() for kind in found}


def recording_formats() -> dict[str, RecordingFormat]:
    """Return one of each format for whole recordings, by suffix."""
    found = classes_in(sys.modules[__name__], RecordingFormat)  # type: ignore[type-abstract]
    return {kind.suffix: kind() for kind in found}


def save(recording: Recording, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a recording to a file, in the format that the end of its name says, and return the path.

    The file is there as a whole or not at all. Raises `HookViewerError` when it exists already and
    `overwrite` is false, or when it cannot be written.
    """
    target = Path(path)
    chosen = _format(target)
    with whole_file(target, overwrite=overwrite) as part:
        chosen.write(recording, part)
    return target


def load(path: str | os.PathLike[str]) -> Recording:
    """Return the recording that `save` wrote; no code in a file is ever run.

    Raises `HookViewerError` when there is no such file, or it is not a recording.
    """
    source = Path(path)
    chosen = _format(source)
    if not source.is_file():
        raise HookViewerError(f"There is no file {source}: check the name.")
    try:
        return chosen.read(source)
    except OSError as error:
        raise HookViewerError(
            f"{source} cannot be read ({error.strerror or error}): check that it may be."
        ) from error


def _format(path: Path) -> RecordingFormat:
    formats = recording_formats()
    if path.suffix.lower() not in formats:
        raise HookViewerError(
            f"{path.name} says no known format: end the name in {' or '.join(sorted(formats))}."
        )
    return formats[path.suffix.lower()]
