"""Virtual methods that may not raise: an exception inside Qt's paint or event code ends the whole process."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator
from typing import Any, Concatenate, ParamSpec, cast

from PySide6.QtGui import QPaintDevice, QPainter

_log = logging.getLogger(__name__)

Arguments = ParamSpec("Arguments")


def guarded(
    method: Callable[Concatenate[Any, Arguments], None],
) -> Callable[Concatenate[Any, Arguments], None]:
    """Return the method with its exceptions written to the log, each kind once per object."""

    @functools.wraps(method)
    def run(self: Any, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as error:
            _tell_once(self, method.__qualname__, error)

    return cast(Callable[Concatenate[Any, Arguments], None], run)


@contextlib.contextmanager
def painting(device: QPaintDevice) -> Iterator[QPainter]:
    """Give a painter that is ended whatever happens: a device may not be destroyed while it is painted."""
    painter = QPainter(device)
    try:
        yield painter
    finally:
        painter.end()


def _tell_once(owner: object, where: str, error: Exception) -> None:
    told: set[str] = owner.__dict__.setdefault("_guard_told", set())
    what = f"{where}: {type(error).__name__}"
    if what not in told:
        told.add(what)
        _log.error("%s failed", where, exc_info=error)
