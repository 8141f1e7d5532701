"""The checkpoints of a training run in a folder, by their steps."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

from hookviewer.errors import HookViewerError
from hookviewer.inputs.folder import natural

ENDINGS = frozenset({".pt", ".pth", ".ckpt", ".bin", ".safetensors"})
INSIDE = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "model.pt", "model.pth")
"""Files of weights in the folder of one checkpoint, the likeliest first."""

_NO_WEIGHTS = re.compile(
    r"optim|sched|rng_state|scaler|training_args|trainer_state|-\d+-of-\d+\.", re.IGNORECASE
)
_NAMED = (
    re.compile(r"(?:steps?|iters?|iterations?)[-_=. ]*(\d+)", re.IGNORECASE),
    re.compile(r"(?:checkpoint|ckpt|epochs?|ep)[-_=. ]*(\d+)", re.IGNORECASE),
    re.compile(r"(?:^|[-_=. ])(\d+)$"),
)
"""Where a name says its step: after the word, else after a weaker one, else at its end."""


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A file of weights in a folder: `step` is the number in its name, `None` where there is none."""

    path: Path
    name: str
    step: int | None


def checkpoints(folder: str | Path) -> tuple[Checkpoint, ...]:
    """Return the files of weights in a folder by their steps (`step_1000.pt` → 1000), else by their names.

    Those without a step come last. A folder `checkpoint-500/` that holds weights counts, too. Raises
    `HookViewerError` when the folder cannot be read or holds none.
    """
    place = Path(folder).expanduser()
    try:
        with os.scandir(place) as entries:
            found = [one for entry in entries for one in _of(entry)]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HookViewerError(f"{place!s:.200} cannot be read as a folder ({reason}): check it.") from None
    if not found:
        raise HookViewerError(f"{place!s:.200} holds no file of weights ({', '.join(sorted(ENDINGS))}).")
    return tuple(sorted(found, key=lambda one: (one.step is None, one.step or 0, natural(one.name))))


def step_of(name: str) -> int | None:
    """Return the training step that a name without its ending says, `None` where it says none."""
    for pattern in _NAMED:
        numbers = pattern.findall(name)
        if numbers:
            return int(numbers[-1][:18])
    return None


def _of(entry: os.DirEntry[str]) -> list[Checkpoint]:
    path = Path(entry.path)
    if entry.name.startswith(".") or _NO_WEIGHTS.search(entry.name):
        return []
    if entry.is_dir():
        inside = next((path / name for name in INSIDE if (path / name).is_file()), None)
        return [] if inside is None else [Checkpoint(inside, entry.name, step_of(entry.name))]
    if path.suffix.lower() not in ENDINGS or not entry.is_file():
        return []
    return [Checkpoint(path, entry.name, step_of(path.stem))]
