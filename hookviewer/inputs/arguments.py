"""Several inputs at once: each argument of `forward` by its name or its place."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs.input import Input
from hookviewer.inputs.lacking import ArgumentsLacking
from hookviewer.inputs.signatures import Argument, signature
from hookviewer.inputs.words import BOTH
from hookviewer.sources.nearby import nearby
from hookviewer.sources.source import literal
from hookviewer.sources.wording import shown

Open = Callable[[Any, nn.Module | None], Input]
"""What opens the spec of one argument, or makes an input of a picture or array."""

PLACES = ("positional only", "positional")


def split(text: str) -> tuple[list[str], dict[str, str]]:
    """Split `x=random:1x3;mask=ones:1x8` into what has no name and what has one."""
    unnamed: list[str] = []
    named: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, value = _named(part)
        if name in named:
            raise HookViewerError(f"{name} is given twice: leave one away.")
        if name:
            named[name] = value
        elif named:
            raise HookViewerError(
                f"{shown(part)!r} has no name but stands behind one: write name={shown(part)}."
            )
        else:
            unnamed.append(part)
    return unnamed, named


def _named(part: str) -> tuple[str, str]:
    found = re.match(r"([^\W\d]\w*)\s*=(.*)", part, re.DOTALL)
    return (found[1], found[2].strip()) if found else ("", part)


def joined(
    unnamed: Sequence[Any], named: Mapping[str, Any], model: nn.Module | None, opened: Open, spec: str = ""
) -> Input:
    """Return one input out of arguments that are specs, values, or inputs of their own.

    Raises `HookViewerError` for names that `forward` does not have, and for required ones that lack.
    """
    arguments = signature(model) if model is not None else ()
    if arguments:
        _check(unnamed, named, arguments, type(model).__name__)
    single = {name: one_input(value, model, opened) for name, value in _labelled(unnamed, named).items()}
    values = {label: one.args[0] for label, one in single.items()}
    positional = [values[str(place)] for place in range(len(unnamed))]
    keywords = {name: values[name] for name in named}
    for argument in arguments[len(unnamed) :] if spec else ():
        if argument.kind not in PLACES or argument.name not in keywords:
            break
        positional.append(keywords.pop(argument.name))
    return Input(
        ", ".join(named) or "arguments",
        tuple(positional),
        keywords,
        image=next((one.image for one in single.values() if one.image is not None), None),
        notes=tuple(
            f"{label}: {note}" for label, one in single.items() for note in one.notes if note != BOTH
        ),
        spec=spec,
    )


def _labelled(unnamed: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    return {**{str(place): value for place, value in enumerate(unnamed)}, **named}


def one_input(value: Any, model: nn.Module | None, opened: Open) -> Input:
    """Return an argument as an input of its own: text is a number, true, false, none, quoted, or a spec."""
    if isinstance(value, os.PathLike):
        return _alone(opened(value, model), "The file")
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("args:"):
            raise HookViewerError(
                f"{shown(text)} stands inside arguments: write its parts beside the others."
            )
        plain = literal(text)
        if not isinstance(plain, str) or text[:1] in ("'", '"'):
            return Input("", (plain,))
        return _alone(opened(text, model), shown(text))
    if isinstance(value, Input):
        return _alone(value, value.name)
    if isinstance(value, torch.Tensor | bool | int | float | None):
        return Input("", (value,))
    from PIL import Image

    if isinstance(value, np.ndarray | Image.Image):
        return _alone(opened(value, model), "picture")
    return Input("", (value,))


def _alone(given: Input, what: str) -> Input:
    same = all(isinstance(one, torch.Tensor) for one in given.args) and BOTH in given.notes
    if given.kwargs or (len(given.args) != 1 and not same):
        raise HookViewerError(f"{what} is {len(given.args)} arguments itself: give one for each name.")
    return given


def _check(
    unnamed: Sequence[Any], named: Mapping[str, Any], arguments: Sequence[Argument], what: str
) -> None:
    kinds = {argument.kind for argument in arguments}
    places = [argument.name for argument in arguments if argument.kind in PLACES]
    if len(unnamed) > len(places) and "more positional" not in kinds:
        raise HookViewerError(f"{what} takes {len(places)} inputs, not {len(unnamed)}: leave some away.")
    by_name = [one.name for one in arguments if one.kind in ("positional", "keyword")]
    for name in named:
        if name not in by_name and "more keyword" not in kinds:
            raise HookViewerError(f"{what} takes no input {shown(name)!r}: {nearby(name, by_name)}.")
        if name in places[: len(unnamed)]:
            raise HookViewerError(f"{name} is given twice, by place and by name: leave one away.")
    check_complete(set(places[: len(unnamed)]) | set(named), arguments, what)


def check_complete(given: set[str], arguments: Sequence[Argument], what: str) -> None:
    """Raise a sentence when a required argument is not among those `given`."""
    required = [one.name for one in arguments if one.required]
    lacking = [name for name in required if name not in given]
    if lacking:
        example = ";".join(f"{name}=random:SHAPE" for name in required)
        raise ArgumentsLacking(
            f"{what} needs {len(required)} inputs ({', '.join(required)}), and {', '.join(lacking)} "
            f"{'is' if len(lacking) == 1 else 'are'} not given: write args:{example}."
        )
