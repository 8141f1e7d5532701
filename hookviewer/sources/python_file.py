"""Models that are written in a Python file of the user's."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.sources import calling, candidates
from hookviewer.sources.cards import ModelCard
from hookviewer.sources.factory import member
from hookviewer.sources.files import existing
from hookviewer.sources.source import Opened, Source, split_arguments
from hookviewer.sources.trained import sha256

_PLACE = re.compile(r"(?P<file>.+?\.py)(:(?P<name>[A-Za-z_][\w.]*))?", re.DOTALL)
_MARK = "__hookviewer_folder__"


class PythonFileSource(Source):
    """`file.py:callable?name=value`, or `file.py` where only one model can be meant."""

    rank = 30

    def accepts(self, spec: str) -> bool:
        return _PLACE.fullmatch(spec.partition("?")[0]) is not None

    def open(self, spec: str, options: Mapping[str, Any], trust: bool) -> Opened:
        place, arguments = split_arguments(spec)
        match = _PLACE.fullmatch(place)
        assert match is not None
        path = existing(match["file"]).resolve()
        with calling.on_path(path.parent):
            module = imported(path)
            name, target = _chosen(module, path, match["name"])
            model = calling.called(f"{path.name}:{name}", target, arguments | dict(options), path)
        return Opened(model, ModelCard(name=f"{path.stem}:{name}", spec=spec, sha256=sha256(path)))


def imported(path: Path) -> ModuleType:
    """Run a Python file as a module of its own name, anew each time.

    The modules beside it that it imports are forgotten again before the next file is opened, so that an
    edited one is read again and two folders may each have a `layers.py`.
    """
    for name in [name for name, module in sys.modules.items() if _MARK in getattr(module, "__dict__", {})]:
        del sys.modules[name]
    name = f"hookviewer_opened_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    before = set(sys.modules)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with calling.one_sentence(f"Running {path.name}", path):
            spec.loader.exec_module(module)
    finally:
        _mark_neighbours(path.parent, before | {name})
    return module


def _mark_neighbours(folder: Path, before: set[str]) -> None:
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).resolve().is_relative_to(folder) and "site-packages" not in Path(file).parts:
            setattr(sys.modules[name], _MARK, str(folder))


def _chosen(module: ModuleType, path: Path, name: str | None) -> tuple[str, Any]:
    if name is not None:
        return name, member(module, name, f"{path.name}:{name}")
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
    raise HookViewerError(candidates.sentence(path))


def _is_model(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, nn.Module)


def _takes_nothing(target: Any) -> bool:
    return not calling.required(inspect.signature(target))
