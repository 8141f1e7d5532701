"""A wall of maps as a picture for a page: with its scale, its caption and its channel numbers."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hookviewer import render
from hookviewer.formats.arrangement import PAGE_WIDTH, arrangement, size_of
from hookviewer.formats.entry import Entry, Figure
from hookviewer.formats.fonts import font, spelled
from hookviewer.formats.lettering import broken, number
from hookviewer.formats.page_colours import page_colours
from hookviewer.formats.painting import tiles_of
from hookviewer.formats.plots import Inks, plot_of

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

Array = npt.NDArray[Any]

# In points; a picture has `Figure.size` pixels a point, more where the wall is larger than the page.
_MARGIN, _TOP, _GAP = 32, 28, 12
_BAR_WIDTH, _BAR_HEIGHT, _BESIDE = 180, 8, 16
_TEXT, _LINE = 11, 14
_WIDEST = 640  # points; a wider wall makes its text larger instead


def drawn(entry: Entry, figure: Figure) -> Image:
    """Return the entry as an RGBA picture: the wall, below it the colour bar and the caption side by side."""
    return _Page(entry, figure).picture()


class _Page:
    """One figure in the making; lengths are in pixels once multiplied by `unit`."""

    def __init__(self, entry: Entry, figure: Figure) -> None:
        self.entry, self.figure = entry, figure
        self.tiles = tiles_of(entry)
        self.colours = page_colours(figure.page)
        shape, across = self.tiles.shape, self.tiles.columns
        self.plot = plot_of(self.tiles, figure)
        self.columns, self.times = arrangement(shape, figure, across)
        self.width, self.height = self.plot.size if self.plot else size_of(shape, figure, across)
        self.unit = max(figure.size, self.width / _WIDEST)

    def picture(self) -> Image:
        from PIL import Image, ImageDraw

        blocks = self._blocks()
        content = self._content()
        below = self._px(_GAP) + max((height for height, _ in blocks), default=0) if blocks else 0
        size = (content + 2 * self._px(_MARGIN), self.height + below + 2 * self._px(_TOP))
        page = Image.new("RGBA", size, self.colours["ground"])
        wall = self._wall()
        page.alpha_composite(wall, (self._px(_MARGIN), self._px(_TOP)))
        draw = ImageDraw.Draw(page)
        if self.figure.numbers:
            self._number_tiles(draw)
        for _, paint in blocks:
            paint(page, draw, self._px(_TOP) + self.height + self._px(_GAP))
        return page if self.figure.page == "clear" else page.convert("RGB")

    def _content(self) -> int:
        """Return the width between the margins: the wall's, unless that leaves too little for the caption."""
        usual = self._px(PAGE_WIDTH)
        return self.width if self.width > 0.85 * usual else usual

    def _px(self, points: float) -> int:
        return round(points * self.unit)

    def _bar(self) -> int:
        return min(self._px(_BAR_WIDTH), round(self._content() * 0.42))

    def _wall(self) -> Image:
        from PIL import Image

        if self.plot is not None:
            return self.plot.picture(Inks(*(self.colours[name] for name in ("ink", "line", "tile"))))
        gutter = 2 * self.figure.size
        return Image.fromarray(render.picture_wall(self.tiles.colours(), self.columns, gutter, self.times))

    def _blocks(self) -> list[tuple[int, Any]]:
        """Return height and painter of what stands below the wall."""
        blocks: list[tuple[int, Any]] = []
        if self.figure.colour_bar and self.plot is not None:
            blocks.append((self._px(_LINE * len(self._axes)), self._paint_axes))
        elif self.figure.colour_bar:
            blocks.append((self._px(_BAR_HEIGHT + 4 + _LINE * (1 + len(self._bad_rows()))), self._paint_bar))
        if self.figure.caption and self.entry.caption.lines():
            blocks.append((self._px(_LINE * len(self._caption())), self._paint_caption))
        return blocks

    def _paint_bar(self, page: Image, draw: ImageDraw, top: int) -> None:
        from PIL import Image

        left, width = self._px(_MARGIN), self._bar()
        steps = np.arange(width) * 256 // width
        ramp = np.broadcast_to(
            render.colour_table(self.entry.colormap)[steps], (self._px(_BAR_HEIGHT), width, 4)
        )
        page.alpha_composite(Image.fromarray(np.ascontiguousarray(ramp)), (left, top))
        below = top + self._px(_BAR_HEIGHT + 4)
        mono, ink = font("mono", self._px(_TEXT)), self.colours["text_2"]
        low, high = self._ends
        draw.text((left, below), spelled(low, mono), fill=ink, font=mono)
        if low != high:
            draw.text((left + width, below), spelled(high, mono), fill=ink, font=mono, anchor="ra")
        zero = zero_share(self._levels, self.entry.curve)
        if zero is not None:
            self._paint_zero(draw, left + width * zero, top)
        if self._bad():
            self._paint_bad(draw, left, below + self._px(_LINE))

    @property
    def _axes(self) -> tuple[str, ...]:
        """What the axes of the plots are: values upwards, places along."""
        plot = self.plot
        assert plot is not None
        low, high = (float(end) for end in (plot.levels[:, 0].min(), plot.levels[:, 1].max()))
        same = len(np.unique(plot.levels, axis=0)) == 1
        up = f"↑ {self._written(low)} to {self._written(high)}" if same else "↑ each min to max"
        last = plot.values.shape[1] - 1
        along = f"→ {'index' if plot.bars else 'time'} 0 to {last}"
        if plot.bars and self.entry.order is not None:
            along = f"→ {last + 1} values, the largest first"
        odd = tuple(f"{name} {count}" for name, _, count in self._bad())
        return (up, along, *odd)

    def _paint_axes(self, page: Image, draw: ImageDraw, top: int) -> None:
        mono = font("mono", self._px(_TEXT))
        for line in self._axes:
            draw.text((self._px(_MARGIN), top), spelled(line, mono), fill=self.colours["text_2"], font=mono)
            top += self._px(_LINE)

    @property
    def _levels(self) -> Array:
        """The levels of all tiles, [n, 2]."""
        return np.atleast_2d(np.asarray(self.entry.scale(self.tiles.total), np.float64))

    @property
    def _ends(self) -> tuple[str, str]:
        """What stands at both ends of the bar: numbers, or words where the tiles differ in them."""
        levels = np.unique(self._levels, axis=0)
        if len(levels) > 1:
            return self.entry.ends if any(self.entry.ends) else ("min", "max")
        low, high = levels[0].tolist()
        return self._written(low), self._written(high)

    def _written(self, level: float) -> str:
        """Return a level as it is written: that of integers as one."""
        if self.tiles.maps.whole and level.is_integer():
            return f"{level:.0f}".replace("-", "−")
        return number(level)

    def _paint_zero(self, draw: ImageDraw, place: float, top: int) -> None:
        half = max(1, self._px(1)) / 2
        ends = (top - self._px(2), top + self._px(_BAR_HEIGHT + 2))
        draw.rectangle((place - half, ends[0], place + half, ends[1]), fill=self.colours["text"])
        mono = font("mono", self._px(_TEXT))
        low, high = (draw.textlength(end + "0", font=mono) for end in self._ends)
        if low < place - self._px(_MARGIN) < self._bar() - high:
            below = top + self._px(_BAR_HEIGHT + 4)
            draw.text((place, below), "0", fill=self.colours["text_2"], font=mono, anchor="ma")

    def _bad_rows(self) -> list[list[tuple[str, render.Colour]]]:
        """Return the counts of what is no number in rows no wider than the bar, with colours."""
        mono, rows, left = font("mono", self._px(_TEXT)), list[list[tuple[str, render.Colour]]](), 0.0
        for name, colour, count in self._bad():
            words = spelled(f"{name} {count}", mono)
            width = self._px(24) + mono.getlength(words)
            if not rows or left + width > self._bar() + self._px(12):
                rows.append([])
                left = 0.0
            rows[-1].append((words, colour))
            left += width
        return rows

    def _paint_bad(self, draw: ImageDraw, left: int, top: int) -> None:
        swatch, mono = self._px(8), font("mono", self._px(_TEXT))
        for row in self._bad_rows():
            at, edge = left, top + self._px(3)
            for words, colour in row:
                draw.rectangle((at, edge, at + swatch - 1, edge + swatch - 1), fill=(*colour, 255))
                draw.text((at + swatch + self._px(4), top), words, fill=self.colours["text_2"], font=mono)
                at += swatch + self._px(16) + round(draw.textlength(words, font=mono))
            top += self._px(_LINE)

    @functools.cached_property
    def _counts(self) -> list[tuple[str, render.Colour, int]]:
        values = self.tiles.maps.values
        if values.dtype.kind != "f":
            return []
        found = (
            ("NaN", render.NAN, np.isnan(values)),
            ("inf", render.POS_INF, values == np.inf),
            ("−inf", render.NEG_INF, values == -np.inf),
        )
        return [(name, colour, int(where.sum())) for name, colour, where in found]

    def _bad(self) -> list[tuple[str, render.Colour, int]]:
        return [entry for entry in self._counts if entry[2]]

    def _caption_left(self) -> int:
        bar = self._bar() + self._px(_BESIDE) if self.figure.colour_bar else 0
        return self._px(_MARGIN) + bar

    def _caption(self) -> list[tuple[str, str]]:
        """Return (role, line) with long lines broken: nothing is cut off."""
        width = self._content() - (self._caption_left() - self._px(_MARGIN))
        title, *rest = self.entry.caption.lines()
        lines = [("strong", title), *(("text", line) for line in rest)]
        return [
            (role, part) for role, line in lines for part in broken(line, font(role, self._px(_TEXT)), width)
        ]

    def _paint_caption(self, page: Image, draw: ImageDraw, top: int) -> None:
        top -= self._px(2)
        for role, line in self._caption():
            ink = self.colours["text" if role == "strong" else "text_2"]
            face = font(role, self._px(_TEXT))
            draw.text((self._caption_left(), top), spelled(line, face), fill=ink, font=face)
            top += self._px(_LINE)

    def _number_tiles(self, draw: ImageDraw) -> None:
        small, margin, above = font("mono", self._px(9)), self._px(_MARGIN), self._px(_TOP)
        for index, words in enumerate(self.tiles.names):
            left, top = self._corner(index)
            left, top = left + margin, top + above
            edge = draw.textlength(words, font=small) + self._px(6)
            draw.rectangle((left, top, left + edge, top + self._px(12)), fill=(16, 18, 22, 255))
            draw.text((left + self._px(3), top + self._px(1)), words, fill=(255, 255, 255, 255), font=small)

    def _corner(self, tile: int) -> tuple[int, int]:
        """Return the left upper corner of a tile on the wall."""
        if self.plot is not None:
            return self.plot.corner(tile)
        (_, height, width), gutter = self.tiles.shape, 2 * self.figure.size
        row, column = divmod(tile, self.columns)
        return column * (width * self.times + gutter), row * (height * self.times + gutter)


def zero_share(levels: Array, curve: str) -> float | None:
    """Return where zero lies between the ends of levels [n, 2], 0 to 1; None outside, or where they differ.

    On a logarithmic curve it lies where the curve puts it.
    """
    if not ((levels[:, 0] < 0) & (levels[:, 1] > 0)).all():
        return None
    low, span, _ = render.steps_of(levels, curve)
    shares = -low / span
    return float(shares[0]) if np.ptp(shares) < 1e-6 else None
