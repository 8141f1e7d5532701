"""From a picture to what a network sees: colours, size, normalisation."""

from __future__ import annotations

import dataclasses
import warnings
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from hookviewer.errors import HookViewerError
from hookviewer.sources import Preprocess

if TYPE_CHECKING:
    from PIL.Image import Image


LARGEST = 89
"""Megapixels above which Pillow takes a picture for an attack."""


def read(path: Path) -> Image:
    """Return the first picture in a file, turned as its camera says.

    Raises `HookViewerError` for what is no picture, is cut off, or would unpack to more than 89 megapixels.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                image.load()
                return ImageOps.exif_transpose(image)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise HookViewerError(
            f"{path} unpacks to more than {LARGEST} megapixels: scale it down first."
        ) from None
    except UnidentifiedImageError:
        raise HookViewerError(
            f"{path} is no picture that can be read: give a PNG, JPEG or another common format."
        ) from None
    except (OSError, SyntaxError, ValueError) as error:
        raise HookViewerError(f"{path} cannot be read as a picture ({error}): it may be cut off.") from None


def with_channels(image: Image, channels: int) -> Image:
    """Return `image` as RGB or, for one channel, as gray; transparent places become white."""
    from PIL import Image

    if image.mode.startswith("I") or image.mode == "F":
        image = _to_8_bit(image)
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        above = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", above.size, "white"), above)
    return image.convert("L" if channels == 1 else "RGB")


def _to_8_bit(image: Image) -> Image:
    """Return 16-bit and float gray as 8-bit; Pillow's own conversion cuts off everything above 255."""
    from PIL import Image

    values = np.asarray(image, dtype=np.float64)
    top = 65535.0 if image.mode.startswith("I;16") or values.max(initial=0) > 255 else 255.0
    if image.mode == "F" and values.max(initial=0) <= 1:
        top = 1.0
    return Image.fromarray((np.nan_to_num(values) / top * 255).clip(0, 255).round().astype(np.uint8))


def resized(image: Image, preprocess: Preprocess) -> Image:
    """Return `image` scaled to the short side of `preprocess`, then cropped to height × width.

    Without a short side the crop is as large as it can be. Without a crop the whole picture is kept, its
    sides rounded to multiples of `preprocess.multiple`.
    """
    width, height = image.size
    if preprocess.height is None or preprocess.width is None:
        scale, step = (preprocess.short_side or min(width, height)) / min(width, height), preprocess.multiple
        return _scaled(image, (_rounded(width * scale, step), _rounded(height * scale, step)), preprocess)
    covering = max(preprocess.height / height, preprocess.width / width)
    short = preprocess.short_side or ceil(min(width, height) * covering)
    # torchvision's own arithmetic, so that the pixels are the same as with its transforms
    size = (short, int(short * height / width)) if width <= height else (int(short * width / height), short)
    return _cropped(_scaled(image, size, preprocess), preprocess.height, preprocess.width)


def _rounded(length: float, step: int) -> int:
    return max(step, round(length / step) * step)


def _scaled(image: Image, size: tuple[int, int], preprocess: Preprocess) -> Image:
    from PIL import Image

    if size == image.size:
        return image
    return image.resize(size, Image.Resampling[preprocess.interpolation.upper()])


def _cropped(image: Image, height: int, width: int) -> Image:
    left, top = round((image.width - width) / 2), round((image.height - height) / 2)
    return image.crop((left, top, left + width, top + height))


def to_tensor(image: Image, preprocess: Preprocess) -> torch.Tensor:
    """Return the picture as float32 [1, C, H, W]: 0 to 1, then (value − mean) / std where known."""
    pixels = np.array(image, dtype=np.uint8)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    tensor = torch.from_numpy(pixels).permute(2, 0, 1).contiguous().float().div(255)
    if preprocess.mean is not None and preprocess.std is not None:
        mean, std = (torch.tensor(part).reshape(-1, 1, 1) for part in (preprocess.mean, preprocess.std))
        tensor = (tensor - mean) / std
    return tensor[None]


def arguments(tensor: torch.Tensor, preprocess: Preprocess) -> tuple[Any, ...]:
    """Return what the model is called with: a batch of one, or a list of one picture."""
    return (tensor,) if preprocess.batch else ([tensor[0]],)


def described(image: Image, original: Image, preprocess: Preprocess) -> tuple[str, ...]:
    """Return sentences about what was done to the picture."""
    size = f"{original.width} × {original.height}"
    cropped = " and cropped" if preprocess.height is not None else ""
    shown = f"The picture ({size}) was scaled{cropped} to {image.width} × {image.height}."
    if image.size == original.size:
        shown = f"The picture was used as it is, {size}."
    if preprocess.mean is None:
        return (shown, "Its values go from 0 to 1.")
    numbers = [
        ", ".join(f"{value:.3g}" for value in part) for part in (preprocess.mean, preprocess.std or ())
    ]
    return (shown, f"Its values were normalised with mean {numbers[0]} and standard deviation {numbers[1]}.")


def without_normalisation(preprocess: Preprocess) -> Preprocess:
    """Return the same sizes with values that stay from 0 to 1."""
    return dataclasses.replace(preprocess, mean=None, std=None)
