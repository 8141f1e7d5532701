"""A layer's output as maps [sample, channel, places …], whatever order its axes are stored in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn

from hookviewer.arrays import Hints, readings
from hookviewer.arrays.roles import (
    CHANNELS_LAST,
    MAPS,
    NOTHING,
    SIGNALS,
    TOKEN_GRID,
    TOKEN_GRID_FIRST,
    VOLUME,
    grid,
)
from hookviewer.modules import module_index, unwrapped
from hookviewer.recording import Recording

WANTED = "it needs maps [sample, channel, row, column], as a convolution gives"
_SUITED = (MAPS, CHANNELS_LAST, TOKEN_GRID, TOKEN_GRID_FIRST, VOLUME)


HintsOf = Callable[[str], Hints]
"""The path of a layer → what is known of the axes of its output."""


def hints_of(recording: Recording, model: nn.Module | None = None) -> HintsOf:
    """Return what a run says of its layers' axes (the pictures that went in), and the model (types)."""
    calls = recording.calls("")
    shapes = calls[0].input_shapes if calls else ()
    pictures = tuple((shape[-2], shape[-1]) for shape in shapes if len(shape) == 4 and shape[1] <= 4) or None
    modules = {} if model is None else module_index(unwrapped(model)[0]).modules

    def of(path: str) -> Hints:
        if path not in modules:
            return Hints(pictures=pictures)
        return Hints(type(modules[path]).__name__, modules[path].extra_repr(), pictures=pictures)

    return of


def obstacle(shape: Sequence[int], hints: Hints = NOTHING) -> str:
    """Return why an output of this shape is no maps, or nothing."""
    sizes = "×".join(map(str, shape)) or "a single number"
    if 0 in shape:
        return f"its output is {sizes}, which is empty."
    reading = readings(shape, hints)[0]
    if reading in _SUITED:
        return ""
    if len(shape) == 3:
        words = "a signal" if reading == SIGNALS else "tokens or a sequence without a grid of places"
        return f"its output is {sizes}, {words}; {WANTED}."
    as_what = f", read as {reading}" if len(shape) > 3 else ""
    return f"its output is {sizes}{as_what}; {WANTED}."


def channels_first(tensor: torch.Tensor, hints: Hints = NOTHING) -> torch.Tensor:
    """Return [N, C, …] maps of an output without an `obstacle`: tokens in their grid, channels in front.

    Class and register tokens, which stand for no place, are left out.
    """
    match readings(tuple(tensor.shape), hints)[0]:
        case reading if reading in (TOKEN_GRID, TOKEN_GRID_FIRST):
            tokens = _samples_first(tensor, hints)
            leading, rows, columns = grid(tokens.shape[1], hints) or (0, 1, tokens.shape[1])
            features = tokens[:, leading:].transpose(1, 2)
            return features.reshape(*features.shape[:2], rows, columns)
        case reading if reading == CHANNELS_LAST:
            return tensor.movedim(-1, 1)
    return tensor


def leading_tokens(tensor: torch.Tensor, hints: Hints = NOTHING) -> torch.Tensor:
    """Return the tokens that `channels_first` leaves out, [N, tokens, D]; none of an output of maps."""
    if readings(tuple(tensor.shape), hints)[0] not in (TOKEN_GRID, TOKEN_GRID_FIRST):
        return tensor.new_zeros(len(tensor), 0)
    tokens = _samples_first(tensor, hints)
    found = grid(tokens.shape[1], hints)
    return tokens[:, : found[0] if found else 0]


def _samples_first(tokens: torch.Tensor, hints: Hints) -> torch.Tensor:
    return tokens.transpose(0, 1) if readings(tuple(tokens.shape), hints)[0] == TOKEN_GRID_FIRST else tokens
