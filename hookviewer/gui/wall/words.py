"""What the wall says in words and numbers: over a column, in the foot, about the scale. Pure."""

from __future__ import annotations

import numpy as np

from hookviewer import arrays
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.numbers import number
from hookviewer.gui.remembered import remembered
from hookviewer.gui.state import Shown
from hookviewer.gui.wall import tiles

KINDS = {
    Shown.OUTPUT: "Output",
    Shown.GRADIENT: "Gradient",
    Shown.PRODUCT: "Product",
    Shown.GRAD_CAM: "Grad-CAM",
}
SHORT_KINDS = {"Gradient": "Grad", "Grad-CAM": "CAM"}
KIND_TIPS = {
    Shown.OUTPUT: "What the module returned  G",
    Shown.GRADIENT: "Gradient of the target with respect to it  G",
    Shown.PRODUCT: "Output × gradient  G",
    Shown.GRAD_CAM: "Where in the picture this layer speaks for the target  G",
}
SORTS = {
    "channel": "channel",
    "mean": "mean",
    "max": "max",
    "std": "std",
    "zeros": "zeros",
    "difference": "difference",
}
SCALES = {"auto": "auto", "full": "full", "robust": "robust", "symmetric": "symmetric"}
SCALE_TIPS = {
    "auto": "Robust for values, symmetric for gradients and products",
    "full": "From the least to the greatest value",
    "robust": "From 0 (or the 0.5 % quantile) to the 99.5 % quantile",
    "symmetric": "± the 98 % quantile of the absolute values, zero in the middle",
}


def scale_words(wall: WallState) -> tuple[str, str]:
    """Return the scale in force in words, long and short."""
    ends = {"full": "min to max", "robust": "99.5 %", "symmetric": "±98 %"}.get(wall.scale, "by hand")
    whose = "shared" if len(wall.filled) > 1 else "layer"
    return f"Scale: {whose}, {ends}", ends


def written(value: object) -> str:
    """Return any number in words: bools and integers in full, four digits of others."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool | int):
        return str(plain).replace("-", "−")
    if isinstance(plain, complex):
        sign = "−" if plain.imag < 0 else "+"
        return f"{number(plain.real)} {sign} {number(abs(plain.imag))}i"
    return number(plain) if isinstance(plain, float) else str(plain)


@remembered()
def statistics(maps: arrays.Maps) -> arrays.Statistics:
    """Return the statistics of all values of maps."""
    return arrays.statistics(maps.values)


@remembered()
def likeness(first: arrays.Maps, second: arrays.Maps) -> tuple[float, float]:
    """Return the cosine of two layers and the L2 norm of their difference relative to the first one's."""
    one, other = (maps.values.astype(np.float64).reshape(-1) for maps in (first, second))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        length = float(np.linalg.norm(one))
        cosine = float(one @ other / (length * np.linalg.norm(other)))
        relative = float(np.linalg.norm(one - other) / length)
    return cosine, relative


def column_numbers(column: Column, known: arrays.Statistics | None = None) -> tuple[str, ...]:
    """Return mean, std and share of zeros, from the longest version to the shortest.

    `known` are the statistics of the record where the run has made them already.
    """
    if column.maps is None or not column.maps.values.size:
        return ()
    found = known if known is not None and column.maps.samples == 1 else statistics(column.maps)
    mean, std = f"mean {number(found.mean)}", f"std {number(found.std)}"
    zeros = f"zeros {100 * found.zeros / max(found.count, 1):.1f} %"
    return (f"{mean}   {std}   {zeros}", f"{mean}   {std}", mean, "")


def difference_numbers(wall: WallState) -> tuple[str, ...]:
    """Return cosine and relative L2 of the first two columns, from the longest version to the shortest."""
    first, second = wall.columns[0].maps, wall.columns[1].maps
    if first is None or second is None or first.values.shape != second.values.shape:
        return ()
    cosine, relative = likeness(first, second)
    return (f"cosine {number(cosine)}   rel. L2 {number(relative)}", f"cosine {number(cosine)}", "")


def foot(wall: WallState, sort: str, target: str = "") -> str:
    """Return what the foot says: how many channels, what is wrong with some, what is hidden."""
    filled = wall.filled
    if not filled:
        return _hidden(wall).removeprefix("; ")
    words = [_counted(column) for column in filled if column.maps is not None]
    said = words[0] if len(filled) == 1 else _count(filled[0].maps)
    if sort != "channel":
        said += f", sorted by {sort}"
    if len(filled) > 1:
        said += ", one scale for all columns"
    if target:
        said += f", {target}"
    return said + _hidden(wall)


def _hidden(wall: WallState) -> str:
    if not wall.hidden_inputs:
        return ""
    one = wall.hidden_inputs == 1
    return f"; {wall.hidden_inputs} more ticked {'input is' if one else 'inputs are'} not shown"


def _count(maps: arrays.Maps | None) -> str:
    if maps is None:
        return ""
    if maps.layout == "maps":
        count = len(maps.values)
        return f"{count} channels" if count != 1 else "1 map"
    count = maps.values.size
    return {"bars": f"{count} values", "number": "1 number"}.get(maps.layout, f"{count} values in a table")


def _counted(column: Column) -> str:
    maps = column.maps
    if maps is None or maps.layout != "maps" or len(maps.values) < 2:
        return _count(maps)
    spread, flat = tiles.spread(maps), tiles.flat_channels(maps)
    dead = int((flat & (spread.low == 0)).sum())
    constant, odd = int(flat.sum()) - dead, int((spread.odd > 0).sum())
    said = [_count(maps), f"{dead} dead" if dead else "none dead"]
    said += [f"{constant} constant"] if constant else []
    said += [f"{odd} with NaN or inf" if odd else "no NaN"]
    return ", ".join(said)
