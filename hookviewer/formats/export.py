"""Many records into one folder, each file whole, with a manifest that says what every file is."""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hookviewer import __version__
from hookviewer.errors import HookViewerError
from hookviewer.formats.entry import Entry, Figure
from hookviewer.formats.format import RecordFormat
from hookviewer.formats.safe_names import safe_name
from hookviewer.formats.whole_file import refuse, whole_file

MANIFEST = "manifest.json"
_MARK = "hookviewer manifest"
_WORKERS = min(4, os.cpu_count() or 1)


@dataclasses.dataclass(frozen=True)
class Planned:
    """What an export will write: names of files, about how many bytes, and which of them exist already."""

    names: tuple[str, ...]
    bytes: int
    existing: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What an export has written: every file with what it is, and what was left out with the reason.

    A cancelled export lists the files that were finished; there are no others.
    """

    folder: Path
    files: Mapping[str, Mapping[str, Any]]
    left_out: Mapping[str, str]
    cancelled: bool = False

    @property
    def path(self) -> Path:
        """The manifest's own file."""
        return self.folder / MANIFEST


@dataclasses.dataclass(frozen=True)
class _Task:
    name: str
    entry: Entry
    format: RecordFormat


def planned(
    entries: Sequence[Entry],
    folder: str | os.PathLike[str],
    formats: Sequence[str] = ("png", "npz"),
    *,
    figure: Figure | None = None,
) -> Planned:
    """Return what `export` would write to `folder`, without writing anything; the bytes are an estimate."""
    tasks = list(_tasks(entries, formats))
    names = tuple(task.name for task in tasks)
    existing = tuple(name for name in names if os.path.lexists(Path(folder) / name))
    size = sum(_estimate(task, figure) for task in tasks) + 600 * len(tasks)
    return Planned((*names, MANIFEST), size, existing)


def export(
    entries: Sequence[Entry],
    folder: str | os.PathLike[str],
    *,
    formats: Sequence[str] = ("png", "npz"),
    figure: Figure | None = None,
    overwrite: bool = False,
    on_file: Callable[[str], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Manifest:
    """Write every entry in every format to `folder`, then `manifest.json`, and return the manifest.

    `figure` None gives plain pictures. `on_file` is called with each finished name, in this thread. When
    `cancelled` says so, no new file is begun and the manifest lists the finished ones. What cannot be
    written (a record without values) is left out with its reason. Raises `HookViewerError` before anything is
    written when a file exists already and `overwrite` is false, and after listing the finished files when one
    cannot be written.
    """
    target = _folder(Path(folder))
    tasks = list(_tasks(entries, formats))
    earlier = _earlier(target / MANIFEST, overwrite=overwrite)
    _refuse_existing(target, tasks, overwrite=overwrite)
    run = _Run(target, figure, overwrite, on_file or (lambda name: None), cancelled or (lambda: False))
    try:
        run.write(tasks)
    finally:
        manifest = Manifest(target, MappingProxyType(run.files), MappingProxyType(run.left_out), run.stopped)
        _write_manifest(manifest, earlier)
    return manifest


class _Run:
    """The files of one export, a few written at a time: compressing does not hold the interpreter."""

    def __init__(
        self,
        folder: Path,
        figure: Figure | None,
        overwrite: bool,
        on_file: Callable[[str], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self.folder, self.figure, self.overwrite = folder, figure, overwrite
        self.on_file, self.cancelled = on_file, cancelled
        self.files: dict[str, Mapping[str, Any]] = {}
        self.left_out: dict[str, str] = {}
        self.stopped = False

    def write(self, tasks: Sequence[_Task]) -> None:
        waiting: collections.deque[tuple[_Task, concurrent.futures.Future[str]]] = collections.deque()
        with concurrent.futures.ThreadPoolExecutor(_WORKERS) as pool:
            try:
                for task in tasks:
                    if self.cancelled():
                        self.stopped = True
                        break
                    waiting.append((task, pool.submit(self._one, task)))
                    if len(waiting) > _WORKERS:
                        self._finish(*waiting.popleft())
                while waiting:
                    self._finish(*waiting.popleft())
            finally:
                for task, future in waiting:
                    if not future.cancel() and future.exception() is None:
                        self._list(task, future.result())

    def _one(self, task: _Task) -> str:
        """Write one file; return why it was left out, or nothing."""
        reason = task.format.refusal(task.entry)
        if not reason:
            with whole_file(self.folder / task.name, overwrite=self.overwrite) as part:
                task.format.write(task.entry, part, self.figure)
        return reason

    def _finish(self, task: _Task, future: concurrent.futures.Future[str]) -> None:
        self._list(task, future.result())
        if task.name in self.files:
            self.on_file(task.name)

    def _list(self, task: _Task, reason: str) -> None:
        if reason:
            self.left_out[task.name] = reason
        else:
            self.files[task.name] = task.entry.identity


def _tasks(entries: Sequence[Entry], formats: Sequence[str]) -> Iterator[_Task]:
    from hookviewer.formats import record_formats

    known = record_formats()
    unknown = [name for name in formats if name not in known]
    if unknown:
        raise HookViewerError(f"There is no format {unknown[0]!r}: choose from {', '.join(sorted(known))}.")
    for number, entry in enumerate(entries, 1):
        for name in dict.fromkeys(formats):
            yield _Task(safe_name(number, entry.name, known[name].suffix), entry, known[name])


def _estimate(task: _Task, figure: Figure | None) -> int:
    return 0 if task.format.refusal(task.entry) else task.format.estimate(task.entry, figure)


def _folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HookViewerError(
            f"{folder} cannot be made a folder ({error.strerror}): choose another one."
        ) from error
    return folder


def _refuse_existing(folder: Path, tasks: Sequence[_Task], *, overwrite: bool) -> None:
    existing = [task.name for task in tasks if os.path.lexists(folder / task.name)]
    if existing and not overwrite:
        more = f" and {len(existing) - 1} more" if len(existing) > 1 else ""
        raise HookViewerError(
            f"{existing[0]}{more} exist already in {folder}: choose another folder, "
            "or say that they may be overwritten."
        )
    for name in existing:
        refuse(folder / name, overwrite=True)


def _earlier(path: Path, *, overwrite: bool) -> dict[str, Any]:
    """Return the files that an earlier export into the same folder has listed; they stay listed."""
    if not os.path.lexists(path):
        return {}
    refuse(path, overwrite=True)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        document = None
    if (
        isinstance(document, dict)
        and document.get("format") == _MARK
        and isinstance(document.get("files"), dict)
    ):
        return dict(document["files"])
    if not overwrite:
        raise HookViewerError(
            f"{path} is another program's: choose another folder, or say that it may be overwritten."
        )
    return {}


def _write_manifest(manifest: Manifest, earlier: Mapping[str, Any]) -> None:
    kept = {name: what for name, what in earlier.items() if (manifest.folder / name).is_file()}
    document = {
        "format": _MARK,
        "program": f"hookviewer {__version__}",
        "cancelled": manifest.cancelled,
        "files": {**kept, **{name: dict(what) for name, what in manifest.files.items()}},
        "left_out": dict(manifest.left_out),
    }
    with whole_file(manifest.path, overwrite=True) as part:
        part.write_text(json.dumps(document, indent=1), encoding="utf-8")
