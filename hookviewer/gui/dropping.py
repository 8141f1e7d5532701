"""What files dropped on the window become, and what is said before they do. Pure."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QCoreApplication

WEIGHTS = (".safetensors", ".pt", ".pth")
MOST_OF_A_FOLDER = 64


@dataclasses.dataclass(frozen=True)
class Dropped:
    """Dropped files by what they become, in the order in which they came."""

    models: tuple[Path, ...] = ()
    weights: tuple[Path, ...] = ()
    pictures: tuple[Path, ...] = ()
    arrays: tuple[Path, ...] = ()
    unusable: tuple[Path, ...] = ()

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that become inputs."""
        return (*self.pictures, *self.arrays)


@functools.cache
def picture_suffixes() -> frozenset[str]:
    """Return the ends of names that Pillow reads."""
    from PIL import Image

    Image.init()
    return frozenset(end for end, kind in Image.registered_extensions().items() if kind in Image.OPEN)


def sorted_files(paths: Iterable[Path]) -> Dropped:
    """Return dropped paths by kind; a folder stands for the pictures and arrays in it."""
    kinds: dict[str, list[Path]] = {field.name: [] for field in dataclasses.fields(Dropped)}
    for path in paths:
        if path.is_dir():
            inside = [one for one in sorted(path.iterdir()) if _kind(one) in ("pictures", "arrays")]
            for one in inside[:MOST_OF_A_FOLDER]:
                kinds[_kind(one)].append(one)
            if not inside:
                kinds["unusable"].append(path)
        else:
            kinds[_kind(path)].append(path)
    return Dropped(**{name: tuple(found) for name, found in kinds.items()})


def _kind(path: Path) -> str:
    end = path.suffix.lower()
    if end == ".py":
        return "models"
    if end in WEIGHTS:
        return "weights"
    if end == ".npy":
        return "arrays"
    return "pictures" if end in picture_suffixes() else "unusable"


def _tr(text: str) -> str:
    return QCoreApplication.translate("DropZone", text)


def words(dropped: Dropped, model: str) -> tuple[str, str, str]:
    """Return what a drop does: the head, what follows from it, and what cannot be used (an error)."""
    unusable = ", ".join(path.name for path in dropped.unusable[:3])
    error = _tr("{} cannot be used here.").format(unusable) if unusable else ""
    if dropped.models:
        return (
            _tr("Drop to open {}").format(dropped.models[0].name),
            _tr("Its code is run, as python does."),
            error,
        )
    if dropped.weights:
        name = dropped.weights[0].name
        if not model:
            return _tr("Weights need a model first"), _tr("Open the model, then drop {}.").format(name), error
        return _tr("Drop to load {}").format(name), _tr("Its weights go into {}.").format(model), error
    if not dropped.inputs:
        return (
            _tr("Nothing to drop here"),
            _tr("Pictures, .npy arrays, Python files and weights are taken."),
            error,
        )
    if not model:
        return _tr("Open a model first"), _tr("Pictures and arrays are inputs of a model."), error
    return _count(dropped), _tr("They become inputs of {} and run at once").format(model), error


def _count(dropped: Dropped) -> str:
    count, pictures = len(dropped.inputs), len(dropped.pictures)
    if count == 1:
        return _tr("Drop to add {}").format(dropped.inputs[0].name)
    if pictures == count:
        return _tr("Drop to add {} pictures").format(count)
    return _tr("Drop to add {} inputs").format(count)
