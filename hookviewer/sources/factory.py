"""Models that an installed package makes."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.sources import calling, importing, torchvision_models
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
        with calling.on_paths(last=(Path.cwd(),)):
            target = _target(imported(module_name), name, place)
            torchvision_models.check_weights(place, target, arguments)
            built = calling.called(place, target, torchvision_models.without_downloads(target, arguments))
        known = torchvision_models.known(target, arguments, built.model)
        card = known or ModelCard(name=name.rpartition(".")[2], files=_own_files(module_name))
        return Opened(built.model, dataclasses.replace(card, inputs=built.inputs))


def _target(module: ModuleType, name: str, place: str) -> Any:
    builder = torchvision_models.builder(name) if module.__name__ == "torchvision.models" else None
    return builder or member(module, name, place)


def _own_files(module_name: str) -> tuple[str, ...]:
    """Return the file of the module where it is the person's own, to watch for changes."""
    module = sys.modules.get(module_name)
    file = getattr(module, "__file__", None)
    return (str(file),) if file and importing.PACKAGE in vars(module) else ()


def imported(name: str) -> ModuleType:
    """Import the module of that name; a missing one is an error that names what is near."""
    before = set(sys.modules)
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
        raise HookViewerError(_missing(missing, error)) from None
    finally:
        importing.mark_package(set(sys.modules) - before)


def _missing(missing: str, error: HookViewerError) -> str:
    parent, _, last = missing.rpartition(".")
    package = importlib.import_module(parent) if parent else None
    there = [entry.name for entry in pkgutil.iter_modules(getattr(package, "__path__", None) or None)]
    near = nearby(last, there) if parent else close(last, there) and f"did you mean {close(last, there)}"
    if near:
        return f"There is no module {missing!r}: {near}."
    assert isinstance(error.__cause__, ModuleNotFoundError)
    return f"{missing!r} cannot be imported: {calling.lacking(error.__cause__)}"


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
