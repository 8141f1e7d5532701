"""Inputs that a script already holds: tensors, arrays, pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs import arguments, array_file, from_picture
from hookviewer.inputs.dimensions import spelled
from hookviewer.inputs.entries import batch_of
from hookviewer.inputs.input import Input
from hookviewer.inputs.pixels import Picture, picture_of


def from_value(value: Any, model: nn.Module | None, opened: arguments.Open) -> Input:
    """Return `value` as an input: a tensor or array as it is, a picture prepared for `model`.

    A tuple is all positional arguments; a mapping is keyword arguments, each a value or a spec. An array of
    bytes [H, W, 3] or [H, W] is a picture. Raises `HookViewerError` for anything else.
    """
    match value:
        case Input():
            return value
        case torch.Tensor():
            name = f"tensor {_shape(value.shape)}"
            return Input(name, (value,), batch=batch_of(value, model))
        case np.ndarray():
            return _array(value, model)
        case tuple():
            return Input("arguments", value)
        case Mapping():
            return arguments.joined((), {str(name): one for name, one in value.items()}, model, opened)
        case Picture():
            return picture_input("picture", value, model)
    if is_picture(value):
        return picture_input("picture", value, model)
    raise HookViewerError(
        f"A {type(value).__name__} is no input: give a tensor, an array, a picture, a file name, or "
        "hookviewer.Input(name, args)."
    )


def picture_input(name: str, value: Any, model: nn.Module | None) -> Input:
    """Return a picture that no file holds, such as a pasted one, under a name; the input keeps it."""
    picture = value if isinstance(value, Picture) else picture_of(value)
    return from_picture.make(name, from_picture.only(picture), model)


def _array(array: np.ndarray[Any, Any], model: nn.Module | None) -> Input:
    if array.dtype == np.uint8 and (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))):
        from PIL import Image

        return picture_input("picture", Image.fromarray(array), model)
    tensor = array_file.to_tensor(array, "The array")
    return Input(f"array {_shape(array.shape)}", (tensor,), batch=batch_of(tensor, model))


def is_picture(value: Any) -> bool:
    """Whether `value` is a picture of Pillow."""
    from PIL import Image

    return isinstance(value, Image.Image)


def _shape(shape: tuple[int, ...]) -> str:
    return spelled(shape).replace(" × ", "×") if shape else "of one number"
