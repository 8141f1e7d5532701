"""Models that are written in a Python file of the user's."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.sources import calling, candidates, importing
from hookviewer.sources.cards import ModelCard
from hookviewer.sources.factory import member
from hookviewer.sources.files import existing
from hookviewer.sources.source import Opened, Source, split_arguments
from hookviewer.sources.torch_file import sha256
from hookviewer.sources.wording import shown

_PLACE = re.compile(r"(?P<file>.+?\.py)(:(?P<name>[A-Za-z_][\w.]*))?", re.DOTALL)


class PythonFileSource(Source):
    """`file.py:callable?name=value`, or `file.py` where only one model can be meant.

    The callable is a class, a function that builds a model, or a recipe: one that returns `(model, inputs)`.
    """

    rank = 30

    def accepts(self, spec: str) -> bool:
        return _PLACE.fullmatch(spec.partition("?")[0]) is not None

    def open(self, spec: str, options: Mapping[str, Any], trust: bool) -> Opened:
        place, arguments = split_arguments(spec)
        match = _PLACE.fullmatch(place)
        assert match is not None
        return opened(existing(match["file"]), match["name"], {**arguments, **options})


def opened(place: Path, name: str | None, arguments: Mapping[str, Any]) -> Opened:
    """Build the model that `name` makes in a Python file; without a name, the only one there can be.

    Sentences name the file as `place` does, so that what they say to write can be written.
    """
    path = place.resolve()
    module = importing.imported(path)
    name, target = _chosen(module, place, name)
    with calling.on_paths(first=(path.parent,), last=importing.project_folders(path)):
        built = calling.called(f"{shown(place, 300)}:{name}", target, arguments, path)
    card = ModelCard(
        name=f"{path.stem}:{name}",
        sha256=sha256(path),
        files=importing.files_of(module),
        inputs=built.inputs,
    )
    return Opened(built.model, card)


def _chosen(module: ModuleType, place: Path, name: str | None) -> tuple[str, Any]:
    if name is not None:
        return name, member(module, name, f"{shown(place, 300)}:{name}")
    own = {
        name: value
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__
    }
    classes = [name for name, value in own.items() if _is_model(value) and _takes_nothing(value)]
    factories = [
        name for name, value in own.items() if isinstance(value, FunctionType) and candidates.builds(name)
    ]
    factories = [name for name in factories if _takes_nothing(own[name])]
    for names in (classes, factories):
        if len(names) == 1:
            return names[0], own[names[0]]
    raise HookViewerError(candidates.sentence(place))


def _is_model(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, nn.Module)


def _takes_nothing(target: Any) -> bool:
    return not calling.required(inspect.signature(target))
