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
from hookviewer.sources.demo import DEMOS
from hookviewer.sources.nearby import close
from hookviewer.sources.source import Source
from hookviewer.sources.trained import sha256
from hookviewer.sources.weights import load_weights

__all__ = ["ModelCard", "Preprocess", "Source", "card", "open_model", "sources"]


def open_model(
    spec: str, *, weights: str | Path | None = None, trust: bool = False, **options: Any
) -> nn.Module:
    """Open the model that `spec` names, with the weights of a file where one is given.

    `spec` is `demo:NAME`, `package.module:callable?name=value`, or `file.py:callable?name=value`; `options`
    are further arguments of the callable. `weights` is a .safetensors or .pt file with a state dict; it must
    fit exactly. `card(model)` says what is known of it. Raises `HookViewerError` when it cannot be opened.
    """
    spec = str(spec)
    opened = _source_of(spec).open(spec, options, trust)
    model_card = dataclasses.replace(opened.card, spec=opened.card.spec or spec)
    if weights is not None:
        model_card = _with_weights(opened.model, model_card, weights)
    remember(opened.model, model_card)
    return opened.model


def _with_weights(model: nn.Module, model_card: ModelCard, file: str | Path) -> ModelCard:
    path = load_weights(model, file)
    return dataclasses.replace(model_card, sha256=sha256(path), notes=(f"Its weights come from {path}.",))


def sources() -> tuple[Source, ...]:
    """Return one of each kind of source, in the order in which they are asked."""
    found = [kind() for kind in classes_in(sys.modules[__name__], Source)]  # type: ignore[type-abstract]
    return tuple(sorted(found, key=lambda source: source.rank))


def _source_of(spec: str) -> Source:
    for source in sources():
        if source.accepts(spec):
            return source
    near = close(spec, [*(f"demo:{name}" for name in DEMOS), *_torchvision_names()])
    advice = (
        f"did you mean {near}" if near else "write demo:NAME, package.module:callable or file.py:callable"
    )
    raise HookViewerError(f"{spec!r} names no model: {advice}.")


def _torchvision_names() -> list[str]:
    from torchvision import models

    return [f"torchvision.models:{name}" for name in models.list_models(module=models)]
