"""Errors that ask the person to decide something, with what is needed to decide it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hookviewer.errors import HookViewerError

if TYPE_CHECKING:
    from hookviewer.sources.architectures import Architecture
    from hookviewer.sources.match import Match
    from hookviewer.sources.scan import Candidate


class TrustNeeded(HookViewerError):  # noqa: N818 - a question, and no failure
    """A file can run code when it is loaded, and nobody has said yes to this very content.

    `sha256` is that of the file, `names` what it would import, as read from its bytes (empty: none was found,
    which proves nothing). `trust=True`, or `trust.remember(sha256, path)`, is the yes.
    """

    def __init__(self, message: str, *, path: Path, sha256: str, names: tuple[str, ...]) -> None:
        super().__init__(message)
        self.path, self.sha256, self.names = path, sha256, names


class WeightsOnly(HookViewerError):  # noqa: N818 - a question, and no failure
    """A file holds tensors and no network. `architectures` are the networks of torchvision it looks like."""

    def __init__(
        self, message: str, *, path: Path, tensors: int, numbers: int, architectures: tuple[Architecture, ...]
    ) -> None:
        super().__init__(message)
        self.path, self.tensors, self.numbers = path, tensors, numbers
        self.architectures = architectures


class WeightsMismatch(HookViewerError):  # noqa: N818 - a question, and no failure
    """The names or shapes in a file of weights are not those of the model. `match` lists all differences."""

    def __init__(self, message: str, *, path: Path, match: Match) -> None:
        super().__init__(message)
        self.path, self.match = path, match


class ChoiceNeeded(HookViewerError):  # noqa: N818 - a question, and no failure
    """A folder or file has more than one model. `candidates` are the choices, best first."""

    def __init__(self, message: str, *, candidates: tuple[Candidate, ...]) -> None:
        super().__init__(message)
        self.candidates = candidates
