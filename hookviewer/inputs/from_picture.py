"""Making an input for a model out of pictures, with what is known of the model."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs import shapes
from hookviewer.inputs.input import Input
from hookviewer.inputs.pixels import Picture
from hookviewer.inputs.prepare import needed, prepare
from hookviewer.inputs.preprocess import Preprocess
from hookviewer.sources import card
from hookviewer.sources.trained import IMAGENET_MEAN, IMAGENET_STD

Frames = Callable[[int, int], tuple[Picture, ...]]
"""What gives the pictures from a frame on, at most so many: at least one."""


def make(
    name: str,
    frames: Frames,
    model: nn.Module | None,
    options: Mapping[str, Any] | None = None,
    spec: str = "",
) -> Input:
    """Return pictures as an input for `model`.

    `options` override what is known or guessed (`Preprocess.changed`); `frame` chooses where to begin.
    """
    changes = dict(options or {})
    frame = changes.pop("frame", 0)
    if not isinstance(frame, int) or isinstance(frame, bool) or frame < 0:
        raise HookViewerError(f"frame={frame!r} is no number of a frame: write 0 for the first.")
    preprocess, notes = preprocess_for(model)
    preprocess = preprocess.changed(changes)
    pictures = frames(frame, needed(preprocess))
    notes = (*notes, *_warnings(model, preprocess))
    return prepare(pictures, preprocess, name=name, spec=spec, notes=notes)


def only(picture: Picture) -> Frames:
    """Return the frames of a picture that stands alone."""

    def frames(first: int, count: int) -> tuple[Picture, ...]:
        if first:
            raise HookViewerError(f"This is one picture only: leave frame={first} away.")
        return (picture,)

    return frames


def preprocess_for(model: nn.Module | None) -> tuple[Preprocess, tuple[str, ...]]:
    """Return how a picture becomes an input of `model`, and the sentence that says where it is a guess."""
    if model is None:
        return Preprocess(mean=IMAGENET_MEAN, std=IMAGENET_STD, short_side=320, multiple=8), ()
    return shapes.preprocess(model)


def _warnings(model: nn.Module | None, preprocess: Preprocess) -> tuple[str, ...]:
    known = card(model).preprocess if model is not None else None
    plain = preprocess.mean is None and preprocess.value_range == "0..1"
    if known is not None and known.mean is not None and plain:
        return ("Warning: this network expects normalised input and gets values from 0 to 1.",)
    return ()


def for_model(given: Input, model: nn.Module | None) -> Input:
    """Return the input made of the same pictures for another model or another recipe of it."""
    if given.source is None:
        return given
    pictures = given.source
    return make(given.name, lambda first, count: pictures[:count], model)


def with_frame(given: Input, frame: int) -> str:
    """Return the spec of another frame of the same file."""
    place, _, query = given.spec.partition("?")
    kept = [part for part in query.split("&") if part and not part.startswith("frame=")]
    return f"{place}?{'&'.join([*kept, f'frame={frame}'])}"


def used(preprocess: Preprocess, model: nn.Module) -> None:
    """Make `preprocess` the recipe of `model` from now on, as its card has it."""
    from hookviewer.sources.cards import remember

    remember(model, dataclasses.replace(card(model), preprocess=preprocess))
