"""The files that the model came from: when one changes on disk, reading it again is offered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from hookviewer.gui.session import Session

SETTLE_MS = 250
"""Editors write in several steps: a change is looked at when the file was quiet for so long."""
TRIES = 20
"""How often a file that is gone is looked for: many editors write another one and rename it."""


class FileWatch(QObject):
    """Watches `card.files`; `changed` names those whose content is another one now."""

    changed = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._known: Mapping[str, tuple[int, int] | None] = {}
        self._left = 0
        self._watcher = QFileSystemWatcher(self)
        self._timer = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._watcher.fileChanged.connect(self._on_file_changed)
        self._timer.timeout.connect(self._look)
        session.model_changed.connect(self.follow)

    def follow(self) -> None:
        """Watch the files of the present model, as they are now."""
        card = self._session.card
        self._timer.stop()
        self._known = {path: _state(path) for path in (card.files if card is not None else ())}
        self._watch()

    def close(self) -> None:
        """Watch nothing any more and give the system's handles back."""
        self._timer.stop()
        self._known = {}
        self._watch()

    def _watch(self) -> None:
        before, wanted = set(self._watcher.files()), {path for path in self._known if Path(path).is_file()}
        if before - wanted:
            self._watcher.removePaths(sorted(before - wanted))
        if wanted - before:
            self._watcher.addPaths(sorted(wanted - before))

    def _on_file_changed(self, path: str) -> None:
        self._left = TRIES
        self._timer.start()

    def _look(self) -> None:
        now = {path: _state(path) for path in self._known}
        self._left -= 1
        if None in now.values() and self._left > 0:
            self._timer.start()
            return
        self._watch()
        different = [path for path, state in now.items() if state is not None and state != self._known[path]]
        self._known = now
        if different:
            self.changed.emit(different)


def _state(path: str) -> tuple[int, int] | None:
    """Return when a file was written and how long it is; None when it is not there."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
