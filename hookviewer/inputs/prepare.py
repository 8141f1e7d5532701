"""From a picture and a recipe to what a network is called with."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from hookviewer.inputs.input import Input
from hookviewer.inputs.pixels import Picture, in_colours, picture_of, to_8_bit
from hookviewer.inputs.preprocess import RANGES, Preprocess
from hookviewer.inputs.words import described

if TYPE_CHECKING:
    from PIL.Image import Image

DIVISOR = 255


def prepare(
    picture: Image | Picture | Sequence[Picture],
    preprocess: Preprocess,
    *,
    name: str = "picture",
    spec: str = "",
    notes: tuple[str, ...] = (),
) -> Input:
    """Return a picture as `preprocess` wants it; `image` of the result is exactly what the network sees.

    Several pictures are the frames of a clip, or a pair; the last one stands for those that lack. `notes` are
    added to those on what was done. Without a `spec` the input keeps the picture itself.
    """
    pictures = _pictures(picture)
    seen = [_seen(one, preprocess) for one in pictures]
    arguments = _arguments([_tensor(one, preprocess) for one in seen], preprocess)
    first, shown = pictures[0], _shown(seen[0])
    said = (*first.notes, *described(shown.size, first, preprocess, len(pictures)), *notes)
    source = None if spec else pictures
    return Input(
        name,
        arguments,
        image=shown,
        notes=said,
        spec=spec,
        frame=first.frame,
        frames=first.frames,
        batch=1,
        source=source,
    )


def _pictures(picture: Image | Picture | Sequence[Picture]) -> tuple[Picture, ...]:
    if isinstance(picture, Picture):
        return (picture,)
    return tuple(picture) if isinstance(picture, Sequence) else (picture_of(picture),)


def needed(preprocess: Preprocess) -> int:
    """Return how many pictures one input is made of."""
    return preprocess.frames or (2 if preprocess.pair else 1)


def _seen(picture: Picture, preprocess: Preprocess) -> list[Image]:
    """Return the picture in its colours and size; a deep one as its planes."""
    grey = preprocess.grey or preprocess.channels == 1
    planes = in_colours(picture, grey=grey, background=preprocess.background)
    return [resized(plane, preprocess) for plane in planes]


def _shown(seen: Sequence[Image]) -> Image:
    if seen[0].mode != "F":
        return seen[0]
    return to_8_bit(np.stack([np.asarray(plane) for plane in seen], axis=2))


def resized(image: Image, preprocess: Preprocess) -> Image:
    """Return `image` in the size that the recipe wants.

    Without a short side the crop is as large as it can be. Without a crop the whole picture is kept, its
    sides rounded to multiples of `preprocess.multiple`.
    """
    height, width = preprocess.height, preprocess.width
    if height is None or width is None:
        return _scaled(image, _whole_size(image.size, preprocess), preprocess)
    if preprocess.fit == "pad":
        return _padded(image, height, width, preprocess)
    if preprocess.fit == "stretch":
        rows, columns = preprocess.resize or (height, width)
        size = (columns, rows)
    else:
        covering = max(height / image.height, width / image.width)
        size = _by_short_side(image.size, preprocess.short_side or ceil(min(image.size) * covering))
    return _cropped(_scaled(image, size, preprocess), height, width)


def _by_short_side(size: tuple[int, int], short: int) -> tuple[int, int]:
    """Return width and height by torchvision's own arithmetic, for the pixels of its transforms."""
    width, height = size
    if width <= height:
        return short, max(int(short * height / width), 1)
    return max(int(short * width / height), 1), short


def _whole_size(size: tuple[int, int], preprocess: Preprocess) -> tuple[int, int]:
    short, step = preprocess.short_side or min(size), preprocess.multiple
    if step == 1:
        return _by_short_side(size, short) if preprocess.short_side else size
    width, height = (max(step, round(side * short / min(size) / step) * step) for side in size)
    return width, height


def _scaled(image: Image, size: tuple[int, int], preprocess: Preprocess) -> Image:
    from PIL import Image

    if size == image.size:
        return image
    return image.resize(size, Image.Resampling[preprocess.interpolation.upper()])


def _cropped(image: Image, height: int, width: int) -> Image:
    left, top = round((image.width - width) / 2), round((image.height - height) / 2)
    return image.crop((left, top, left + width, top + height))


def _padded(image: Image, height: int, width: int, preprocess: Preprocess) -> Image:
    scale = min(height / image.height, width / image.width)
    size = (max(round(image.width * scale), 1), max(round(image.height * scale), 1))
    return _cropped(_scaled(image, size, preprocess), height, width)  # a crop beyond the edge is black


def _tensor(seen: Sequence[Image], preprocess: Preprocess) -> torch.Tensor:
    """Return one picture as float32 [C, H, W]: range, order of the channels, mean and std."""
    planes = [np.asarray(plane) for plane in seen]
    pixels = np.stack(planes) if len(planes) > 1 else planes[0]
    tensor = torch.from_numpy(np.array(pixels))
    if tensor.ndim == 2:
        tensor = tensor[None]
    elif len(planes) == 1:
        tensor = tensor.permute(2, 0, 1)
    values = tensor.contiguous().float() if seen[0].mode == "F" else tensor.contiguous().float().div(DIVISOR)
    if len(values) == 1 < preprocess.channels:
        values = values.expand(preprocess.channels, -1, -1).contiguous()
    low, high = RANGES[preprocess.value_range]
    values = values if (low, high) == (0.0, 1.0) else values * (high - low) + low
    values = values.flip(0) if preprocess.order == "bgr" else values
    if preprocess.mean is None or preprocess.std is None:
        return values
    mean, std = (torch.tensor(part).reshape(-1, 1, 1) for part in (preprocess.mean, preprocess.std))
    return (values - mean) / std


def _arguments(tensors: Sequence[torch.Tensor], preprocess: Preprocess) -> tuple[Any, ...]:
    """Return a batch of one, a list of one picture, a clip [1, C, T, H, W], or two batches of one."""
    filled = [tensors[min(place, len(tensors) - 1)] for place in range(needed(preprocess))]
    if preprocess.frames:
        return (torch.stack(filled, dim=1)[None],)
    if preprocess.pair:
        return tuple(one[None] for one in filled)
    return (filled[0][None],) if preprocess.batch else ([filled[0]],)
