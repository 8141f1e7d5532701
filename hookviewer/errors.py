"""The errors a person can act on. Everything else is a bug and keeps its traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookviewer.recording import Recording


class HookViewerError(Exception):
    """One sentence that says what is wrong and what to do now."""


class ModelError(HookViewerError):
    """The model raised during a run.

    `path` is the innermost module that failed, `recording` holds all that was recorded until then.
    """

    def __init__(self, message: str, *, path: str, recording: Recording) -> None:
        super().__init__(message)
        self.path = path
        self.recording = recording


class Cancelled(BaseException):
    """The run was stopped. A `BaseException`, so that no `except Exception` in a model can swallow it.

    `recording` holds all that was recorded until then, where a run had begun.
    """

    recording: Recording | None = None
