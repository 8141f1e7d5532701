"""Programs that torch.export saved: unflattened, so that every module is there again."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import torch

from hookviewer.errors import HookViewerError
from hookviewer.sources import pickles
from hookviewer.sources import trust as trusting
from hookviewer.sources.calling import told
from hookviewer.sources.cards import ModelCard
from hookviewer.sources.source import Opened
from hookviewer.sources.wording import shown, spelled_shape


def opened(path: Path, arguments: Mapping[str, Any], trust: bool) -> Opened:
    """Open a .pt2 file; loading one can run code, so it needs a yes. Raises `TrustNeeded` without one."""
    if arguments:
        raise HookViewerError(f"A program of torch.export takes no {shown(next(iter(arguments)))!r}.")
    names = pickles.names_in_file(path)
    with path.open("rb") as file:
        digest = trusting.require(file, path, trust, names)
        program = _loaded(file, path)
    shapes = _shapes(program)
    card = ModelCard(
        name=path.stem,
        sha256=digest,
        notes=_notes(shapes),
        input_shape=shapes[0] if len(shapes) == 1 else None,
        input_shapes=shapes,
        files=(str(path.resolve()),),
    )
    return Opened(torch.export.unflatten(program), card)


def _loaded(file: IO[bytes], path: Path) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # torch says when it falls back to pickle: the person said yes to that
            return torch.export.load(file)
    except Exception as error:  # code from the file may raise anything
        raise HookViewerError(
            f"{shown(path, 300)} cannot be loaded ({shown(told(error), 200)}): export it again with "
            f"this torch ({torch.__version__})."
        ) from error


def _shapes(program: Any) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the inputs that the program was exported with; empty where not all are tensors."""
    arguments, keywords = program.example_inputs or ((), {})
    if keywords or not all(isinstance(one, torch.Tensor) for one in arguments):
        return ()
    return tuple(tuple(one.shape) for one in arguments)


def _notes(shapes: tuple[tuple[int, ...], ...]) -> tuple[str, ...]:
    made_for = f" It was exported for {', '.join(map(spelled_shape, shapes))}." if shapes else ""
    return (f"A program of torch.export: what a mode changes was fixed when it was exported.{made_for}",)
