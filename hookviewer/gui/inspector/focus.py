"""What the inspector looks at: one channel of one input's record, and what is known of it. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy.typing as npt
from PySide6.QtCore import QCoreApplication

from hookviewer import arrays
from hookviewer.gui import cell_words
from hookviewer.gui.attention_records import is_attention
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.numbers import number
from hookviewer.gui.remembered import remembered
from hookviewer.gui.scaling import scale_for
from hookviewer.gui.shown_maps import maps_in
from hookviewer.gui.state import InputItem, Look, Run, Selection
from hookviewer.gui.wall.words import statistics
from hookviewer.kinds import Key, Kind

Values = npt.NDArray[Any]

MOST_COUNTED = 1 << 19
BINS = 96
OVER_TIME = "feature by time"
"""The axes of a sequence that is one picture: a row for each unit."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Inspector", text)


@dataclasses.dataclass(frozen=True, eq=False)
class Focus:
    """One channel of the current input's column; `cell` is the row and column that the numbers are of."""

    column: Column
    maps: arrays.Maps
    channel: int
    cell: tuple[int, int]
    levels: tuple[float, float]
    colormap: str
    item: InputItem | None
    curve: str = "linear"

    @property
    def map(self) -> Values:
        """The channel's values [H, W]."""
        values: Values = self.maps.values[self.channel]
        return values

    @property
    def value(self) -> object:
        """The value of the cell."""
        return self.map[self.cell]

    @property
    def is_map(self) -> bool:
        """Whether there is a picture to look at."""
        return self.maps.layout == "maps"

    @property
    def is_signal(self) -> bool:
        """Whether there is a line over time to look at."""
        return self.maps.layout == "lines"


def focus_of(wall: WallState, selection: Selection, items: Sequence[InputItem]) -> Focus | None:
    """Return what is in focus: the selected input's column, and nothing where that one is empty.

    Only where the selected input has no column, it is the first one that holds something.
    """
    column = _looked_at(wall, selection)
    if column is None or column.maps is None or not column.maps.values.size:
        return None
    count, height, width = column.maps.values.shape
    channel = min(max(selection.channel, 0), count - 1)
    row, place = selection.cell or (height // 2, width // 2)
    cell = (min(max(row, 0), height - 1), min(max(place, 0), width - 1))
    item = next((one for one in items if one.number == column.number), None)
    scale = scale_for(wall, column)
    return Focus(column, column.maps, channel, cell, scale.of(channel), wall.colormap, item, scale.curve)


def place_words(focus: Focus) -> str:
    """Return where the cell is, in the words of its axes."""
    if focus.column.record is not None and is_attention(focus.column.record.key):
        return _tr("query {}  key {}").format(*focus.cell)
    if focus.maps.layout == "bars":
        return _tr("index {}").format(focus.cell[1])
    return cell_words.place_words(focus.maps, focus.cell)


def line_words(focus: Focus) -> tuple[str, str]:
    """Return what the lines through the cell run along: its row, and its column."""
    if focus.maps.axes == OVER_TIME:
        return _tr("over time"), _tr("over units")
    if focus.maps.in_place:
        return _tr("row"), _tr("column")
    down, along = cell_words.axis_names(focus.maps)
    return (
        (_tr("over {}").format(along), _tr("over {}").format(down)) if along else (_tr("row"), _tr("column"))
    )


def reason_of(wall: WallState, selection: Selection) -> str:
    """Return why there is nothing to look at, and of which input where there are several."""
    column = _looked_at(wall, selection)
    if column is None:
        return _tr("Tick an input, and its maps can be looked at here.")
    reason = column.reason or _tr("The tensor is empty: there is nothing to look at.")
    return f"{column.letter}  {column.title}\n{reason}" if column.letter else reason


def _looked_at(wall: WallState, selection: Selection) -> Column | None:
    columns = [column for column in wall.columns if column.number is not None]
    own = next((column for column in columns if column.number == selection.input), None)
    filled = (column for column in columns if column.maps is not None and column.maps.values.size)
    return own or next(filled, columns[0] if columns else None)


@remembered()
def one_channel(maps: arrays.Maps, channel: int) -> arrays.Maps:
    """Return the maps of one channel only."""
    colours = None if maps.colours is None else maps.colours[channel : channel + 1]
    return dataclasses.replace(maps, values=maps.values[channel : channel + 1], colours=colours, titles=())


def known_statistics(run: Run | None, focus: Focus, kind: Kind) -> arrays.Statistics | None:
    """Return the statistics that the run has made of the record in focus (or its gradient), where they hold.

    They are of all values; the maps may show one sample only, or leave a class token out.
    """
    record = focus.column.record
    if run is None or record is None or math.prod(record.shape) != focus.maps.values.size:
        return None
    return run.summaries.get(record.key._replace(kind=kind))


@remembered()
def alike(maps: arrays.Maps, channel: int) -> tuple[Values, Values]:
    """Return the other channels, the most similar first, and the correlation of every channel."""
    return arrays.similar(maps, channel)


def gradient_of(
    run: Run | None, selection: Selection, record_key: Key | None, look: Look
) -> arrays.Maps | None:
    """Return the gradient's maps of what is selected, where they were recorded and kept."""
    if run is None or record_key is None:
        return None
    leaves = run.recording.leaves(selection.path, Kind.GRAD_OUTPUT, selection.call)
    if not leaves:
        return None
    leaf = selection.leaf if selection.leaf in leaves else leaves[0]
    record = run.recording.get(Key(selection.path, Kind.GRAD_OUTPUT, selection.call, leaf))
    if record is None or record.kept is None:
        return None
    return maps_in(record, selection, look)


def statistics_rows(
    focus: Focus,
    gradient: arrays.Maps | None,
    known: arrays.Statistics | None = None,
    known_gradient: arrays.Statistics | None = None,
) -> list[tuple[str, str, str]]:
    """Return name, the channel's number and the layer's number of each statistic.

    `known` and `known_gradient` are the layers' statistics where the run has made them already.
    """
    own, layer = arrays.statistics(focus.map), known or statistics(focus.maps)
    rows = [
        (words, _written(own, name, focus.maps), _written(layer, name, focus.maps))
        for name, words in (
            ("mean", _tr("mean")),
            ("std", _tr("std")),
            ("min", _tr("min")),
            ("max", _tr("max")),
        )
    ]
    rows.append((_tr("zeros"), _share(own.zeros, own.count), _share(layer.zeros, layer.count)))
    if gradient is not None and gradient.values.shape == focus.maps.values.shape:
        size = arrays.statistics(gradient.values[focus.channel]).l2
        every = (known_gradient or statistics(gradient)).l2
        rows.append((_tr("|grad|"), number(float(size)), number(float(every))))
    odd = own.nan + own.pos_inf + own.neg_inf
    rows.append((_tr("NaN, inf"), str(int(odd)), str(int(layer.nan + layer.pos_inf + layer.neg_inf))))
    return rows


@remembered()
def span_of(maps: arrays.Maps) -> tuple[float, float, int]:
    """Return the range of nearly all values, and of how many values one was looked at."""
    flat = maps.values.reshape(-1)
    step = max(1, flat.size // MOST_COUNTED)
    some = arrays.finite(flat[::step])
    if not some.size:
        return 0.0, 1.0, step
    low, high = (arrays.quantile(some, share) for share in (0.0005, 0.9995))
    if low == high:
        low, high = float(some.min()), float(some.max())
    return (low, high, step) if low < high else (low - 0.5, high + 0.5, step)


@remembered()
def counts(maps: arrays.Maps, low: float, high: float, step: int) -> tuple[Values, Values]:
    """Return how many of every `step`-th value lie in each of 96 steps from low to high, and their edges."""
    return arrays.histogram(maps.values.reshape(-1)[::step], BINS, (low, high))


def _written(found: arrays.Statistics, name: str, maps: arrays.Maps) -> str:
    """Return a statistic as it is written: extremes of integers are integers."""
    value = float(getattr(found, name))
    return cell_words.value_words(value, whole=maps.whole and name in ("min", "max"))


def _share(part: int, count: int) -> str:
    return f"{100 * float(part) / max(int(count), 1):.1f} %"
