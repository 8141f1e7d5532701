"""Where models come from: one class a file, found by walking this folder."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.registry import classes_in
from hookviewer.sources.cards import ModelCard, Preprocess, card, remember
from hookviewer.sources.source import Source

__all__ = ["ModelCard", "Preprocess", "Source", "card", "open_model", "sources"]


def open_model(
    spec: str, *, weights: str | Path | None = None, trust: bool = False, **options: Any
) -> nn.Module:
    """Open the model that `spec` names, with the weights of a file where one is given.

    `spec` is `demo:NAME`, `package.module:callable?name=value`, or `file.py:callable?name=value`; `options` are
    further arguments of the callable. `weights` is a .safetensors or .pt file with a state dict; it must fit
    exactly. Raises `HookViewerError` when the model cannot be opened. `card(model)` says what is known of it.
    """
    spec = str(spec)
    opened = _source_of(spec).open(spec, options, trust)
    model_card = dataclasses.replace(opened.card, spec=opened.card.spec or spec)
    remember(opened.model, model_card)
    return opened.model


def sources() -> tuple[Source, ...]:
    """Return one of each kind of source, in the order in which they are asked."""
    found = [kind() for kind in classes_in(sys.modules[__name__], Source)]  # type: ignore[type-abstract]
    return tuple(sorted(found, key=lambda source: source.rank))


def _source_of(spec: str) -> Source:
    for source in sources():
        if source.accepts(spec):
            return source
    raise HookViewerError(
        f"{spec!r} names no model: write demo:NAME, package.module:callable or file.py:callable."
    )
