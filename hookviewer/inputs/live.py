"""Inputs that a script already holds: tensors, arrays, pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs import array_file, from_picture
from hookviewer.inputs.input import Input


def from_value(value: Any, model: nn.Module | None) -> Input:
    """Return `value` as an input: a tensor or array as it is, a picture prepared for `model`.

    A tuple is all positional arguments, a mapping all keyword arguments. An array of bytes [H, W, 3] or
    [H, W] is a picture. Raises `HookViewerError` for anything else.
    """
    match value:
        case Input():
            return value
        case torch.Tensor():
            return Input(f"tensor {_shape(value.shape)}", (value,))
        case np.ndarray():
            return _array(value, model)
        case tuple():
            return Input("arguments", value)
        case Mapping():
            return Input("keyword arguments", (), {str(name): one for name, one in value.items()})
    if _is_picture(value):
        return from_picture.make("picture", value, model)
    raise HookViewerError(
        f"A {type(value).__name__} is no input: give a tensor, an array, a picture, a file name, or "
        "hookviewer.Input(name, args)."
    )


def _array(array: np.ndarray[Any, Any], model: nn.Module | None) -> Input:
    if array.dtype == np.uint8 and (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))):
        from PIL import Image

        return from_picture.make("picture", Image.fromarray(array), model)
    return Input(f"array {_shape(array.shape)}", (array_file.to_tensor(array, "The array"),))


def _is_picture(value: Any) -> bool:
    from PIL import Image

    return isinstance(value, Image.Image)


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(str(size) for size in shape) or "of one number"
