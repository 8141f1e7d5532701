"""What files dropped on the window become, and what is said before they do. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QMimeData

from hookviewer.errors import HookViewerError
from hookviewer.inputs import in_folder, spread, suffixes
from hookviewer.inputs.folder import ARRAYS

MODELS = (".py", ".pt2")
WEIGHTS = (".safetensors", ".pt", ".pth", ".ckpt", ".bin")
MOST_OF_A_FOLDER = 256
FIRST_OF_A_FOLDER = 4
"""So many inputs of a folder are ticked at once; the others wait in the list."""


@dataclasses.dataclass(frozen=True)
class Dropped:
    """Dropped files by what they become, in the order in which they came; `projects` are folders of code."""

    models: tuple[Path, ...] = ()
    weights: tuple[Path, ...] = ()
    pictures: tuple[Path, ...] = ()
    arrays: tuple[Path, ...] = ()
    unusable: tuple[Path, ...] = ()
    projects: tuple[Path, ...] = ()

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that become inputs."""
        return (*self.pictures, *self.arrays)


def files_of(data: QMimeData) -> list[Path]:
    """Return the files and folders that are dragged or lie on the clipboard."""
    urls = data.urls() if data.hasUrls() else []
    return [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]


def sorted_files(paths: Iterable[Path]) -> Dropped:
    """Return paths by kind; a folder stands for the pictures and arrays in it, or is a project of code."""
    kinds: dict[str, list[Path]] = {field.name: [] for field in dataclasses.fields(Dropped)}
    for path in paths:
        for kind, one in _sorted_folder(path) if path.is_dir() else [(_kind(path), path)]:
            kinds[kind].append(one)
    return Dropped(**{name: tuple(found) for name, found in kinds.items()})


def shared_out(inputs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the inputs to tick, and those that wait in the list: most of a folder."""
    given = list(spread(inputs))
    ticked = len(given) if len(given) == len(inputs) else FIRST_OF_A_FOLDER
    return given[:ticked], given[ticked:MOST_OF_A_FOLDER]


def _sorted_folder(folder: Path) -> list[tuple[str, Path]]:
    try:
        inside = [Path(path) for path in in_folder(folder)][:MOST_OF_A_FOLDER]
        code = next(folder.glob("*.py"), None) or next(folder.glob("*/*.py"), None)
    except (HookViewerError, OSError):
        return [("unusable", folder)]
    if inside and next(folder.glob("*.py"), None) is None:
        return [(_kind(path), path) for path in inside]
    return [("projects" if code is not None else "unusable", folder)]


def _kind(path: Path) -> str:
    end = path.suffix.lower()
    if end in MODELS:
        return "models"
    if end in WEIGHTS or path.name.lower().endswith(".index.json"):
        return "weights"
    if end in ARRAYS:
        return "arrays"
    return "pictures" if end in suffixes() else "unusable"


def _tr(text: str) -> str:
    return QCoreApplication.translate("DropZone", text)


def words(dropped: Dropped, model: str) -> tuple[str, str, str]:
    """Return what a drop does: the head, what follows from it, and what cannot be used (an error)."""
    unusable = ", ".join(path.name for path in dropped.unusable[:3])
    error = _tr("{} cannot be used here.").format(unusable) if unusable else ""
    if dropped.models or dropped.projects:
        return *_opens((*dropped.models, *dropped.projects)[0]), error
    if dropped.weights:
        return *_loads(dropped.weights[0].name, model), error
    if not dropped.inputs:
        taken = _tr("Pictures, arrays, Python files, weights, and folders of these are taken.")
        return _tr("Nothing to drop here"), taken, error
    if not model:
        return _tr("Open a model first"), _tr("Pictures and arrays are inputs of a model."), error
    return _count(dropped), _tr("They become inputs of {} and run at once").format(model), error


def _opens(path: Path) -> tuple[str, str]:
    head = _tr("Drop to open {}").format(path.name)
    if path.suffix.lower() == ".py":
        return head, _tr("Its code is run, as python does.")
    if path.suffix.lower() == ".pt2":
        return head, _tr("Before anything of it is run, you are asked.")
    return head, _tr("The models in this folder are listed; nothing is imported before you choose.")


def _loads(name: str, model: str) -> tuple[str, str]:
    if not model:
        return _tr("Drop to open {}").format(name), _tr(
            "A whole model is opened; weights find their network."
        )
    return _tr("Drop to load {}").format(name), _tr("Its weights go into {}.").format(model)


def _count(dropped: Dropped) -> str:
    count, pictures = len(dropped.inputs), len(dropped.pictures)
    if count == 1:
        return _tr("Drop to add {}").format(dropped.inputs[0].name)
    if pictures == count:
        return _tr("Drop to add {} pictures").format(count)
    return _tr("Drop to add {} inputs").format(count)
