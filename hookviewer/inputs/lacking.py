"""Mistakes about inputs that a person can mend with one more step."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hookviewer.errors import HookViewerError


class ArgumentsLacking(HookViewerError):  # noqa: N818 - a question, and no failure
    """The model needs more inputs than were given."""


class EntryNeeded(HookViewerError):  # noqa: N818
    """A file holds several tensors; `specs` opens each of them, by its name."""

    def __init__(self, sentence: str, specs: Mapping[str, str]) -> None:
        super().__init__(sentence)
        self.specs: Mapping[str, str] = MappingProxyType(dict(specs))
