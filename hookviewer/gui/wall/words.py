"""What the wall says in words and numbers: over a column, in the foot, about the scale. Pure."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from hookviewer import arrays
from hookviewer.differences import Difference
from hookviewer.gui.cams import Cams
from hookviewer.gui.cell_words import value_words
from hookviewer.gui.cell_words import written as written
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.numbers import number
from hookviewer.gui.remembered import remembered
from hookviewer.gui.state import Shown
from hookviewer.gui.wall import tiles
from hookviewer.kinds import Kind

NOOP = QT_TRANSLATE_NOOP
KINDS = {
    Shown.OUTPUT: str(NOOP("Wall", "Output")),
    Shown.GRADIENT: str(NOOP("Wall", "Gradient")),
    Shown.PRODUCT: str(NOOP("Wall", "Product")),
    Shown.GRAD_CAM: str(NOOP("Wall", "CAM")),
    Shown.WEIGHTS: str(NOOP("Wall", "Weights")),
    Shown.ATTENTION: str(NOOP("Wall", "Attention")),
}
SHORT_KINDS = {
    Shown.OUTPUT: str(NOOP("Wall", "Out")),
    Shown.GRADIENT: str(NOOP("Wall", "Grad")),
    Shown.PRODUCT: str(NOOP("Wall", "Prod")),
    Shown.GRAD_CAM: str(NOOP("Wall", "CAM")),
    Shown.WEIGHTS: str(NOOP("Wall", "Wts")),
    Shown.ATTENTION: str(NOOP("Wall", "Attn")),
}
KIND_TIPS = {
    Shown.OUTPUT: str(NOOP("Wall", "What the module returned")),
    Shown.GRADIENT: str(NOOP("Wall", "Gradient of the target with respect to it")),
    Shown.PRODUCT: str(NOOP("Wall", "Output × gradient")),
    Shown.GRAD_CAM: str(
        NOOP("Wall", "Where in the picture the evidence for the target is: Grad-CAM and other methods")
    ),
    Shown.WEIGHTS: str(NOOP("Wall", "Parameters and buffers of the module itself; no run is needed")),
    Shown.ATTENTION: str(NOOP("Wall", "What each token attends to, head by head")),
}
SORTS = {
    "channel": str(NOOP("Wall", "channel")),
    "mean": str(NOOP("Wall", "mean")),
    "max": str(NOOP("Wall", "max")),
    "std": str(NOOP("Wall", "std")),
    "zeros": str(NOOP("Wall", "zeros")),
    "gradient": str(NOOP("Wall", "|gradient|")),
    "product": str(NOOP("Wall", "output × gradient")),
    "similar": str(NOOP("Wall", "similarity")),
    "difference": str(NOOP("Wall", "difference")),
    "entropy": str(NOOP("Wall", "entropy")),
}
SORT_TIPS = {
    "channel": str(NOOP("Wall", "By number")),
    "mean": str(NOOP("Wall", "The largest mean first")),
    "max": str(NOOP("Wall", "The largest value first")),
    "std": str(NOOP("Wall", "The largest standard deviation first")),
    "zeros": str(NOOP("Wall", "The most zeros first")),
    "gradient": str(NOOP("Wall", "The largest mean |gradient| first")),
    "product": str(
        NOOP("Wall", "First what the target would lose most without the channel: |sum of output × gradient|")
    ),
    "similar": str(NOOP("Wall", "First what correlates most with the selected channel")),
    "difference": str(NOOP("Wall", "First what differs most between the first two inputs: mean |A − B|")),
    "entropy": str(NOOP("Wall", "The most focused head first")),
}
SHARES = {
    "inputs": str(NOOP("Wall", "shared")),
    "input": str(NOOP("Wall", "each input")),
    "channel": str(NOOP("Wall", "each channel")),
}
SHARE_TIPS = {
    "inputs": str(NOOP("Wall", "One scale for all inputs and channels")),
    "input": str(NOOP("Wall", "Each input has a scale of its own, shared by its channels")),
    "channel": str(NOOP("Wall", "Each channel has a scale of its own: shapes compare, sizes do not")),
}
SCALES = {
    "auto": str(NOOP("Wall", "auto")),
    "full": str(NOOP("Wall", "full")),
    "robust": str(NOOP("Wall", "robust")),
    "symmetric": str(NOOP("Wall", "symmetric")),
    "log": str(NOOP("Wall", "log")),
}
SCALE_TIPS = {
    "auto": str(NOOP("Wall", "Robust for values, symmetric for gradients and products, 0 to max for CAM")),
    "full": str(NOOP("Wall", "From the least to the greatest value")),
    "robust": str(NOOP("Wall", "From 0 (or the 0.5 % quantile) to the 99.5 % quantile")),
    "symmetric": str(NOOP("Wall", "± the 98 % quantile of the absolute values, zero in the middle")),
    "log": str(
        NOOP("Wall", "Logarithmic over three decades, even around zero; zero in the middle of signed values")
    ),
}
_SCALE_ENDS = {
    "full": str(NOOP("Wall", "min to max")),
    "robust": "99.5 %",
    "symmetric": "±98 %",
    "peak": str(NOOP("Wall", "0 to max")),
    "log": str(NOOP("Wall", "log")),
}
_RAMP_ENDS = {
    "full": ("min", "max"),
    "robust": ("0", "99.5 %"),
    "symmetric": ("−98 %", "98 %"),
    "peak": ("0", "max"),
    "log": ("0", "max"),
}


def segment_of(shown: Shown) -> Shown:
    """Return in which segment of the control `kind` something is found."""
    return Shown.GRADIENT if shown is Shown.MAGNITUDE else shown


def tr(text: str) -> str:
    """Return a sentence of the wall in the language of the window."""
    return QCoreApplication.translate("Wall", text)


AXES = {
    "sample": str(NOOP("Wall", "sample")),
    "channel": str(NOOP("Wall", "channel")),
    "row": str(NOOP("Wall", "row")),
    "column": str(NOOP("Wall", "column")),
    "feature": str(NOOP("Wall", "feature")),
    "token": str(NOOP("Wall", "token")),
    "token in a grid": str(NOOP("Wall", "token in a grid")),
    "time": str(NOOP("Wall", "time")),
    "depth": str(NOOP("Wall", "depth")),
    "number": str(NOOP("Wall", "number")),
    "table": str(NOOP("Wall", "table")),
    "head": str(NOOP("Wall", "head")),
    "query": str(NOOP("Wall", "query")),
    "key": str(NOOP("Wall", "key")),
    "frame": str(NOOP("Wall", "frame")),
    "slice": str(NOOP("Wall", "slice")),
    "layer": str(NOOP("Wall", "layer")),
    "output": str(NOOP("Wall", "output")),
    "input": str(NOOP("Wall", "input")),
    "output channel": str(NOOP("Wall", "output channel")),
    "input channel": str(NOOP("Wall", "input channel")),
    "colour": str(NOOP("Wall", "colour")),
}


def axes(reading: str) -> str:
    """Return a reading of the axes in the language of the window."""
    return " × ".join(_axis(axis) for axis in reading.split(" × "))


def _axis(role: str) -> str:
    name, _, place = role.partition(" ")
    return tr("axis {}").format(place) if name == "axis" else tr(AXES.get(role, role))


def scale_words(wall: WallState, cams: Cams | None = None) -> tuple[str, str]:
    """Return the scale in force in words, long and short."""
    ends = tr(_SCALE_ENDS[wall.scale]) if wall.scale in _SCALE_ENDS else tr("by hand")
    if cams is not None and cams.count > 1:
        alike = wall.scale not in ("peak", "symmetric", "robust") or len(cams.scales) == 1
        each = tr("each 0 to its max") if wall.scale == "peak" else tr("each map, {}").format(ends)
        return tr("Scale: {}").format(each if alike else tr("each method its own")), ends
    if has_own(wall):
        each = f"{tr(SHARES[wall.share])}, {ends}"
        return tr("Scale: {}").format(each), each
    words = tr("Scale: shared, {}") if len(wall.filled) > 1 else tr("Scale: layer, {}")
    return words.format(ends), ends


def has_own(wall: WallState) -> bool:
    """Return whether the columns, or the channels in them, are on scales of their own."""
    return wall.share == "channel" or (wall.share == "input" and len(wall.filled) > 1)


def ramp_ends(wall: WallState, cams: Cams | None = None) -> tuple[str, str]:
    """Return what stands at both ends of the colour bar: numbers, or words where every layer has its own."""
    if cams is not None and cams.count > 1 and wall.scale in _RAMP_ENDS:
        low, high = _RAMP_ENDS[wall.scale]
        return tr(low), tr(high)
    if has_own(wall) and wall.scale in _RAMP_ENDS:
        signed = wall.scale == "log" and wall.levels[0] < 0
        low, high = ("−max", "max") if signed else _RAMP_ENDS[wall.scale]
        if wall.scale == "robust" and wall.levels[0] < 0:
            low = "0.5 %"
        return tr(low), tr(high)
    whole = bool(wall.filled) and all(one.maps is not None and one.maps.whole for one in wall.filled)
    low, high = (value_words(end, whole=whole and float(end).is_integer()) for end in wall.levels)
    return low, high


@remembered()
def statistics(maps: arrays.Maps) -> arrays.Statistics:
    """Return the statistics of all values of maps, and of the tokens that stand before a grid."""
    return arrays.statistics(maps.every)


@remembered()
def likeness(first: arrays.Maps, second: arrays.Maps) -> tuple[float, float]:
    """Return the cosine of two layers and the L2 norm of their difference relative to the first one's."""
    one, other = (maps.values.astype(np.float64).reshape(-1) for maps in (first, second))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        length = float(np.linalg.norm(one))
        cosine = float(one @ other / (length * np.linalg.norm(other)))
        relative = float(np.linalg.norm(one - other) / length)
    return cosine, relative


def column_numbers(
    column: Column, known: arrays.Statistics | None = None, *, scale: tuple[float, float] | None = None
) -> tuple[str, ...]:
    """Return mean, std and share of zeros, from the longest version to the shortest.

    `known` are the statistics of the record where the run has made them already; `scale` are the levels of
    the column where it has its own.
    """
    if column.maps is None or not column.maps.values.size:
        return ()
    whole = known is not None and known.count == column.maps.values.size
    found = known if known is not None and whole else statistics(column.maps)
    if scale is not None:
        ends = f"{number(scale[0])} … {number(scale[1])}"
        rest = column_numbers(column, known)
        return (*(f"{ends}   {one}" for one in rest if one), ends)
    mean, std = tr("mean {}").format(number(found.mean)), tr("std {}").format(number(found.std))
    zeros = tr("zeros {} %").format(f"{100 * found.zeros / max(found.count, 1):.1f}")
    return (f"{mean}   {std}   {zeros}", f"{mean}   {std}", mean, "")


def difference_numbers(wall: WallState, counted: Difference | None = None) -> tuple[str, ...]:
    """Return cosine and relative L2 of the columns compared, from the longest version to the shortest.

    `counted` are further numbers of the two records, where they are there by now.
    """
    first, second = (wall.columns[place].maps for place in (wall.pair.reference, wall.pair.other))
    if first is None or second is None or first.values.shape != second.values.shape:
        return ()
    near, far = likeness(first, second)
    cosine, relative = tr("cosine {}").format(number(near)), tr("rel. L2 {}").format(number(far))
    more = difference_words(counted) if counted is not None else ()
    longer = (f"{cosine}   {relative}   {'   '.join(more[:end])}" for end in range(len(more), 0, -1))
    return (*longer, f"{cosine}   {relative}", cosine, "")


def difference_words(counted: Difference) -> tuple[str, ...]:
    """Return the largest difference, the share of signs that change, and the distance in ULP."""
    said = [tr("max |Δ| {}").format(number(counted.max_abs))]
    said.append(tr("signs {} %").format(f"{100 * counted.sign_share:.1f}") if counted.count else "")
    if not math.isnan(counted.max_ulp):
        said.append(tr("ULP {}").format(number(counted.max_ulp)))
    return tuple(filter(None, said))


def sorted_words(wanted: str, sort: str, anchor: int) -> str:
    """Return how the channels are sorted, and that they are not where the wish cannot be met here."""
    if wanted != sort:
        return tr("not sorted by {}, which there is nothing for here").format(tr(SORTS[wanted]))
    if sort == "similar":
        return tr("sorted by similarity to channel {}").format(anchor)
    return tr("sorted by {}").format(tr(SORTS[sort]))


def differs_nowhere(wall: WallState) -> bool:
    """Return whether the columns that are compared are equal, number by number."""
    last = wall.difference
    if last is None or last.maps is None or wall.shown is Shown.WEIGHTS:
        return False
    narrow = wall.difference_levels is not None and not any(wall.difference_levels)
    return narrow and last.maps.values.size > 0 and not last.maps.values.any()


def foot(wall: WallState, sort: str, target: str = "", *, anchor: int = 0) -> str:
    """Return what the foot says: how many channels, what is wrong with some, what is hidden."""
    filled = wall.filled
    if not filled:
        return _hidden(wall)
    words = [_counted(column) for column in filled if column.maps is not None]
    said = [words[0] if len(filled) == 1 else _count(filled[0].maps)]
    if wall.dead:
        said.append(tr("{} dead hidden").format(wall.dead))
    if wall.pinned:
        said.append(tr("{} pinned").format(len(wall.pinned)))
    if wall.only:
        said.append(tr("{} of them shown").format(len(wall.order)))
    if sort != "channel":
        said.append(sorted_words(sort, wall.sort, anchor))
    if has_own(wall):
        said.append(
            tr("each channel on its own scale")
            if wall.share == "channel"
            else tr("each column on its own scale")
        )
    elif len(filled) > 1:
        said.append(tr("one scale for all columns"))
    if differs_nowhere(wall):
        said.append(tr("nothing differs"))
    elif wall.difference_levels is not None:
        word = tr("gradient ±{}") if wall.shown is Shown.WEIGHTS else tr("difference ±{}")
        word = tr("difference 0 to {}") if wall.way == "absolute" else word
        said.append(word.format(number(wall.difference_levels[1])))
    if target:
        said.append(target)
    return "; ".join(filter(None, (", ".join(said), _hidden(wall))))


def cam_foot(wall: WallState, cams: Cams, target: str = "", *, pictures: bool = True) -> tuple[str, str]:
    """Return what the foot says of a strip of maps, and why some layers have none."""
    said = [_counted_cams(cams)]
    if cams.count > 1 and wall.share != "inputs":
        said.append(tr("each map on its own scale"))
    elif any(column.number is not None for column in wall.columns[1:]):
        said.append(tr("each on one scale for all columns"))
    said.append(tr("smooth over the picture") if pictures else tr("cell by cell, without a picture"))
    if wall.difference is not None and pictures:
        said.append(tr("{} cell by cell").format(wall.difference.title))
    if target:
        said.append(target)
    left = len(cams.left_out)
    if left:
        said.append(
            tr("{} without a map").format(left)
            if left > 1
            else tr("{} has no map").format(cams.left_out[0][0] or tr("the model"))
        )
    text = "; ".join(filter(None, (", ".join(said), _hidden(wall))))
    return text, "\n".join([text, *(f"{path or tr('the model')}: {why}" for path, why in cams.left_out)])


def _counted_cams(cams: Cams) -> str:
    layers, methods, targets = len(cams.paths), len(cams.methods), len({line.target for line in cams.lines})
    said = [tr("{} layers").format(layers) if layers != 1 else tr("1 layer")] if layers else []
    said += [tr("{} methods").format(methods)] if methods > 1 or not layers else []
    said += [tr("{} targets").format(targets)] if targets > 1 else []
    return " × ".join(said)


def _hidden(wall: WallState) -> str:
    if not wall.hidden_inputs:
        return ""
    if wall.hidden_inputs == 1:
        return tr("1 more ticked input is not shown")
    return tr("{} more ticked inputs are not shown").format(wall.hidden_inputs)


def _count(maps: arrays.Maps | None) -> str:
    if maps is None:
        return ""
    if maps.layout in ("maps", "lines"):
        count = len(maps.values)
        several = tr("{} heads") if maps.reading.endswith("head × query × key") else tr("{} channels")
        return several.format(count) if count != 1 else tr("1 map")
    count = maps.values.size
    if not count:
        return tr("an empty tensor")
    if maps.layout == "number":
        return tr("1 number")
    return (tr("{} values") if maps.layout == "bars" else tr("{} values in a table")).format(count)


def _zeros(column: Column, count: int) -> tuple[str, ...]:
    """Return how many maps are zero everywhere; only an output is dead then."""
    if column.record is not None and column.record.key.kind is Kind.OUTPUT:
        return (tr("{} dead").format(count) if count else tr("none dead"),)
    return (tr("{} zero everywhere").format(count),) if count else ()


def _counted(column: Column) -> str:
    maps = column.maps
    if maps is None or maps.layout != "maps" or len(maps.values) < 2:
        return _count(maps)
    spread, flat = tiles.spread(maps), tiles.flat_channels(maps)
    dead = int((flat & (spread.low == 0)).sum())
    constant, odd = int(flat.sum()) - dead, int((spread.odd > 0).sum())
    said = [_count(maps), *_zeros(column, dead)]
    said += [tr("{} constant").format(constant)] if constant else []
    said += [tr("{} with NaN or inf").format(odd) if odd else tr("no NaN")]
    return ", ".join(said)
