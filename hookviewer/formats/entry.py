"""What is exported: a record with its words, its scale, and how the page looks."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer.arrays import Maps, as_maps
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Kind
from hookviewer.recording import Record

PAGES = ("white", "dark", "clear")
SIZES = (1, 2, 4)


@dataclasses.dataclass(frozen=True)
class Caption:
    """What stands under a picture, and in the manifest. Empty words are left out."""

    model: str = ""
    path: str = ""
    kind: str = ""
    shape: str = ""
    dtype: str = ""
    call: str = ""
    """`1 of 1`"""
    input: str = ""
    target: str = ""
    scale: str = ""
    """`one scale for the layer`"""
    edits: str = ""
    """What was changed on the way, in the order in which it was."""
    part: str = ""
    """Which part of the tensor it is: `sample 2 of 8, depth 3 of 16`."""
    order: str = ""
    """How the channels stand, and which are left out: `sorted by mean, 4 dead left out`."""

    @classmethod
    def of(
        cls,
        record: Record,
        *,
        model: str = "",
        calls: int = 1,
        input: str = "",
        target: str = "",
        scale: str = "",
    ) -> Caption:
        """Return the caption of a record; `calls` is how often its module was called."""
        key, dtype = record.key, str(record.dtype).removeprefix("torch.")
        kind = (
            key.leaf if key.kind is Kind.ATTRIBUTION else f"{key.kind.replace('_', ' ')} {key.leaf}".strip()
        )
        shape = "×".join(map(str, record.shape)) or "one number"
        call = f"{key.call + 1} of {calls}"
        return cls(model, key.path or "the model", kind, shape, dtype, call, input, target, scale)

    def lines(self) -> tuple[str, ...]:
        """Return the title and the lines below it."""
        call = f"call {self.call}" if self.call else ""
        given = f"input {self.input}" if self.input else ""
        target = f"target {self.target}" if self.target else ""
        edits = f"edits: {self.edits}" if self.edits else ""
        rows = (
            (self.model, self.path),
            (self.kind, call, f"{self.shape} {self.dtype}".strip(), self.part),
            (given, target, self.scale),
            (self.order,),
            (edits,),
        )
        return tuple(line for line in (", ".join(filter(None, row)) for row in rows) if line)


@dataclasses.dataclass(frozen=True)
class Figure:
    """A picture on a page: with caption, colour bar and channel numbers, at 1, 2 or 4 pixels a point."""

    page: str = "white"
    size: int = 2
    caption: bool = True
    colour_bar: bool = True
    numbers: bool = False

    def __post_init__(self) -> None:
        if self.page not in PAGES or self.size not in SIZES:
            raise HookViewerError(
                f"A page is one of {', '.join(PAGES)}, at 1×, 2× or 4×: choose one of these."
            )


@dataclasses.dataclass(frozen=True, eq=False)
class Entry:
    """A record to export, with the scale and colour map in force; one channel of it, or those of `order`.

    `own` are the levels [C, 2] of every channel where each has its own, `curve` is one of `render.CURVES`.
    """

    record: Record
    caption: Caption
    levels: tuple[float, float]
    colormap: str
    channel: int | None = None
    sample: int = 0
    reading: str | None = None
    drawn: Maps | None = None
    """The record's maps where they have been made already, as they are shown."""
    order: npt.NDArray[np.intp] | None = None
    """The channels to draw in the order of their tiles, of a vector its places; None: all by number."""
    own: npt.NDArray[np.float64] | None = None
    curve: str = "linear"
    ends: tuple[str, str] = ("", "")
    """What stands at the ends of the colour bar where the channels have scales of their own."""

    @property
    def name(self) -> str:
        """What tells this entry from others, in words; any text may be in it."""
        key = self.record.key
        words = [key.path or "model", str(key.kind), key.leaf, self.caption.input]
        words += [f"call{key.call + 1}"] if key.call else []
        words += [f"channel{self.channel}"] if self.channel is not None else []
        words += [f"sample{self.sample}"] if self.sample else []
        return "_".join(word for word in words if word)

    @property
    def identity(self) -> dict[str, Any]:
        """What the manifest says about the file."""
        record = self.record
        return {
            **dataclasses.asdict(self.caption),
            **record.key._asdict(),
            "shape": list(record.shape),
            "dtype": str(record.dtype).removeprefix("torch."),
            "sample": self.sample,
            "channel": self.channel,
            "levels": list(self.levels),
            **({} if self.own is None else {"channel_levels": self.own.tolist()}),
            "curve": self.curve,
            **({} if self.order is None else {"channels": self.order.tolist()}),
            "colormap": self.colormap,
            "notes": list(record.notes),
            "overwritten_by": record.overwritten_by,
        }

    def whole(self) -> Maps:
        """Return the maps of all channels; raise `HookViewerError` where there are none."""
        maps = self.drawn or as_maps(self.record.array(), sample=self.sample, reading=self.reading)
        if not maps.values.size:
            name = self.record.key.path or "The model"
            raise HookViewerError(f"{name} gave an empty tensor, there is nothing to draw: export it as npz.")
        return maps

    def drawn_of(self, whole: Maps) -> Maps:
        """Return those of all maps that are drawn, in the order of their tiles."""
        if whole.layout == "bars":
            return _as_strip(whole, self.order)
        channels = self.channels(len(whole.values))
        if not len(channels):
            name = self.record.key.path or "the model"
            raise HookViewerError(f"No channel of {name} is shown: change what is shown alone, then export.")
        if np.array_equal(channels, np.arange(len(whole.values))):
            return whole
        titles = tuple(whole.titles[one] for one in channels) if whole.titles else ()
        colours = None if whole.colours is None else whole.colours[channels]
        values = whole.values[channels]
        return dataclasses.replace(whole, values=values, titles=titles, colours=colours, across=0)

    def channels(self, count: int) -> npt.NDArray[np.intp]:
        """Return which of `count` channels are drawn, in the order of their tiles."""
        if self.channel is not None:
            return np.array([self.channel] if self.channel < count else [], np.intp)
        return np.arange(count) if self.order is None else self.order[self.order < count]

    def scale(self, count: int) -> npt.NDArray[np.float64] | tuple[float, float]:
        """Return the levels of what is drawn of `count` channels: one pair, or one for each tile."""
        return self.levels if self.own is None else self.own[self.channels(count)]


def _as_strip(bars: Maps, order: npt.NDArray[np.intp] | None) -> Maps:
    """Return a vector as a strip high enough to be seen, about 24 times as wide as high."""
    values = bars.values if order is None else bars.values[..., order[order < bars.values.shape[-1]]]
    return dataclasses.replace(bars, values=values.repeat(max(1, values.shape[-1] // 24), axis=1))
