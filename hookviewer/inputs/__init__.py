"""Where inputs come from: one class a file, found by walking this folder."""

from __future__ import annotations

import os
import sys
from typing import Any

from torch import nn

from hookviewer.inputs.generated import guess
from hookviewer.inputs.input import Input, InputSource
from hookviewer.inputs.live import from_value
from hookviewer.registry import classes_in

__all__ = ["Input", "InputSource", "guess", "input_sources", "open_input"]


def open_input(spec: Any, model: nn.Module | None = None) -> Input:
    """Make the input that `spec` names, fit for `model`.

    `spec` is `demo:chelsea`, a picture or .npy file, `random:1x3x224x224?seed=0`, `ones:1x3`,
    `constant:1x3x32x32?value=1`, `values:[[1., 2.]]`, or a value: a tensor, an array, a picture, a tuple of
    arguments, or an `Input`. A picture becomes what the model's card says, or a guess; `size`, `short_side`,
    `mean`, `std` and `normalise` change that (`photo.jpg?size=224x224&normalise=imagenet`). Raises
    `HookViewerError` when there is no such input, or it does not suit the model.
    """
    if not isinstance(spec, str | os.PathLike):
        return from_value(spec, model)
    text = os.fspath(spec)
    return next(source for source in input_sources() if source.accepts(text)).open(text, model)


def input_sources() -> tuple[InputSource, ...]:
    """Return one of each kind of input source, in the order in which they are asked; the last takes all."""
    found = [kind() for kind in classes_in(sys.modules[__name__], InputSource)]  # type: ignore[type-abstract]
    return tuple(sorted(found, key=lambda source: source.rank))
