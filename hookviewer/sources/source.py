"""What every kind of model source offers, and the arguments inside a spec."""

from __future__ import annotations

import ast
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_plus

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.sources.cards import ModelCard

_WORDS = {"none": None, "null": None, "true": True, "false": False}


@dataclasses.dataclass(frozen=True)
class Opened:
    """A model and its card, as a source hands them over."""

    model: nn.Module
    card: ModelCard


class Source(ABC):
    """A kind of place that models come from. Sources are asked in the order of `rank`, lowest first."""

    rank: int = 50

    @abstractmethod
    def accepts(self, spec: str) -> bool:
        """Whether this source is the one to open `spec`."""

    @abstractmethod
    def open(self, spec: str, options: Mapping[str, Any], trust: bool) -> Opened:
        """Build the model that `spec` names, with `options` on top of the arguments inside it."""


def split_arguments(spec: str) -> tuple[str, dict[str, Any]]:
    """Split `place?name=value&other=value` into the place and the values.

    Values are Python literals (`10`, `(3, 4)`, `'text'`), the words none, true and false in any case, or
    plain text. `+` is a space and `%2B` a plus, as in web addresses.
    """
    place, _, query = spec.partition("?")
    return place, dict(_argument(part, spec) for part in query.split("&") if part)


def _argument(part: str, spec: str) -> tuple[str, Any]:
    name, equals, text = part.partition("=")
    if not equals or not unquote_plus(name).isidentifier():
        raise HookViewerError(f"{part!r} in {spec!r} is no argument: write name=value, joined by &.")
    return unquote_plus(name), literal(unquote_plus(text))


def literal(text: str) -> Any:
    """Return the Python literal that `text` spells, or the text itself."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def spelled(arguments: Mapping[str, Any]) -> str:
    """Return arguments as they are written in a call: `num_classes=10, weights=None`."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
