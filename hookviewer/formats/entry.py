"""What is exported: a record with its words, its scale, and how the page looks."""

from __future__ import annotations

import dataclasses
from typing import Any

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
            (self.kind, call, f"{self.shape} {self.dtype}".strip()),
            (given, target, self.scale),
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
    """A record to export, with the levels and colour map in force; one channel of it, or all."""

    record: Record
    caption: Caption
    levels: tuple[float, float]
    colormap: str
    channel: int | None = None
    sample: int = 0
    reading: str | None = None
    drawn: Maps | None = None
    """The record's maps where they have been made already, as they are shown."""

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
            "colormap": self.colormap,
            "notes": list(record.notes),
            "overwritten_by": record.overwritten_by,
        }

    def maps(self) -> Maps:
        """Return the maps to draw; raise `HookViewerError` where there are none."""
        maps = self.drawn or as_maps(self.record.array(), sample=self.sample, reading=self.reading)
        if not maps.values.size:
            name = self.record.key.path or "The model"
            raise HookViewerError(f"{name} gave an empty tensor, there is nothing to draw: export it as npz.")
        if maps.layout == "bars":
            return _as_strip(maps)
        if maps.layout == "lines" and self.channel is None:
            return dataclasses.replace(maps, values=maps.values.swapaxes(0, 1), layout="maps", titles=())
        if self.channel is None:
            return maps
        chosen = slice(self.channel, self.channel + 1)
        return dataclasses.replace(maps, values=maps.values[chosen], titles=maps.titles[chosen])


def _as_strip(bars: Maps) -> Maps:
    """Return a vector as a strip high enough to be seen, about 24 times as wide as high."""
    height = max(1, bars.values.shape[-1] // 24)
    return dataclasses.replace(bars, values=bars.values.repeat(height, axis=1))
