"""What can be exported of what the window shows, as entries with their scale and caption. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from hookviewer.formats import Caption, Entry
from hookviewer.gui import state
from hookviewer.gui.cam_choice import of_input, parts_of
from hookviewer.gui.columns import Column, WallState, resolve
from hookviewer.gui.edit_words import all_words
from hookviewer.gui.scaling import scale_for
from hookviewer.gui.state import InputItem, Look, Run, Selection, Settings
from hookviewer.target_words import words


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

    def wall(self) -> WallState:
        """Return the wall of the selected module."""
        return resolve(self.items, self.runs, self.selection, self.look, running=False)


def wall_entries(shown: Shown) -> list[Entry]:
    """Return one entry per column of the wall, the difference too."""
    wall = shown.wall()
    found = (_entry(shown, wall, column, shown.selection.path) for column in wall.columns)
    return [entry for entry in found if entry is not None]


def channel_entries(shown: Shown) -> list[Entry]:
    """Return the selected channel of every column of the wall."""
    channel = shown.selection.channel
    return [dataclasses.replace(entry, channel=channel) for entry in wall_entries(shown)]


def layer_entries(shown: Shown) -> list[Entry]:
    """Return every kind of every ticked layer of every ticked input, each layer on its own scale."""
    return list(_layers(shown))


def _layers(shown: Shown) -> Iterator[Entry]:
    look = dataclasses.replace(shown.look, levels=None, difference=False)
    for path, kind, cam in _wanted(shown):
        selection = dataclasses.replace(
            shown.selection, path=path, shown=kind, call=0, leaf="", channel=0, cell=None, cam=cam
        )
        for first in range(0, len(shown.items), 4):
            some = dataclasses.replace(
                shown, items=shown.items[first : first + 4], selection=selection, look=look
            )
            yield from wall_entries(some)


def _wanted(shown: Shown) -> Iterator[tuple[str, state.Shown, str]]:
    """Yield path and kind of every tensor, of maps of importance the leaf too; those of the input once."""
    kinds = shown.kinds or (shown.selection.shown,)
    for path in shown.layers:
        for kind in kinds:
            leaves = shown.look.cam.leaves if kind is state.Shown.GRAD_CAM else ("",)
            yield from ((path, kind, leaf) for leaf in leaves if not of_input(leaf))
    if state.Shown.GRAD_CAM in kinds:
        every = [leaf for leaf in shown.look.cam.leaves if of_input(leaf)]
        yield from ((shown.selection.path, state.Shown.GRAD_CAM, leaf) for leaf in every)


def _entry(shown: Shown, wall: WallState, column: Column, path: str) -> Entry | None:
    if column.record is None or column.maps is None:
        return None
    different = column.number is None and wall.difference_levels is not None
    caption = Caption.of(
        column.record,
        model=shown.model,
        calls=_calls(shown, column, path),
        input=column.title,
        target=_target(shown, column),
        scale="one scale for all columns" if len(wall.filled) > 1 else "one scale for the layer",
    )
    caption = dataclasses.replace(caption, edits=_edits(wall, column))
    levels = scale_for(wall, column).levels
    colormap = "ember" if different else wall.colormap
    return Entry(
        column.record,
        caption,
        levels,
        colormap,
        sample=0 if different else shown.look.sample,
        reading=None if different else column.maps.reading,
        drawn=column.maps,
    )


def _edits(wall: WallState, column: Column) -> str:
    """Return the edits of a column's run; a difference has those of the columns that it is made of."""
    places = (wall.pair.minuend, wall.pair.subtrahend) if column.number is None else ()
    found = (column.run, *(wall.columns[place].run for place in places if place < len(wall.columns)))
    return next((edits for run in found if run and (edits := all_words(run.settings.edits))), "")


def _calls(shown: Shown, column: Column, path: str) -> int:
    run = shown.runs.get(column.number) if column.number is not None else None
    return max(len(run.recording.calls(path)), 1) if run is not None else 1


def _target(shown: Shown, column: Column) -> str:
    run = shown.runs.get(column.number) if column.number is not None else None
    own = parts_of(column.record.key.leaf)[1] if column.record is not None else ""
    if own:
        return own
    if run is None or run.recording.target_value is None:
        return ""
    chosen = run.settings.target
    if chosen.rule == "top" and chosen.leaf is None and run.guesses:
        return f"top class {run.guesses[0].name}"
    return run.recording.provenance.get("target") or words(chosen)
