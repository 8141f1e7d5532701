"""Fonts for figures: the interface's where they are installed, else what the system or Pillow has."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont, ImageFont

FILES = {
    "text": (
        "Inter-Regular.otf",
        "Inter-Regular.ttf",
        "segoeui.ttf",
        "SFNS.ttf",
        "Helvetica.ttc",
        "DejaVuSans.ttf",
    ),
    "strong": (
        "Inter-SemiBold.otf",
        "Inter-SemiBold.ttf",
        "seguisb.ttf",
        "HelveticaNeue.ttc",
        "DejaVuSans-Bold.ttf",
    ),
    "mono": (
        "JetBrainsMono-Regular.ttf",
        "CascadiaMono.ttf",
        "SFNSMono.ttf",
        "consola.ttf",
        "DejaVuSansMono.ttf",
    ),
}


_SPARE = str.maketrans({"×": "x", "−": "-", "…": "..."})  # signs that Pillow's own font lacks


@functools.lru_cache(maxsize=64)
def font(role: str, size: float) -> FreeTypeFont | ImageFont:
    """Return the font for `text`, `strong` or `mono` at `size` pixels, Pillow's own where there is none."""
    from PIL import ImageFont

    for name in FILES[role]:
        try:
            return ImageFont.truetype(name, size)
        except OSError:
            continue  # not installed: the next one
    return ImageFont.load_default(size)


def spelled(words: str, face: FreeTypeFont | ImageFont) -> str:
    """Return `words` in signs that the font has: Pillow's own has neither × nor a true minus."""
    name = face.getname()[0] if hasattr(face, "getname") else None
    return words.translate(_SPARE) if name in (None, "Aileron") else words
