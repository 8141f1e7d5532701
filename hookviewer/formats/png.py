"""PNG pictures: a plain wall in palette colours, or a figure for a page."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hookviewer import render
from hookviewer.errors import HookViewerError
from hookviewer.formats.arrangement import size_of
from hookviewer.formats.entry import Entry, Figure
from hookviewer.formats.figure import drawn
from hookviewer.formats.format import RecordFormat

if TYPE_CHECKING:
    from PIL.Image import Image


class Png(RecordFormat):
    """A picture of the wall, or of one channel; who made what is written in its text chunk."""

    name = "png"
    suffix = ".png"

    def refusal(self, entry: Entry) -> str:
        """Return why there is nothing to draw, or nothing."""
        try:
            entry.maps()
        except HookViewerError as error:
            return str(error)
        return ""

    def write(self, entry: Entry, path: Path, figure: Figure | None) -> None:
        """Write the picture: plain, one pixel a cell, or on a page as `figure` says."""
        from PIL.PngImagePlugin import PngInfo

        words = PngInfo()
        words.add_itxt("Title", ", ".join(entry.caption.lines()))
        words.add_itxt("Description", json.dumps(entry.identity))
        words.add_text("Software", "hookviewer")
        image = picture(entry) if figure is None else drawn(entry, figure)
        # maps are nearly noise: run lengths make smaller files than strings do, in half the time
        strategy = zlib.Z_RLE if figure is None else zlib.Z_DEFAULT_STRATEGY
        image.save(path, "PNG", compress_level=1, compress_type=strategy, pnginfo=words)

    def estimate(self, entry: Entry, figure: Figure | None) -> int:
        """Return about how many bytes the file will have; noise hardly compresses, enlarged cells do."""
        shape = entry.maps().values.shape
        cells: int = shape[0] * shape[1] * shape[2]
        if figure is None:
            return round(cells * 0.8) + 1500
        width, height = size_of(shape, figure)
        return round(cells * 2.4 + width * height * 0.15) + 8_000 * figure.size


def picture(entry: Entry) -> Image:
    """Return the plain picture of an entry: 256 palette colours, or RGBA where NaN needs one more."""
    from PIL import Image

    maps = entry.maps()
    values = maps.values
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        table = render.colour_table(entry.colormap)
        red, green, blue, _ = table[render.zero_index(entry.colormap)].tolist()
        pixels = render.wall_picture(values, entry.levels, entry.colormap, ground=(red, green, blue, 255))
        return Image.fromarray(pixels).convert("RGB")
    index = render.wall_index(values, entry.levels, entry.colormap)
    image = Image.frombytes("P", (index.shape[1], index.shape[0]), index.tobytes())
    image.putpalette(render.colour_table(entry.colormap)[:, :3].tobytes())
    return image
