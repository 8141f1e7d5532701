"""Recognising torchvision's networks by the names and shapes in a state dict; none is built."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from hookviewer.resources import resource

Shapes = Mapping[str, tuple[int, ...]]

TABLE = "torchvision_states.json"
"""Made by packaging/make_architectures.py: a row for each way in which a network's weights are published."""

CLASSES = (1000, 400, 91, 21)
"""Numbers of classes of published weights: a last tensor of so many rows has one for each class."""


@dataclasses.dataclass(frozen=True)
class Architecture:
    """A network that a state dict looks like: `spec` opens it.

    `fits` is false where only its body is the same, and the last layers are others.
    """

    spec: str
    fits: bool


def row(spec: str, arguments: Mapping[str, Any], shapes: Shapes) -> dict[str, Any]:
    """Return the row of the table for a network with a state dict of these shapes, in its own order."""
    last = [name for name in shapes if not _is_count(name)][-1]
    classes = shapes[last][0] if shapes[last] else 0
    prints = {"names": names_print(shapes), "whole": whole_print(shapes), "body": body_print(shapes, last)}
    return {"spec": spec, "arguments": dict(arguments), **prints, "last": last, "classes": classes}


def names_print(shapes: Shapes) -> str:
    """Return what all names together are recognised by."""
    return _hash(name for name in shapes if not _is_count(name))


def whole_print(shapes: Shapes) -> str:
    """Return what all names and shapes are recognised by."""
    return _hash(f"{name} {tuple(shape)}" for name, shape in shapes.items() if not _is_count(name))


def body_print(shapes: Shapes, last: str) -> str:
    """Return what the names and shapes outside the last and the auxiliary heads are recognised by."""
    head = last.partition(".")[0]
    body = {name: shape for name, shape in shapes.items() if name.partition(".")[0] != head}
    return whole_print({name: shape for name, shape in body.items() if not name.lower().startswith("aux")})


def recognised(shapes: Shapes) -> tuple[Architecture, ...]:
    """Return the networks of torchvision that a state dict looks like, best first.

    A network with another number of classes is recognised too, and its spec says that number.
    """
    whole, names = whole_print(shapes), names_print(shapes)
    exact = [entry for entry in _table() if entry["whole"] == whole]
    if exact:
        return tuple(Architecture(_spec(entry, {}), True) for entry in exact)
    bodies = {last: body_print(shapes, last) for last in {entry["last"] for entry in _table()}}
    same = [entry for entry in _table() if entry["body"] == bodies[entry["last"]]]
    return tuple(_with_classes(entry, shapes, names) for entry in same)


def _with_classes(entry: Mapping[str, Any], shapes: Shapes, names: str) -> Architecture:
    if entry["names"] == names and entry["classes"] in CLASSES:
        return Architecture(_spec(entry, {"num_classes": shapes[entry["last"]][0]}), True)
    return Architecture(_spec(entry, {}), False)


def _spec(entry: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    arguments = "&".join(f"{name}={value}" for name, value in {**entry["arguments"], **more}.items())
    return f"{entry['spec']}?{arguments}" if arguments else str(entry["spec"])


def _is_count(name: str) -> bool:
    # files written before torch 0.4.1 do not count batches
    return name.endswith("num_batches_tracked")


def _hash(lines: Iterable[str]) -> str:
    text = "\n".join(sorted(lines)).encode("utf-8", "backslashreplace")
    return hashlib.sha256(text).hexdigest()[:16]


@functools.cache
def _table() -> tuple[Mapping[str, Any], ...]:
    return tuple(json.loads(resource(TABLE).read_text(encoding="utf-8")))
