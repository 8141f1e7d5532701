"""Finding plug-in classes: one class a file, no list to keep."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def classes_in(package: ModuleType, base: type[T]) -> list[type[T]]:
    """Return the concrete subclasses of `base` that the modules of `package` define, by name."""
    found: list[type[T]] = []
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda entry: entry.name):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        found += [
            member
            for member in vars(module).values()
            if inspect.isclass(member)
            and issubclass(member, base)
            and member.__module__ == module.__name__
            and not inspect.isabstract(member)
            and member is not base
        ]
    return found
