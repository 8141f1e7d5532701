"""A picture as it was brought: its colours sorted out, more than 8 bits a value kept."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hookviewer.errors import HookViewerError

if TYPE_CHECKING:
    from PIL.Image import Image

GREY_WEIGHTS = (0.299, 0.587, 0.114)
"""How bright red, green and blue are (ITU-R 601-2), as Pillow weighs them."""

CUT = "Its values were cut from 16 to 8 bits, since it is very large."

BACKGROUNDS = ("white", "black", "checker")
DEEPEST = 36_000_000
"""Values above which more than 8 bits are not kept: as floats they would take hundreds of megabytes."""

STRIP = 256
"""Rows that are laid over a background at a time: whole squares of the checker board."""

SQUARE, DARK, LIGHT = 8, 153, 204
"""The checker board: the side of a square in pixels, and its two greys."""


@dataclasses.dataclass(frozen=True, eq=False)
class Picture:
    """One picture: `image` has mode L, RGB or RGBA and 8 bits a value.

    `deep` holds all bits where there are more, as float32 [H, W, 1, 3 or 4] from 0 to 1, else `None`. `notes`
    are sentences on how it was read. The picture is the one numbered `frame` of the `frames` in its file.
    """

    image: Image
    deep: npt.NDArray[np.float32] | None = None
    notes: tuple[str, ...] = ()
    frame: int = 0
    frames: int = 1


def picture_of(image: Image) -> Picture:
    """Return any picture of Pillow as a `Picture`."""
    if image.mode.startswith("I") or image.mode == "F":
        return _grey(image)
    notes = ("Its CMYK inks became RGB without a colour profile.",) if image.mode == "CMYK" else ()
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        above = image if image.mode == "RGBA" else image.convert("RGBA")
        opaque = above.getchannel("A").getextrema()[0] == 255
        return Picture(above.convert("RGB") if opaque else above, notes=notes)
    wanted = "L" if image.mode in ("1", "L") else "RGB"
    return Picture(image if image.mode == wanted else image.convert(wanted), notes=notes)


def from_deep(deep: npt.NDArray[np.float32], notes: tuple[str, ...]) -> Picture:
    """Return the picture that `deep` [H, W, 1, 3 or 4] holds."""
    return Picture(to_8_bit(deep), deep, notes)


def to_8_bit(values: npt.NDArray[np.float32]) -> Image:
    """Return values [H, W, 1, 3 or 4] from 0 to 1 as a picture of 8 bits a value."""
    from PIL import Image

    pixels = (values * np.float32(255)).clip(0, 255).round().astype(np.uint8)
    return Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)


def _grey(image: Image) -> Picture:
    from PIL import Image

    if image.width * image.height <= DEEPEST:
        deep, note = _deep_grey(image)
        return from_deep(deep, (note,))
    if not image.mode.startswith("I;16"):
        raise HookViewerError(
            "A picture of 32 bits a value has more than 36 megapixels: scale it down first."
        )
    high_bytes = np.asarray(image).astype("<u2", copy=False).view(np.uint8)[:, 1::2]
    return Picture(Image.fromarray(np.ascontiguousarray(high_bytes)), notes=(CUT,))


def _deep_grey(image: Image) -> tuple[npt.NDArray[np.float32], str]:
    values = np.asarray(image)
    floats = values.astype(np.float32)
    lost = values.min(initial=0) < 0 or not np.isfinite(floats).all()
    np.nan_to_num(floats, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    divisor = _divisor(image.mode, float(floats.max(initial=0)))
    note = f"Its values were divided by {divisor:,.0f}, and all their bits kept."
    if divisor == 1:
        note = "Its values, already from 0 to 1, were used as they are."
    if lost:
        note += " Warning: values below 0, NaN and infinities became 0."
    floats /= np.float32(divisor)
    return np.clip(floats, 0, 1, out=floats)[:, :, None], note


def _divisor(mode: str, largest: float) -> float:
    """Return what the values are divided by: a file of plain numbers does not say how bright white is."""
    if mode == "F" and largest <= 1:
        return 1.0
    if mode.startswith("I;16") or 255 < largest <= 65535:
        return 65535.0
    return 255.0 if largest <= 255 else largest


def in_colours(picture: Picture, *, grey: bool, background: str) -> list[Image]:
    """Return the picture without transparency, gray where asked: one picture of mode L or RGB.

    A deep one comes as its planes, one picture of mode F for each channel.
    """
    if picture.deep is not None:
        return _planes(_deep_flat(picture.deep, grey, background))
    image = _flat(picture.image, background)
    return [image.convert("L") if grey else image]


def _flat(image: Image, background: str) -> Image:
    from PIL import Image

    if image.mode != "RGBA":
        return image
    behind = Image.fromarray(board(STRIP, image.width, background)).convert("RGBA")
    flat = Image.new("RGB", image.size)
    for top in range(0, image.height, STRIP):  # whole copies of a large picture would fill the memory
        strip = image.crop((0, top, image.width, min(top + STRIP, image.height)))
        below = behind.crop((0, 0, *strip.size))
        flat.paste(Image.alpha_composite(below, strip).convert("RGB"), (0, top))
    return flat


def board(height: int, width: int, background: str) -> npt.NDArray[np.uint8]:
    """Return the gray [H, W] that is put behind transparent places."""
    if background != "checker":
        return np.full((height, width), 255 if background == "white" else 0, dtype=np.uint8)
    rows, columns = np.arange(height)[:, None] // SQUARE, np.arange(width)[None] // SQUARE
    return np.where((rows + columns) % 2 == 0, LIGHT, DARK).astype(np.uint8)


def _deep_flat(deep: npt.NDArray[np.float32], grey: bool, background: str) -> npt.NDArray[np.float32]:
    if deep.shape[2] == 4:
        below = board(deep.shape[0], deep.shape[1], background)[:, :, None].astype(np.float32) / np.float32(
            255
        )
        deep = deep[:, :, 3:] * deep[:, :, :3] + (1 - deep[:, :, 3:]) * below
    if grey and deep.shape[2] == 3:
        deep = (deep @ np.array(GREY_WEIGHTS, dtype=np.float32))[:, :, None]
    return deep


def _planes(values: npt.NDArray[Any]) -> list[Image]:
    from PIL import Image

    return [
        Image.fromarray(np.ascontiguousarray(values[:, :, channel])) for channel in range(values.shape[2])
    ]
