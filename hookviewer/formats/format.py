"""What a format is: one that holds a whole recording, or one that holds a single record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from hookviewer.formats.entry import Entry, Figure
from hookviewer.recording import Recording


class RecordingFormat(ABC):
    """A file that holds a whole recording and gives it back complete."""

    name: str
    suffix: str

    @abstractmethod
    def write(self, recording: Recording, path: Path) -> None:
        """Write the recording to a new file."""

    @abstractmethod
    def read(self, path: Path) -> Recording:
        """Return the recording of a file; raise `HookViewerError` for a file that is none."""


class RecordFormat(ABC):
    """A file that holds one record, for use in other programs."""

    name: str
    suffix: str

    @abstractmethod
    def refusal(self, entry: Entry) -> str:
        """Return why this entry cannot be written, or nothing."""

    @abstractmethod
    def write(self, entry: Entry, path: Path, figure: Figure | None) -> None:
        """Write the entry to `path`, over what is there."""

    @abstractmethod
    def estimate(self, entry: Entry, figure: Figure | None) -> int:
        """Return about how many bytes the file will have."""
