"""Making a variant of the open model beside it, which stays as it is."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.hooks import capture
from hookviewer.leaves import mapped
from hookviewer.modules import unwrapped
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording
from hookviewer.sources import Weights, card, open_model, reopen
from hookviewer.sources.cards import remember
from hookviewer.sources.weights import load_weights
from hookviewer.variants.change import Change
from hookviewer.variants.mixed import in_mixed_precision


@dataclasses.dataclass(frozen=True, eq=False)
class Made:
    """A variant that can be run: `model` is the open model itself where only its runs differ.

    `options` are the keyword arguments of `capture` that it needs (device, mode, seed).
    """

    model: nn.Module
    change: Change
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def inputs(self, args: Any, kwargs: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the inputs as this variant takes them: floating-point tensors in its dtype."""
        dtype = self.change.dtype
        if dtype is None:
            return args, dict(kwargs)
        return mapped(args, lambda one: _converted(one, dtype)), {
            name: mapped(value, lambda one: _converted(one, dtype)) for name, value in kwargs.items()
        }

    def capture(
        self, args: Any, plan: HookPlan, *, kwargs: Mapping[str, Any] | None = None, **options: Any
    ) -> Recording:
        """Run the variant once and return its records: `hooks.capture` with what the variant needs."""
        own, named = self.inputs(args, kwargs or {})
        return capture(self.model, own, plan, kwargs=named, **{**options, **self.options})


def made(model: nn.Module, change: Change, *, trust: bool = False) -> Made:
    """Return the variant of the open `model`, which stays as it is; call it on the model thread.

    Another checkpoint is a copy of the model with other weights, another dtype a converted copy; automatic
    mixed precision is the open model whose forward runs in it (its backward does not, as torch advises).
    Raises `HookViewerError` (`TrustNeeded`, `WeightsMismatch`) where it cannot be made.
    """
    variant = _with_weights(model, change, trust=trust)
    known = card(variant)
    if change.dtype is not None:
        variant = _in_dtype(_copied(model, trust=trust) if variant is model else variant, change.dtype)
    if change.autocast is not None:
        variant = in_mixed_precision(variant, change.autocast)
    if variant is not model:
        remember(variant, known)
    names = ("device", "mode", "seed")
    return Made(
        variant,
        change,
        {name: value for name in names if (value := getattr(change, name)) is not None},
    )


def _with_weights(model: nn.Module, change: Change, *, trust: bool) -> nn.Module:
    allow = change.weights_allow
    if change.spec is not None:
        return open_model(change.spec, weights=change.weights, weights_allow=allow, trust=trust)
    if change.weights is None:
        return model
    variant = _copied(model, trust=trust)
    loaded = load_weights(variant, change.weights, allow=allow, trust=trust)
    of_it = dataclasses.replace(
        card(model),
        sha256=loaded.sha256,
        notes=loaded.notes,
        weights=Weights(change.weights, allow),
        files=(*card(model).files, str(loaded.path.resolve())),
    )
    remember(variant, of_it)
    return variant


def _copied(model: nn.Module, *, trust: bool = False) -> nn.Module:
    """Return a copy of the model; opened anew where it holds what cannot be copied."""
    inner = unwrapped(model)[0]
    try:
        return copy.deepcopy(inner)
    except Exception as error:  # whatever the modules of a user's model refuse
        if card(model).spec:
            return reopen(card(model), trust=trust)
        raise HookViewerError(
            f"This model cannot be copied ({str(error).partition(chr(10))[0]:.200}): open it by a name, "
            "then it is opened a second time."
        ) from error


def _in_dtype(variant: nn.Module, dtype: torch.dtype) -> nn.Module:
    values = [*variant.parameters(), *variant.buffers()]
    if any(value.is_complex() for value in values):
        raise HookViewerError("This model has complex parameters, which have no other dtype: leave it.")
    if not dtype.is_floating_point:
        raise HookViewerError(f"A model cannot be converted to {dtype}: choose a floating-point type.")
    return variant.to(dtype)


def _converted(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return tensor.to(dtype) if tensor.is_floating_point() else tensor
