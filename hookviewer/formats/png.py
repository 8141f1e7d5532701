"""PNG pictures: a plain wall in palette colours, or a figure for a page."""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from hookviewer import render
from hookviewer.errors import HookViewerError
from hookviewer.formats.arrangement import size_of
from hookviewer.formats.entry import Entry, Figure
from hookviewer.formats.figure import drawn
from hookviewer.formats.format import RecordFormat
from hookviewer.formats.painting import tiles_of
from hookviewer.formats.plots import plot_of

if TYPE_CHECKING:
    from PIL.Image import Image


class Png(RecordFormat):
    """A picture of the wall, or of one channel; who made what is written in its text chunk."""

    name = "png"
    suffix = ".png"

    def refusal(self, entry: Entry) -> str:
        """Return why there is nothing to draw, or nothing."""
        try:
            tiles_of(entry)
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
        tiles = tiles_of(entry)
        cells: int = math.prod(tiles.shape)
        if figure is None:
            return round(cells * 0.8) + 1500
        plot = plot_of(tiles, figure)
        width, height = plot.size if plot else size_of(tiles.shape, figure, tiles.columns)
        return round(cells * 2.4 + width * height * 0.15) + 8_000 * figure.size


def picture(entry: Entry) -> Image:
    """Return the plain picture of an entry: 256 palette colours, or RGBA where NaN needs one more."""
    from PIL import Image

    tiles = tiles_of(entry)
    index, table = tiles.index(), render.colour_table(entry.colormap)
    across = tiles.columns or None
    if index is None:
        ground = table[render.zero_index(entry.colormap)].tolist()
        pixels = render.picture_wall(tiles.colours(), across, ground=tuple(ground))
        return Image.fromarray(pixels).convert("RGB")
    columns = across or render.wall_columns(*tiles.shape)
    wall = render.tiled(index, columns, 2, render.zero_index(entry.colormap))
    image = Image.frombytes("P", (wall.shape[1], wall.shape[0]), wall.tobytes())
    image.putpalette(table[:, :3].tobytes())
    return image
