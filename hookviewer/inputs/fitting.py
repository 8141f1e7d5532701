"""Tensors from files, in the axes that a model takes: a batch of one, channels first, bytes as a picture."""

from __future__ import annotations

import dataclasses

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs import from_picture, shapes
from hookviewer.inputs.dimensions import spelled
from hookviewer.inputs.input import Input, samples
from hookviewer.inputs.pixels import picture_of
from hookviewer.inputs.signatures import required_arguments

PICTURE_CHANNELS = (3, 4)


def fitted(given: Input, model: nn.Module | None) -> Input:
    """Return a tensor from a file as `model` takes it, with a note on what was done.

    A picture of bytes, [H, W, 3] or [3, H, W], is prepared as a picture; channels that come last are put
    first, and one sample becomes a batch of one. What the model takes is `shapes.expected`; a tensor that
    fits it, or that it says nothing of, stays as it is.
    """
    tensor = given.args[0] if len(given.args) == 1 and not given.kwargs else None
    if model is None or not isinstance(tensor, torch.Tensor) or len(required_arguments(model)) > 1:
        return given
    try:
        want = shapes.expected(model)
    except HookViewerError:
        return given
    if _is_picture(tensor) and len(want.shape) >= 4 and not want.tokens:
        return _as_picture(given, tensor, model)
    if want.listed:
        return _listed(given, tensor)
    return _arranged(given, tensor, want.shape)


def _is_picture(tensor: torch.Tensor) -> bool:
    shape = tuple(tensor.shape)
    colours = len(shape) == 3 and bool({shape[0], shape[2]} & set(PICTURE_CHANNELS))
    return tensor.dtype == torch.uint8 and (len(shape) == 2 or colours) and min(shape) > 0


def _as_picture(given: Input, tensor: torch.Tensor, model: nn.Module) -> Input:
    from PIL import Image

    first = tensor.ndim == 3 and tensor.shape[2] not in PICTURE_CHANNELS
    picture = picture_of(Image.fromarray((tensor.movedim(0, 2) if first else tensor).contiguous().numpy()))
    made = from_picture.make(given.name, from_picture.only(picture), model)
    note = f"It holds bytes, {spelled(tuple(tensor.shape))}: they were prepared as a picture."
    return dataclasses.replace(made, spec=given.spec, notes=(note, *made.notes))


def _listed(given: Input, tensor: torch.Tensor) -> Input:
    if tensor.ndim not in (3, 4):
        return given
    pictures = list(tensor) if tensor.ndim == 4 else [tensor]
    note = f"The network takes a list of pictures: it was given {len(pictures)}."
    return dataclasses.replace(given, args=(pictures,), batch=len(pictures), notes=(*given.notes, note))


def _arranged(given: Input, tensor: torch.Tensor, want: tuple[int, ...]) -> Input:
    before, notes = tuple(tensor.shape), []
    channels = want[1] if len(want) >= 4 else 0
    missing = len(want) - tensor.ndim
    axis = 1 - missing
    if channels and missing in (0, 1) and tensor.shape[axis] != channels and tensor.shape[-1] == channels:
        tensor = tensor.movedim(-1, axis)
        notes.append(f"Its channels came last ({spelled(before)}): they were put first.")
    if channels == 1 and (missing == 2 or (missing == 1 and tensor.shape[0] != 1)):
        tensor = tensor.unsqueeze(-3)
        notes.append(f"It has no axis of channels ({spelled(before)}): the one channel was added.")
        missing -= 1
    if missing == 1:
        tensor = tensor.unsqueeze(0)
        notes.append(f"It is one sample, {spelled(before)}: it was given as a batch of one.")
    if not notes:
        return given
    return dataclasses.replace(given, args=(tensor,), batch=samples((tensor,)), notes=(*given.notes, *notes))
