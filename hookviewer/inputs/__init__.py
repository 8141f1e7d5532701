"""Where inputs come from: one class a file, found by walking this folder."""

from __future__ import annotations

import sys
from typing import Any

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs.generated import guess
from hookviewer.inputs.input import Input, InputSource
from hookviewer.registry import classes_in

__all__ = ["Input", "InputSource", "guess", "input_sources", "open_input"]


def open_input(spec: Any, model: nn.Module | None = None) -> Input:
    """Make the input that `spec` names, fit for `model`."""
    for source in input_sources():
        if source.accepts(spec):
            return source.open(spec, model)
    raise HookViewerError(
        f"{spec!r} names no input: write demo:chelsea, random:1x3x224x224 or the name of a file."
    )


def input_sources() -> tuple[InputSource, ...]:
    """Return one of each kind of input source, in the order in which they are asked."""
    found = [kind() for kind in classes_in(sys.modules[__name__], InputSource)]  # type: ignore[type-abstract]
    return tuple(sorted(found, key=lambda source: source.rank))
