"""What can be exported of what the window shows, as entries with their scale and caption. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from hookviewer.formats import Caption, Entry
from hookviewer.gui import export_words, state
from hookviewer.gui.cam_choice import parts_of
from hookviewer.gui.columns import Column, WallState, difference_colormap, resolve
from hookviewer.gui.edit_words import all_words
from hookviewer.gui.parameter_wall import NUMBER
from hookviewer.gui.scaling import scale_for
from hookviewer.gui.state import InputItem, Look, Run, Selection, Settings
from hookviewer.kinds import Kind
from hookviewer.recording import Recording
from hookviewer.target_words import words

OF_WEIGHTS = frozenset({Kind.PARAM, Kind.PARAM_GRAD})


@dataclasses.dataclass(frozen=True)
class Shown:
    """What the window shows, as far as an export needs it."""

    items: Sequence[InputItem]
    runs: Mapping[int, Run]
    selection: Selection
    look: Look
    settings: Settings
    model: str
    layers: Sequence[str] = ()
    kinds: Sequence[state.Shown] = ()
    """Which tensors of each layer; none named: the one that is shown."""
    weights: Mapping[str, Recording] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    """Parameters and buffers by path, as far as they were read."""

    def wall(self) -> WallState:
        """Return the wall of the selected module."""
        return resolve(self.items, self.runs, self.selection, self.look, running=False)


def wall_entries(shown: Shown) -> list[Entry]:
    """Return one entry per column of the wall, the difference too."""
    return list(entries_of(shown, shown.wall()))


def channel_entries(shown: Shown) -> list[Entry]:
    """Return the selected channel of every column of the wall."""
    return list(entries_of(shown, shown.wall(), shown.selection.channel))


def entries_of(shown: Shown, wall: WallState, channel: int | None = None) -> Iterator[Entry]:
    """Yield one entry per column of a wall that holds something; of one channel where one is named."""
    for column in wall.columns:
        if column.record is not None and column.maps is not None:
            yield _entry(shown, wall, column, channel)


def _entry(shown: Shown, wall: WallState, column: Column, channel: int | None) -> Entry:
    assert column.record is not None
    assert column.maps is not None
    maps, scale = column.maps, scale_for(wall, column)
    different = column.number is None and wall.difference_levels is not None
    sample = shown.look.sample if maps.samples > 1 and not different else 0
    own = scale.own
    if channel is not None and own is not None and channel < len(own):
        scale, own = dataclasses.replace(scale, levels=scale.of(channel)), None
    return Entry(
        column.record,
        _caption(shown, wall, column, alone=channel is not None),
        scale.levels,
        difference_colormap(wall) if different else wall.colormap,
        channel=channel,
        sample=sample,
        reading=None if different else maps.reading,
        drawn=maps,
        order=_order(wall, maps.values.shape[-1]),
        own=own,
        curve=scale.curve,
        ends=export_words.bar_ends(wall, column),
    )


def _order(wall: WallState, length: int) -> npt.NDArray[np.intp] | None:
    """Return the order of the tiles, of a vector that of its values; None where both go by number."""
    lead = wall.filled[0].maps if wall.filled else None
    if lead is not None and lead.layout == "bars":
        by_number = wall.sort in ("channel", "difference") or lead.values.shape[-1] != length
        return None if by_number else vector_order(lead.values[0, 0])
    plain = lead is None or np.array_equal(wall.order, np.arange(len(lead.values)))
    return None if plain else wall.order


def vector_order(values: npt.NDArray[np.generic]) -> npt.NDArray[np.intp]:
    """Return the places of a sorted vector: the largest first, NaN last."""
    return np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")


def _caption(shown: Shown, wall: WallState, column: Column, *, alone: bool) -> Caption:
    record, maps = column.record, column.maps
    assert record is not None
    assert maps is not None
    of_weights = record.key.kind in OF_WEIGHTS
    made = Caption.of(
        record,
        model=shown.model,
        calls=_calls(shown, column, wall.path),
        input=_input(shown, column),
        target=_target(shown, column),
        scale=export_words.scale_words(wall, column, alone=alone),
    )
    sample = shown.look.sample if maps.samples > 1 else 0
    return dataclasses.replace(
        made,
        call="" if of_weights else made.call,
        edits=_edits(wall, column),
        part=", ".join(
            filter(
                None,
                (
                    export_words.part_words(maps, sample, shown.look.part),
                    export_words.sign_words(record.key, shown.look.cam.sign),
                ),
            )
        ),
        order="" if alone else export_words.order_words(wall, shown.look),
    )


def _input(shown: Shown, column: Column) -> str:
    """Return the name of a column's input; weights have none, but their gradient has."""
    assert column.record is not None
    if column.record.key.kind is Kind.PARAM:
        return shown.look.parameters.variant
    if column.record.key.kind is Kind.PARAM_GRAD:
        item = _item(shown, shown.look.parameters.number)
        return item.title if item is not None else ""
    return column.title


def _item(shown: Shown, number: int | None) -> InputItem | None:
    return next((item for item in shown.items if item.number == number), None)


def _edits(wall: WallState, column: Column) -> str:
    """Return the edits of a column's run; a difference has those of the columns that it is made of."""
    places = (wall.pair.minuend, wall.pair.subtrahend) if column.number is None else ()
    found = (column.run, *(wall.columns[place].run for place in places if place < len(wall.columns)))
    return next((edits for run in found if run and (edits := all_words(run.settings.edits))), "")


def _calls(shown: Shown, column: Column, path: str) -> int:
    run = _run(shown, column)
    return max(len(run.recording.calls(path)), 1) if run is not None else 1


def _run(shown: Shown, column: Column) -> Run | None:
    """Return the run that a column is of; of a gradient of weights that of its input."""
    record, number = column.record, column.number
    if record is not None and record.key.kind is Kind.PARAM_GRAD:
        number = shown.look.parameters.number
    if number == NUMBER and (record is None or record.key.kind is not Kind.PARAM):
        number = next((item.number for item in shown.items), None)  # what a plain hook shows of the first run
    return shown.runs.get(number) if number is not None else None


def _target(shown: Shown, column: Column) -> str:
    run = _run(shown, column)
    own = parts_of(column.record.key.leaf)[1] if column.record is not None else ""
    if own:
        return own
    if run is None or run.recording.target_value is None:
        return ""
    chosen = run.settings.target
    if chosen.rule == "top" and chosen.leaf is None and run.guesses:
        return f"top class {run.guesses[0].name}"
    return run.recording.provenance.get("target") or words(chosen)
