"""The log file: errors, what Qt says, and the stack of all threads should the process die."""

from __future__ import annotations

import faulthandler
import logging
import logging.handlers
import sys
from pathlib import Path
from typing import TextIO

LARGEST, KEPT = 1 << 20, 3
NAME = "hookviewer.log"
CRASHES = "crash.log"


def folder() -> Path:
    """Return the folder of the log files."""
    import platformdirs

    return platformdirs.user_log_path("hookviewer")


class _SharedFile(logging.handlers.RotatingFileHandler):
    """The one file of a process, however many windows it has: the last of its users closes it."""

    users = 0


def _shared(logger: logging.Logger) -> _SharedFile:
    found = next((one for one in logger.handlers if isinstance(one, _SharedFile)), None)
    if found is None:
        found = _SharedFile(folder() / NAME, maxBytes=LARGEST, backupCount=KEPT, encoding="utf-8")
        found.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logger.addHandler(found)
    found.users += 1
    return found


class LogFile:
    """Writes what the program's loggers say to a file; at a megabyte a new one begins."""

    def __init__(self) -> None:
        self._handler: _SharedFile | None = None
        self._crashes: TextIO | None = None

    def start(self) -> None:
        """Begin to write; where the folder cannot be written to, nothing is kept and the program goes on."""
        logger = logging.getLogger("hookviewer")
        try:
            folder().mkdir(parents=True, exist_ok=True)
            self._handler = _shared(logger)
        except OSError as error:
            logger.warning("There is no log file: %s", error)
            return
        logger.setLevel(logging.INFO)
        if not faulthandler.is_enabled():
            self._crashes = (folder() / CRASHES).open("a", encoding="utf-8")
            faulthandler.enable(self._crashes)

    def stop(self) -> None:
        """Close the files and give back what `start` took."""
        logger = logging.getLogger("hookviewer")
        if self._handler is not None:
            self._handler.users -= 1
            if not self._handler.users:
                logger.removeHandler(self._handler)
                logger.setLevel(logging.NOTSET)
                self._handler.close()
            self._handler = None
        if self._crashes is not None:
            faulthandler.disable()
            self._crashes.close()
            self._crashes = None


def tail(lines: int = 40) -> str:
    """Return the last lines of the log, for a report."""
    try:
        text = (folder() / NAME).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def to_stderr(text: str) -> None:
    """Write a line where there is a terminal; a windowed program on Windows has none."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
