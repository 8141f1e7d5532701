"""Whole modules that torch.save pickled, and the classes that they need."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.sources import calling, files, importing, states, torch_file
from hookviewer.sources.cards import ModelCard
from hookviewer.sources.source import Opened
from hookviewer.sources.wording import shown

PLACES = ("", *states.AVERAGED, *states.INSIDE)
"""Where a checkpoint keeps the module; the averaged one is the better one."""


def load(path: Path, arguments: Mapping[str, Any], trust: bool) -> torch_file.Loaded:
    """Return what the file holds, its classes looked for in the file that `code` names and beside it.

    Weights keep to their shapes: they are not needed to say what the file is.
    """
    unknown = [name for name in arguments if name != "code"]
    if unknown:
        raise HookViewerError(
            f"A file takes no {shown(unknown[0])!r}: write {shown(path, 300)}?code=FILE.py for its classes."
        )
    with calling.on_paths(last=(path.parent.resolve(), Path.cwd())):
        return torch_file.load(path, trust=trust, data=False, modules=_modules(arguments.get("code")))


def _modules(code: Any) -> Any:
    """Return the pickle module whose unpickler takes classes of a script from the file that defines them."""
    if code is None:
        return pickle
    module = importing.imported(files.existing(str(code)).resolve())

    class Unpickler(pickle.Unpickler):
        def find_class(self, module_name: str, name: str) -> Any:
            if hasattr(module, name.partition(".")[0]) and _is_script(module_name, module):
                module_name = module.__name__
            try:
                return super().find_class(module_name, name)
            except ModuleNotFoundError:
                # a file that was renamed since still defines the classes it was given for
                if not hasattr(module, name.partition(".")[0]):
                    raise
                return super().find_class(module.__name__, name)

    found: Any = ModuleType("pickle")
    found.__dict__.update({**vars(pickle), "Unpickler": Unpickler})
    found.load = lambda file, **options: Unpickler(file, **options).load()
    return found


def _is_script(name: str, module: ModuleType) -> bool:
    stem = Path(module.__file__ or "").stem
    return name in ("__main__", "__mp_main__") or name.rpartition(".")[2] == stem


def opened(path: Path, loaded: torch_file.Loaded) -> Opened | None:
    """Return the module that a trusted file held, `None` when it holds none."""
    for place in PLACES:
        inside = isinstance(loaded.content, Mapping) and loaded.content.get(place)
        found = inside if place else loaded.content
        if isinstance(found, nn.Module):
            model = calling.checked(shown(path, 300), found)
            notes = (f"It was unpickled from {shown(path, 300)}, which ran code from that file.",)
            name = f"{path.stem}:{type(model).__name__}"
            card = ModelCard(name=name, sha256=loaded.sha256, notes=notes, files=(str(path.resolve()),))
            return Opened(model, card)
    return None
