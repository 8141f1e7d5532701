"""Inputs made from numbers: ones, constants, random values, values typed by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs import shapes
from hookviewer.inputs.dimensions import parse_shape, spelled
from hookviewer.inputs.input import Input, InputSource
from hookviewer.sources.source import literal, split_arguments

_DEFAULTS: dict[str, dict[str, Any]] = {"random": {"seed": 0}, "constant": {"value": 0.0}, "ones": {}}
KINDS = ("random", "constant", "ones", "values")


class GeneratedInput(InputSource):
    """`random:1x3x224x224?seed=0`, `constant:1x3x32x32?value=1`, `ones:1x3`, `values:[[1., 2.]]`."""

    rank = 20

    def accepts(self, spec: str) -> bool:
        return spec.partition(":")[0] in KINDS and ":" in spec

    def open(self, spec: str, model: nn.Module | None) -> Input:
        kind, _, rest = spec.partition(":")
        if kind == "values":
            return Input(spec, (values(rest),), spec=spec)
        place, options = split_arguments(rest)
        shape = parse_shape(place)
        tokens = _tokens_of(model)
        tensor = _tensor(kind, shape, options, tokens)
        notes = (f"Whole numbers below {tokens}: the model begins with an embedding.",) if tokens else ()
        return Input(f"{kind} {spelled(shape)}", (tensor,), notes=notes, spec=spec)


def _tokens_of(model: nn.Module | None) -> int:
    """Return how many tokens a model knows that begins with an embedding; 0 for every other one."""
    try:
        return 0 if model is None else shapes.expected(model).tokens
    except HookViewerError:
        return 0


def _tensor(kind: str, shape: tuple[int, ...], options: dict[str, Any], tokens: int) -> torch.Tensor:
    allowed: dict[str, Any] = _DEFAULTS[kind]
    for name, value in options.items():
        if name not in allowed or not isinstance(value, int | float):
            raise HookViewerError(f"{kind}: takes no {name}={value!r}: write {_usage(kind)}.")
    chosen = {**allowed, **options}
    if kind == "random":
        generator = torch.Generator().manual_seed(int(chosen["seed"]))
        if tokens:
            return torch.randint(tokens, shape, generator=generator)
        return torch.randn(shape, generator=generator)
    value = chosen.get("value", 1)
    return torch.full(shape, int(value)) if tokens else torch.full(shape, float(value))


def _usage(kind: str) -> str:
    return {
        "random": "random:1x3x224x224?seed=0",
        "constant": "constant:1x3x32x32?value=1",
        "ones": "ones:1x3",
    }[kind]


def values(text: str) -> torch.Tensor:
    """Return the tensor that a nested list of numbers spells."""
    try:
        return torch.tensor(literal(text))
    except (TypeError, ValueError, RuntimeError):
        raise HookViewerError(f"{text!r} is no list of numbers: write values:[[1., 2.], [3., 4.]].") from None


def ones_for(model: nn.Module | None, spec: str) -> Input:
    """Return ones in the shape that `model` takes."""
    if model is None:
        raise HookViewerError("demo:ones takes its shape from a model: write ones:1x3x224x224 instead.")
    shapes.check_guessable(model)
    want = shapes.expected(model)
    dtype = torch.long if want.tokens else torch.float32
    return _input("ones", [torch.ones(shape, dtype=dtype) for shape in want.shapes], want, spec)


def guess(model: nn.Module) -> Input:
    """Return random inputs (seed 0) of the shapes that `model` takes, with a note where they are a guess.

    Raises `HookViewerError` when there is nothing to go by.
    """
    shapes.check_guessable(model)
    want = shapes.expected(model)
    generator = torch.Generator().manual_seed(0)
    if want.tokens:
        return _input("random", [torch.randint(want.tokens, want.shape, generator=generator)], want, "")
    return _input("random", [torch.randn(shape, generator=generator) for shape in want.shapes], want, "")


def _input(name: str, tensors: list[torch.Tensor], want: shapes.Expected, spec: str) -> Input:
    arguments = ([tensors[0][0]],) if want.listed else tuple(tensors)
    return Input(name, arguments, notes=(want.reason,) if want.reason else (), spec=spec)
