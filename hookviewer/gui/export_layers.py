"""Everything that can be exported of the ticked layers: every kind, call and leaf, on every input. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from hookviewer.formats import Entry
from hookviewer.gui import state
from hookviewer.gui.cam_choice import of_input
from hookviewer.gui.columns import MOST_COLUMNS, WallState, resolve, wall_of
from hookviewer.gui.export_entries import Shown, entries_of
from hookviewer.gui.parameters import Parameters
from hookviewer.gui.state import SIDED
from hookviewer.kinds import Kind
from hookviewer.recording import Recording


def layer_entries(shown: Shown) -> list[Entry]:
    """Return every kind of every ticked layer of every ticked input, each layer on its own scale.

    Of a layer that was called several times, or that gave several tensors, they are those of every call and
    all the tensors. Inputs that share a scale share it however many there are.
    """
    return [entry for _, _, entries in by_layer(shown) for entry in entries]


def by_layer(shown: Shown) -> list[tuple[str, state.Shown, list[Entry]]]:
    """Return what there is of each layer and kind, as path, kind and entries; nothing where none is there."""
    look = dataclasses.replace(shown.look, levels=None, difference=False, plain=False)
    side = shown.selection.side if shown.selection.shown in SIDED else "output"
    selection = dataclasses.replace(shown.selection, channel=0, cell=None, region=None, side=side)
    plain = dataclasses.replace(shown, look=look, selection=selection)
    return [(path, kind, list(_found(plain, path, kind))) for path, kind in _wanted(plain)]


def _found(shown: Shown, path: str, kind: state.Shown) -> Iterator[Entry]:
    if kind is state.Shown.WEIGHTS:
        yield from _weights(shown, path)
        return
    for call, leaf, cam in _places(shown, path, kind):
        there = dataclasses.replace(shown.selection, path=path, shown=kind, call=call, leaf=leaf, cam=cam)
        one = dataclasses.replace(shown, selection=there)
        yield from entries_of(one, _whole_wall(one))


def _wanted(shown: Shown) -> Iterator[tuple[str, state.Shown]]:
    """Yield path and kind of every tensor; maps of importance of the input once."""
    kinds = shown.kinds or (shown.selection.shown,)
    for path in shown.layers:
        yield from ((path, kind) for kind in kinds)
    if state.Shown.GRAD_CAM in kinds and shown.layers and any(map(of_input, shown.look.cam.leaves)):
        yield "", state.Shown.GRAD_CAM


def _places(shown: Shown, path: str, kind: state.Shown) -> Iterator[tuple[int, str, str]]:
    """Yield call, leaf and map of importance of every tensor of one kind of a layer, in order."""
    if kind is state.Shown.GRAD_CAM:
        yield from ((0, "", leaf) for leaf in shown.look.cam.leaves if of_input(leaf) == (not path))
        return
    kinds = dataclasses.replace(shown.selection, shown=kind).kinds
    found = {
        (key.call, key.leaf): None
        for run in shown.runs.values()
        for key in run.recording
        if key.path == path and key.kind == kinds[0]
    }
    yield from ((call, leaf, "") for call, leaf in sorted(found) or [(0, "")])


def _whole_wall(shown: Shown) -> WallState:
    """Return the wall of all inputs, of which the window shows the first ones only."""
    groups = range(0, len(shown.items), MOST_COLUMNS)
    selection, look = shown.selection, shown.look
    parts = [
        resolve(shown.items[first : first + MOST_COLUMNS], shown.runs, selection, look, running=False)
        for first in groups
    ]
    if len(parts) == 1:
        return parts[0]
    return wall_of([column for part in parts for column in part.columns], None, None, selection, look)


def _weights(shown: Shown, path: str) -> Iterator[Entry]:
    """Yield every parameter and buffer of a layer, and its gradient where one was recorded."""
    values = shown.weights.get(path)
    if values is None:
        return
    gradients: list[tuple[int | None, Recording | None]] = [*_gradients(shown, path)] or [(None, None)]
    for leaf in values.leaves(path, Kind.PARAM):
        selection = dataclasses.replace(
            shown.selection, path=path, shown=state.Shown.WEIGHTS, call=0, leaf=leaf
        )
        for place, (number, gradient) in enumerate(gradients):
            known = Parameters(path, values, number, gradient)
            there = dataclasses.replace(shown.look, parameters=known, beside=gradient is not None)
            one = dataclasses.replace(shown, selection=selection, look=there)
            yield from list(entries_of(one, one.wall()))[1 if place else 0 :]


def _gradients(shown: Shown, path: str) -> Iterator[tuple[int, Recording]]:
    """Yield the number of each input whose run has recorded gradients of weights, and its recording."""
    known = shown.look.parameters
    for item in shown.items:
        run = shown.runs.get(item.number)
        if run is not None and run.recording.leaves(path, Kind.PARAM_GRAD):
            yield item.number, run.recording
        elif known.path == path and known.number == item.number and known.gradients is not None:
            yield item.number, known.gradients
