"""Making an input for a model out of a picture, with what is known of the model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs import picture, shapes
from hookviewer.inputs.input import Input
from hookviewer.sources import Preprocess, card
from hookviewer.sources.trained import IMAGENET_MEAN, IMAGENET_STD

if TYPE_CHECKING:
    from PIL.Image import Image

OPTIONS = ("size", "short_side", "mean", "std", "normalise")


def make(
    name: str, image: Image, model: nn.Module | None, options: Mapping[str, Any] | None = None, spec: str = ""
) -> Input:
    """Return `image` as an input for `model`.

    `options` override what is known or guessed: `size` (`"224x224"`, height × width), `short_side`, `mean`,
    `std`, and `normalise` (`"imagenet"` or `"none"`).
    """
    preprocess, notes = preprocess_for(model)
    preprocess = adjusted(preprocess, options or {})
    shown = picture.resized(picture.with_channels(image, preprocess.channels), preprocess)
    tensor = picture.to_tensor(shown, preprocess)
    notes = (*picture.described(shown, image, preprocess), *notes, *_warnings(model, preprocess))
    return Input(name, picture.arguments(tensor, preprocess), image=shown, notes=notes, spec=spec or name)


def preprocess_for(model: nn.Module | None) -> tuple[Preprocess, tuple[str, ...]]:
    """Return how a picture becomes an input of `model`, and the sentence that says where it is a guess."""
    if model is None:
        return Preprocess(mean=IMAGENET_MEAN, std=IMAGENET_STD, short_side=320, multiple=8), ()
    known = card(model)
    if known.preprocess is not None:
        return known.preprocess, _guess_note(known.preprocess)
    return shapes.preprocess(model)


def _guess_note(preprocess: Preprocess) -> tuple[str, ...]:
    if not preprocess.guessed:
        return ()
    return ("Size and normalisation are a guess: nothing says what this network was trained with.",)


def adjusted(preprocess: Preprocess, options: Mapping[str, Any]) -> Preprocess:
    """Return `preprocess` with what the person asked for."""
    for name in options:
        if name not in OPTIONS:
            raise HookViewerError(f"A picture has no option {name!r}: choose one of {', '.join(OPTIONS)}.")
    if "size" in options:
        height, width = shapes.parse_shape(str(options["size"]), 2)
        if height * width == 0:
            raise HookViewerError(f"size={options['size']} leaves no pixels at all: write height x width.")
        preprocess = dataclasses.replace(preprocess, height=height, width=width, short_side=None)
    if "short_side" in options:
        preprocess = dataclasses.replace(
            preprocess, height=None, width=None, short_side=_side(options["short_side"])
        )
    return _normalised(preprocess, options)


def _side(value: Any) -> int:
    if not isinstance(value, int) or not 0 < value <= 1 << 15:
        raise HookViewerError(f"short_side={value!r} is no number of pixels: write one from 1 to 32768.")
    return value


def _normalised(preprocess: Preprocess, options: Mapping[str, Any]) -> Preprocess:
    kind = options.get("normalise", "as known")
    if kind == "imagenet":
        return dataclasses.replace(preprocess, mean=IMAGENET_MEAN, std=IMAGENET_STD)
    if kind is None or kind == "none":
        return picture.without_normalisation(preprocess)
    if kind != "as known":
        raise HookViewerError(
            f"normalise={kind!r} is not known: write imagenet or none, or give mean and std."
        )
    numbers = {
        part: _channels(options[part], preprocess.channels) for part in ("mean", "std") if part in options
    }
    if 0 in numbers.get("std", ()):
        raise HookViewerError("std must not be 0: the values are divided by it.")
    if numbers:
        start = (0.0,) * preprocess.channels, (1.0,) * preprocess.channels
        numbers = {"mean": preprocess.mean or start[0], "std": preprocess.std or start[1], **numbers}
    return dataclasses.replace(preprocess, **numbers)  # type: ignore[arg-type]


def _channels(value: Any, channels: int) -> tuple[float, ...]:
    values = value if isinstance(value, tuple | list) else (value,) * channels
    if len(values) != channels or not all(isinstance(number, int | float) for number in values):
        raise HookViewerError(
            f"{value!r} is not one number for each of {channels} channels: write (0.5, 0.5, 0.5)."
        )
    return tuple(float(number) for number in values)


def _warnings(model: nn.Module | None, preprocess: Preprocess) -> tuple[str, ...]:
    known = card(model).preprocess if model is not None else None
    if known is not None and known.mean is not None and preprocess.mean is None:
        return ("Warning: this network expects normalised input and gets values from 0 to 1.",)
    return ()
