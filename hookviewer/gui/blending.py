"""A map over the photograph: strong values cover it, weak ones let it through. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from hookviewer.gui.wall import geometry
from hookviewer.gui.wall.shrink import shrunk

Pixels = npt.NDArray[np.uint8]
Values = npt.NDArray[Any]
Levels = tuple[float, float]


def photograph(picture: Image.Image, width: int, height: int) -> Pixels:
    """Return a picture in grey, uint8 [height, width]."""
    grey = ImageOps.grayscale(picture).resize((width, height), Image.Resampling.LANCZOS)
    return np.asarray(grey, np.uint8)


def in_colour(picture: Image.Image, width: int, height: int) -> Pixels:
    """Return a picture as RGB, uint8 [height, width, 3]."""
    sized = picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
    return np.asarray(sized, np.uint8)


def smooth(values: Values, height: int, width: int) -> Values:
    """Return a map [H, W] as float32 [height, width]: means where it is made smaller, bilinear where larger.

    Between the middles of two cells a value goes in proportion from one to the other (as `interpolate` of
    torch with `align_corners=False`); outside the outermost middles it stays.
    """
    small = shrunk(values[None], height, width)[0]
    return _between(_between(small, height).T, width).T


def blocky(values: Values, height: int, width: int) -> Values:
    """Return a map [H, W] as float32 [height, width]: means where it is made smaller, cells where larger."""
    small = shrunk(values[None], height, width)[0]
    rows, columns = geometry.nearest(len(small), height), geometry.nearest(small.shape[1], width)
    enlarged: Values = small[rows][:, columns]
    return enlarged


def strength(values: Values, levels: Levels) -> Values:
    """Return how strong values are, 0 to 1: by size where zero is in the middle of the levels."""
    low, high = levels
    symmetric = low < 0 and abs(low + high) <= 1e-6 * (high - low)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        share = np.clip((values - low) / (high - low if high > low else 1.0), 0, 1)
    share = np.abs(2 * share - 1) if symmetric else share
    strong: Values = np.nan_to_num(share, nan=1.0)
    return strong


def mixed(colours: Pixels, under: Pixels, share: Values, opacity: float) -> Pixels:
    """Return a map's colours [H, W, 3] over a grey picture [H, W].

    The picture is seen at 50 to 80 %; a map covers it by `opacity`, strong values more than weak ones.
    """
    cover = (opacity * (0.1 + 0.9 * share))[..., None] if opacity < 1 else np.ones((*share.shape, 1))
    ground = under[..., None] * (0.8 - 0.3 * opacity)
    return np.asarray(colours * cover + ground * (1 - cover) + 0.5, np.uint8)


CONTOURS = (0.25, 0.5, 0.75)
"""Where lines of one value are drawn, as shares of the levels."""


def contours(values: Values, levels: Levels) -> npt.NDArray[np.bool_]:
    """Return which pixels of a map [height, width] lie on a line of one value, at `CONTOURS` of the levels.

    A pixel does where its right or lower neighbour is on the other side of such a value.
    """
    low, high = levels
    with np.errstate(invalid="ignore", over="ignore"):
        above = np.digitize(values, [low + share * (high - low) for share in CONTOURS])
    lines = np.zeros(values.shape, bool)
    lines[:, :-1] |= above[:, 1:] != above[:, :-1]
    lines[:-1] |= above[1:] != above[:-1]
    return lines


def outlined(colours: Pixels, lines: npt.NDArray[np.bool_]) -> Pixels:
    """Return colours [H, W, 3] with white lines that have a dark pixel below and at the right."""
    made = colours.copy()
    shade = np.zeros_like(lines)
    shade[1:, 1:] = lines[:-1, :-1]
    made[shade] //= 3
    made[lines] = 255
    return made


def _between(rows: Values, count: int) -> Values:
    """Return `count` rows made of the rows there are, each between the two that are nearest to it."""
    places = np.clip((np.arange(count) + 0.5) * len(rows) / count - 0.5, 0, len(rows) - 1)
    first = np.floor(places).astype(np.intp)
    second = np.minimum(first + 1, len(rows) - 1)
    share = (places - first).astype(np.float32)[:, None]
    with np.errstate(invalid="ignore", over="ignore"):
        made: Values = rows[first] * (1 - share) + rows[second] * share
    return made
