"""Nested outputs as plain JSON, the tensors apart: no class is named that reading would have to import."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

from hookviewer.leaves import MAXIMUM_DEPTH

Store = Callable[[torch.Tensor], str]
Fetch = Callable[[str], torch.Tensor]


def encoded(value: Any, store: Store, depth: int = 0) -> Any:
    """Return `value` as JSON; `store` takes each tensor and gives its name."""
    if isinstance(value, torch.Tensor):
        return {"tensor": store(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": value}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if depth >= MAXIMUM_DEPTH:
        return {"object": "nested too deep", "fields": {}}
    return _container(value, lambda item: encoded(item, store, depth + 1))


def decoded(tree: Mapping[str, Any], fetch: Fetch) -> Any:
    """Return the value of a JSON tree; named tuples and objects come back as plain namespaces."""
    match dict(tree):
        case {"tensor": str(name)}:
            return fetch(name)
        case {"value": value}:
            return value
        case {"complex": [real, imaginary]}:
            return complex(real, imaginary)
        case {"list": list(items)}:
            return [decoded(item, fetch) for item in items]
        case {"tuple": list(items)}:
            return tuple(decoded(item, fetch) for item in items)
        case {"mapping": list(pairs)}:
            return {_key(key): decoded(item, fetch) for key, item in pairs}
        case {"object": str(), "fields": dict(fields)}:
            return types.SimpleNamespace(**{name: decoded(item, fetch) for name, item in fields.items()})
    raise ValueError("an unknown kind of value")


def _container(value: Any, child: Callable[[Any], Any]) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {"mapping": [[_key(key), child(item)] for key, item in value.items()]}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return {"tuple": [child(item) for item in value]}
    if isinstance(value, list):
        return {"list": [child(item) for item in value]}
    fields = {name: child(getattr(value, name, None)) for name in _fields(value)}
    return {"object": type(value).__name__, "fields": fields}


def _fields(value: Any) -> list[str]:
    if hasattr(value, "_fields"):
        return list(value._fields)
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    return list(getattr(value, "__dict__", ()))


def _key(key: Any) -> Any:
    return key if key is None or isinstance(key, (bool, int, float, str)) else str(key)
