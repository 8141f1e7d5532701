"""Reading picture files: one frame of them, turned as its camera says, with nothing run and nothing huge."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hookviewer.errors import HookViewerError
from hookviewer.inputs.pixels import CUT, DEEPEST, Picture, from_deep, in_colours, picture_of
from hookviewer.inputs.places import explained
from hookviewer.sources.wording import shown

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST = 89_478_485
"""Pixels above which Pillow takes a picture for an attack."""

FORMATS = (
    *("PNG", "JPEG", "GIF", "WEBP", "AVIF", "BMP", "DIB", "TIFF", "PPM", "JPEG2000", "TGA", "ICO", "PCX"),
    *("SGI", "QOI", "DDS"),
)
"""What is read. Not EPS and WMF, for which Pillow starts other programs."""

ORIENTATION = 0x0112
"""The EXIF tag that says how the camera was held."""

_OTHER_BYTE = {"B": "L", "L": "B", "N": "B"}


@functools.cache
def suffixes() -> frozenset[str]:
    """Return the ends of names that picture files have."""
    from PIL import Image

    Image.init()
    return frozenset(end for end, kind in Image.registered_extensions().items() if kind in FORMATS)


def read(path: Path) -> Image:
    """Return the first picture in a file as it can be shown, transparent places white."""
    first = read_picture(path)
    return in_colours(dataclasses.replace(first, deep=None), grey=False, background="white")[0]


def read_picture(path: Path, frame: int = 0) -> Picture:
    """Return a picture in a file, turned as its camera says; frames and pages are counted from 0.

    Raises `HookViewerError` for what is no picture, is cut off, has no such frame, or would unpack to more
    than 89 megapixels.
    """
    with _one_sentence(path), _opened(path, frame) as (image, frames):
        picture = _deep_colour(path, image, frame) or picture_of(_turned(image))
        turned = _orientation(image) not in (None, 1)
        notes = (*(("It was turned as its camera says (EXIF).",) * turned), *picture.notes)
        return dataclasses.replace(picture, notes=notes, frame=frame, frames=frames)


@contextmanager
def _one_sentence(path: Path) -> Iterator[None]:
    from PIL import Image, UnidentifiedImageError

    try:
        yield
    except HookViewerError:
        raise
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise too_large(path) from None
    except UnidentifiedImageError:
        raise HookViewerError(
            explained(path, "picture", "give a PNG, JPEG or another common format")
        ) from None
    except Exception as error:  # what a damaged file makes of a decoder is nowhere stated
        told = f"{type(error).__name__}: {error}" if not isinstance(error, OSError) else str(error)
        reason = shown(" ".join(told.split()), 200)
        raise HookViewerError(
            f"{shown(path, 300)} cannot be read as a picture ({reason}): it may be cut off."
        ) from error


def too_large(path: Path) -> HookViewerError:
    """Return the error for a picture that would take too much memory."""
    return HookViewerError(f"{shown(path, 300)} unpacks to more than 89 megapixels: scale it down first.")


@contextmanager
def _opened(path: Path, frame: int) -> Iterator[tuple[Any, int]]:
    """Open a file at a frame; no size of it is believed before it was looked at."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the decoders repair by themselves
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(path, formats=FORMATS) as image:
            frames = int(getattr(image, "n_frames", 1))
            if not 0 <= frame < frames:
                raise HookViewerError(
                    f"{shown(path, 300)} has no frame {frame}: it has {frames}, counted from 0."
                    if frames > 1
                    else f"{shown(path, 300)} has one picture only: leave frame={frame} away."
                )
            image.seek(frame)
            if image.width * image.height > LARGEST:  # a later page is not looked at by Pillow
                raise too_large(path)
            yield image, frames


def _orientation(image: Image) -> Any:
    try:
        return image.getexif().get(ORIENTATION)
    except Exception:  # damaged EXIF is no reason to refuse a whole picture
        return None


def _turned(image: Image) -> Image:
    from PIL import ImageOps

    if _orientation(image) not in (None, 1):
        return ImageOps.exif_transpose(image)
    image.load()
    return image.copy() if getattr(image, "n_frames", 1) > 1 else image


def _deep_colour(path: Path, image: Any, frame: int) -> Picture | None:
    """Return a picture of 16 bits a colour with all its bits, `None` for any other.

    Pillow keeps the high byte only. Told that the other byte order is meant, it reads the low one.
    """
    if image.mode not in ("RGB", "RGBA") or not image.tile:
        return None
    other = [tile._replace(args=_other_byte(tile.args)) for tile in image.tile]
    if None in [tile.args for tile in other]:
        return None
    if image.width * image.height * len(image.mode) > DEEPEST:
        return dataclasses.replace(picture_of(_turned(image)), notes=(CUT,))
    with _opened(path, frame) as (again, _):
        again.tile = other
        deep = np.asarray(_turned(again)).astype(np.float32)
    deep += np.asarray(_turned(image)).astype(np.uint16) << 8
    deep /= np.float32(65535)
    return from_deep(deep, ("Its values were divided by 65,535, and all their bits kept.",))


def _other_byte(args: Any) -> Any:
    raw = args[0] if isinstance(args, tuple) and args else args
    if not isinstance(raw, str) or raw[:-1] not in ("RGB;16", "RGBA;16") or raw[-1] not in _OTHER_BYTE:
        return None
    swapped = raw[:-1] + _OTHER_BYTE[raw[-1]]
    return (swapped, *args[1:]) if isinstance(args, tuple) else swapped
