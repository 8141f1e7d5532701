"""Models that an installed package makes."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.sources import calling, torchvision_models
from hookviewer.sources.cards import ModelCard
from hookviewer.sources.nearby import close, nearby
from hookviewer.sources.source import Opened, Source, split_arguments

_SPEC = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\?.*)?", re.DOTALL)


class FactorySource(Source):
    """`package.module:callable?name=value`: whatever the callable returns, or a module of that name."""

    rank = 40

    def accepts(self, spec: str) -> bool:
        return _SPEC.fullmatch(spec) is not None

    def open(self, spec: str, options: Mapping[str, Any], trust: bool) -> Opened:
        place, arguments = split_arguments(spec)
        arguments |= options
        module_name, _, name = place.partition(":")
        with calling.on_path(Path.cwd(), first=False):
            target = member(imported(module_name), name, place)
            torchvision_models.check_weights(place, target, arguments)
            model = calling.called(place, target, arguments)
        known = torchvision_models.known(target, arguments)
        return Opened(model, known or ModelCard(name=name.rpartition(".")[2], spec=spec))


def imported(name: str) -> ModuleType:
    """Import the module of that name; a missing one is an error that names what is near."""
    try:
        with calling.one_sentence(f"Importing {name}"):
            return importlib.import_module(name)
    except HookViewerError as error:
        missing = (
            getattr(error.__cause__, "name", None)
            if isinstance(error.__cause__, ModuleNotFoundError)
            else None
        )
        if missing is None or not f"{name}.".startswith(f"{missing}."):
            raise
        raise HookViewerError(f"There is no module {missing!r}: {_near_module(missing)}.") from None


def _near_module(missing: str) -> str:
    parent, _, last = missing.rpartition(".")
    if not parent:
        near = close(last, [entry.name for entry in pkgutil.iter_modules()])
        return f"did you mean {near}" if near else "install it into this environment"
    package = importlib.import_module(parent)
    return nearby(last, [entry.name for entry in pkgutil.iter_modules(getattr(package, "__path__", []))])


def member(module: ModuleType, name: str, place: str) -> Any:
    """Return the attribute that a dotted name spells; a missing one is an error that names what is near."""
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise HookViewerError(f"{place}: there is no {part!r}: {nearby(part, public_names(found))}.")
        found = getattr(found, part)
    return found


def public_names(place: Any) -> list[str]:
    """Return what could be opened in a module or class: its public callables and modules."""
    names = [name for name in vars(place) if not name.startswith("_")]
    return [name for name in names if callable(vars(place)[name]) or isinstance(vars(place)[name], nn.Module)]
