"""The picture of an export as it will be, scaled to a box."""

from __future__ import annotations

from PIL import Image
from PySide6.QtGui import QImage

from hookviewer.formats import Entry, Figure
from hookviewer.formats.figure import drawn
from hookviewer.formats.png import picture
from hookviewer.gui.thumbnails import to_image


def preview(entry: Entry, figure: Figure | None, box: tuple[int, int]) -> QImage:
    """Return an entry's picture, at most `box` (width, height) large."""
    image = picture(entry).convert("RGBA") if figure is None else drawn(entry, figure)
    scale = min(box[0] / image.width, box[1] / image.height)
    size = (max(round(image.width * scale), 1), max(round(image.height * scale), 1))
    way = Image.Resampling.NEAREST if scale >= 2 else Image.Resampling.LANCZOS
    return to_image(image if size == image.size else image.resize(size, way))
