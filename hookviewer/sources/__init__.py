"""Where models come from: one class a file, found by walking this folder."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Collection
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.registry import classes_in
from hookviewer.sources import importing, torchvision_models
from hookviewer.sources.architectures import Architecture
from hookviewer.sources.cards import ModelCard, Preprocess, Weights, card, remember
from hookviewer.sources.decisions import ChoiceNeeded, TrustNeeded, WeightsMismatch, WeightsOnly
from hookviewer.sources.demo import DEMOS
from hookviewer.sources.match import Match, match
from hookviewer.sources.nearby import close
from hookviewer.sources.scan import Candidate, scan
from hookviewer.sources.source import Source
from hookviewer.sources.weights import load_weights
from hookviewer.sources.wording import shown

__all__ = [
    "Architecture",
    "Candidate",
    "ChoiceNeeded",
    "Match",
    "ModelCard",
    "Preprocess",
    "Source",
    "TrustNeeded",
    "Weights",
    "WeightsMismatch",
    "WeightsOnly",
    "card",
    "match",
    "model_names",
    "open_model",
    "recipe_inputs",
    "reopen",
    "scan",
    "sources",
]


def open_model(
    spec: str,
    *,
    weights: str | Path | None = None,
    weights_allow: Collection[str] = (),
    trust: bool = False,
    **options: Any,
) -> nn.Module:
    """Open the model that `spec` names, with the weights of a file where one is given.

    `spec` is `demo:NAME`, `package.module:callable?name=value`, `file.py:callable?name=value`, a project
    folder, a program of torch.export (.pt2), or a pickled module (.pt); `options` are further arguments of
    the callable. `weights` is a .safetensors file, the index of several, or a .pt, .pth or .ckpt file with a
    state dict (`file.ckpt?key=ema` chooses one); it must fit exactly, except for what `weights_allow` names:
    missing, unexpected, mismatched. Files that can run code are loaded only with `trust`, which is remembered
    for their content. `card(model)` says what is known of the model.

    Raises `HookViewerError` when it cannot be opened; its kinds `TrustNeeded`, `WeightsMismatch`,
    `WeightsOnly` and `ChoiceNeeded` carry what a person needs to decide.
    """
    spec = str(spec)
    opened = _source_of(spec).open(spec, options, trust)
    model_card = dataclasses.replace(
        opened.card, spec=opened.card.spec or spec, options=MappingProxyType(dict(options))
    )
    if weights is not None:
        model_card = _with_weights(opened.model, model_card, weights, tuple(weights_allow), trust)
    remember(opened.model, model_card)
    return opened.model


def _with_weights(
    model: nn.Module, model_card: ModelCard, file: str | Path, allow: tuple[str, ...], trust: bool
) -> ModelCard:
    loaded = load_weights(model, file, allow=allow, trust=trust)
    return dataclasses.replace(
        model_card,
        sha256=loaded.sha256,
        notes=loaded.notes,
        weights=Weights(str(file), allow),
        files=(*model_card.files, str(loaded.path.resolve())),
    )


def reopen(model_card: ModelCard, *, trust: bool = False) -> nn.Module:
    """Open a model again from its card, its code and its weights read anew; the one before is left alone.

    Raises `HookViewerError` when the code does not run any more; what was imported before
    stays in place then.
    Without weights, the random numbers are those of seed 0.
    """
    if not model_card.spec:
        raise HookViewerError(
            "This model was not opened by a name and cannot be read again: make it again in your code."
        )
    kept = model_card.weights
    with importing.restored(importing.PACKAGE, importing.BESIDE), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return open_model(
            model_card.spec,
            weights=kept.file if kept else None,
            weights_allow=kept.allow if kept else (),
            trust=trust,
            **model_card.options,
        )


def recipe_inputs(model: nn.Module) -> tuple[Any, ...]:
    """Return the inputs that a recipe returned together with `model`, each fit for `open_input`.

    A recipe is a function that returns `(model, inputs)`. Its `inputs` are one input (a tensor, an array, a
    tuple of positional arguments, a mapping of keyword arguments, or an `Input`), or a list of several.
    """
    return card(model).inputs


def model_names() -> tuple[str, ...]:
    """Return the specs of all models that open by a name alone: the demos, then all of torchvision."""
    return (*(f"demo:{name}" for name in DEMOS), *torchvision_models.names())


def sources() -> tuple[Source, ...]:
    """Return one of each kind of source, in the order in which they are asked."""
    found = [kind() for kind in classes_in(sys.modules[__name__], Source)]  # type: ignore[type-abstract]
    return tuple(sorted(found, key=lambda source: source.rank))


def _source_of(spec: str) -> Source:
    for source in sources():
        if source.accepts(spec):
            return source
    near = close(spec, model_names())
    advice = (
        f"did you mean {near}" if near else "write demo:NAME, package.module:callable or file.py:callable"
    )
    raise HookViewerError(f"{shown(spec, 300)!r} names no model: {advice}.")
