"""What a caption says of an exported column: its scale, the order of its channels, its part of the tensor."""

from __future__ import annotations

from collections.abc import Sequence

from hookviewer import arrays
from hookviewer.arrays.layout import MAXIMUM
from hookviewer.gui.cam_choice import POSITIVE, SIZE, is_cam, is_signed
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.scaling import scale_for
from hookviewer.gui.state import Look
from hookviewer.kinds import Key, Kind

ENDS = {
    "full": ("min", "max"),
    "robust": ("0", "99.5 %"),
    "symmetric": ("−98 %", "98 %"),
    "peak": ("0", "max"),
    "log": ("0", "max"),
}
"""What stands at both ends of a colour bar whose tiles have scales of their own."""


def scale_words(wall: WallState, column: Column, *, alone: bool = False) -> str:
    """Return the scale of a column in words; `alone`: of a single channel of it."""
    if column.number is None and wall.difference_levels is not None:
        return "a scale of its own"
    if alone and wall.share == "channel":
        who = "a scale of its own"
    elif wall.share == "channel":
        who = "each channel on its own scale"
    elif wall.share == "input" and len(wall.filled) > 1:
        who = "each input on its own scale"
    else:
        who = "one scale for all columns" if len(wall.filled) > 1 else "one scale for the layer"
    return f"{who}, {_how(wall, column)}"


def _how(wall: WallState, column: Column) -> str:
    """Return how the ends of the scale were found."""
    curve = ", logarithmic" if wall.curved else ""
    if wall.scale == "robust":
        negative = scale_for(wall, column).levels[0] < 0 or wall.share == "channel"
        return "0.5 % to 99.5 %" if negative else "0 to 99.5 %"
    known = {"full": "min to max", "symmetric": "±98 %", "peak": "0 to max", "log": "logarithmic"}
    return known.get(wall.scale, f"set by hand{curve}")


def bar_ends(wall: WallState, column: Column) -> tuple[str, str]:
    """Return what stands at both ends of the colour bar where every channel has a scale of its own."""
    scale = scale_for(wall, column)
    if scale.own is None:
        return "", ""
    negative = bool((scale.own[:, 0] < 0).any())
    if wall.scale == "log":
        return ("−max", "max") if negative else ("0", "max")
    return ("0.5 %", "99.5 %") if wall.scale == "robust" and negative else ENDS.get(wall.scale, ("", ""))


def order_words(wall: WallState, look: Look) -> str:
    """Return how the channels stand, and which of them are left out; nothing where all stand by number."""
    lead = wall.filled[0].maps if wall.filled else None
    if lead is None:
        return ""
    if lead.layout == "bars":
        return "the largest value first" if wall.sort not in ("channel", "difference") else ""
    count, said = len(lead.values), []
    if len(wall.order) < count:
        said.append(f"{len(wall.order)} of {count} channels")
    if wall.sort == "similar":
        said.append(f"sorted by similarity to channel {look.anchor}")
    elif wall.sort != "channel":
        said.append(f"sorted by {SORTS.get(wall.sort, wall.sort)}")
    pinned = [one for one in wall.pinned if one in wall.order]
    if pinned and len(pinned) < len(wall.order):
        said.append(f"{_listed(pinned)} pinned in front")
    if wall.dead:
        said.append(f"{wall.dead} dead left out")
    return ", ".join(said)


SORTS = {"gradient": "|gradient|", "product": "|output × gradient|", "difference": "|A − B|"}


def _listed(channels: Sequence[int]) -> str:
    few = ", ".join(map(str, channels[:6]))
    return f"{few} …" if len(channels) > 6 else few


def part_words(maps: arrays.Maps, sample: int, part: str) -> str:
    """Return which part of the tensor maps are; nothing where it is all of it.

    Samples and places are counted from 0, as channels are.
    """
    said = [f"sample {sample} of {maps.samples}"] if maps.samples > 1 else []
    for slider in maps.sliders:
        greatest = slider.place == MAXIMUM
        said.append(
            f"greatest along {slider.role}" if greatest else f"{slider.role} {slider.place} of {slider.size}"
        )
    if maps.complex:
        said.append(part)
    if maps.longest is not None and maps.values.shape[-1] < maps.longest:
        said.append(f"{maps.values.shape[-1]} of {maps.longest} steps")
    return ", ".join(said)


def sign_words(key: Key, sign: str) -> str:
    """Return what is drawn of a map of importance with a sign; nothing where it is drawn as it is."""
    if key.kind is not Kind.ATTRIBUTION or not is_cam(key.leaf) or not is_signed(key.leaf):
        return ""
    return {SIZE: "drawn by its size", POSITIVE: "drawn above zero only"}.get(sign, "")
