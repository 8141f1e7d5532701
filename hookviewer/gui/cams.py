"""Maps of importance beside each other: of layers and of the input, by several methods, for targets. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from hookviewer import render
from hookviewer.arrays import Maps
from hookviewer.errors import HookViewerError
from hookviewer.gui import columns, shown_maps
from hookviewer.gui.cam_choice import SIGNED, is_signed, method_of, parts_of, scale_of
from hookviewer.gui.cam_lines import Line, Place, lines_of
from hookviewer.gui.cam_records import NotYetError
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.comparing import difference_maps, why_no_difference
from hookviewer.gui.scaling import difference_levels_of, levels_of
from hookviewer.gui.state import InputItem, Look, Run, Selection, Shown

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclasses.dataclass(frozen=True, eq=False)
class Cam:
    """One map in one column: `maps` is [1, H, W], or None where there is none and `reason` says why.

    `path` is its layer, nothing for a map of the input; `leaf` says of which method and target it is.
    `levels` are shared by the inputs and targets; those of the difference have zero in the middle. `waiting`
    says that the map can still come, `notes` what its method has to say of it.
    """

    path: str
    maps: Maps | None
    levels: tuple[float, float]
    reason: str = ""
    leaf: str = "grad_cam"
    colormap: str = "magma"
    notes: tuple[str, ...] = ()
    waiting: bool = False

    @property
    def place(self) -> Place:
        """What tells it from the other maps of its column."""
        return self.path, self.leaf

    @property
    def peak(self) -> float:
        """The value of the map that is farthest from zero, NaN without a map."""
        if self.maps is None:
            return math.nan
        low, high = levels_of([self.maps], "full")
        return low if abs(low) > abs(high) else high


@dataclasses.dataclass(frozen=True, eq=False)
class Cams:
    """The same maps in the same order for each column of the wall, `lines` of them.

    `left_out` holds what is ticked and has no map in any column, with its reason; its tiles say so too.
    """

    strips: tuple[tuple[Cam, ...], ...]
    left_out: tuple[tuple[str, str], ...] = ()
    lines: tuple[Line, ...] = ()
    selected: Place = ("", "grad_cam")
    sign: str = SIGNED

    @property
    def paths(self) -> tuple[str, ...]:
        """The layers, each once."""
        found = dict.fromkeys(
            cam.path for cam in self.strips[0] if method_of(parts_of(cam.leaf)[0]).of_layers
        )
        return tuple(found)

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, each once."""
        return tuple(dict.fromkeys(parts_of(cam.leaf)[0] for cam in self.strips[0]))

    @property
    def scales(self) -> frozenset[str]:
        """The scales on which the methods are seen best."""
        return frozenset(scale_of(cam.leaf, self.sign) for cam in self.strips[0])

    @property
    def count(self) -> int:
        """How many maps each column has."""
        return len(self.strips[0])


@dataclasses.dataclass(frozen=True, eq=False)
class Found:
    """One map of one column, or why there is none."""

    maps: Maps | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    waiting: bool = False


Waiting = Callable[[int, str], str]
"""The number of an input and a leaf → what to say of a map that is still to come."""


def seen(item: InputItem | None) -> Image | None:
    """Return the picture that the network saw; None without one, and where it saw several."""
    return item.input.image if item is not None and item.input.batch == 1 else None


def cams_of(
    wall: WallState,
    runs: Mapping[int, Run],
    ticked: Iterable[str],
    selection: Selection,
    look: Look,
    *,
    running: bool,
    waiting: Waiting | None = None,
) -> Cams | None:
    """Return the maps beside the columns of `wall`: those of the ticked layers, and of the selected one.

    None where something else than maps of importance is shown, or there is none and none can come. While the
    model runs, what has not arrived yet is not said to be left out.
    """
    if wall.shown is not Shown.GRAD_CAM:
        return None
    inputs = [column for column in wall.columns if column.number is not None]
    selection = dataclasses.replace(selection, cam=look.cam.leaf(selection.cam))
    lines = lines_of(_layers(ticked, selection.path, runs.values()), look.cam)
    places = [place for line in lines for place in line.places]
    rows = {
        place: [_found(column, runs, place, selection, look, running, waiting) for column in inputs]
        for place in places
    }
    if not any(one.maps is not None or one.waiting for row in rows.values() for one in row):
        return None
    levels = _levels(rows, wall, selection, look)
    made = [_row(place, found, levels[place], wall, look) for place, found in rows.items()]
    left_out = () if running else tuple(_left_out(rows))
    selected = _place_of(selection.path, selection.cam)
    return Cams(tuple(zip(*made, strict=True)), left_out, lines, selected, look.cam.sign)


def _layers(ticked: Iterable[str], selected: str, runs: Iterable[Run]) -> list[str]:
    """Return the layers in order; the model itself is one only where it is ticked, or alone."""
    chosen = set(ticked)
    return _in_order(chosen if chosen and not selected else {*chosen, selected}, runs)


def _place_of(path: str, leaf: str) -> Place:
    return (path if method_of(parts_of(leaf)[0]).of_layers else "", leaf)


def _left_out(rows: Mapping[Place, Sequence[Found]]) -> Iterator[tuple[str, str]]:
    """Yield what has no map in any column and a reason for it, each layer once."""
    said: set[str] = set()
    for (path, leaf), found in rows.items():
        if found and all(one.maps is None and not one.waiting for one in found):
            name = path or ("" if method_of(parts_of(leaf)[0]).of_layers else leaf)
            if name not in said:
                said.add(name)
                yield name, next((one.reason for one in found if one.reason), "")


def _in_order(paths: Iterable[str], runs: Iterable[Run]) -> list[str]:
    """Return paths by the start of their first call in any run."""
    recordings = [run.recording for run in runs]

    def start(path: str) -> tuple[float, str]:
        calls = [recording.calls(path) for recording in recordings]
        return min((call[0].order for call in calls if call), default=math.inf), path

    return sorted(paths, key=start)


def _found(
    column: Column,
    runs: Mapping[int, Run],
    place: Place,
    selection: Selection,
    look: Look,
    running: bool,
    waiting: Waiting | None,
) -> Found:
    number = column.number
    run = runs.get(number) if number is not None else None
    if run is None or number is None:
        return Found(reason=column.reason)
    there = at(selection, place[0] or None, place[1])
    try:
        record = shown_maps.shown_record(run.recording, there, look.hints)
        return Found(shown_maps.maps_in(record, there, look), notes=record.notes)
    except NotYetError as error:
        coming = QCoreApplication.translate("Wall", "Running …") if running else ""
        return Found(None, coming or (waiting(number, place[1]) if waiting else str(error)), waiting=True)
    except HookViewerError as error:
        return Found(reason=column.reason if there == selection else str(error))


def at(selection: Selection, path: str | None, cam: str | None = None) -> Selection:
    """Return the selection moved to another map of the strip: of a layer the first call."""
    if cam is not None:
        selection = dataclasses.replace(selection, cam=cam)
    if path is None or path == selection.path:
        return selection
    return dataclasses.replace(selection, path=path, call=0, leaf="", channel=0, cell=None)


def _levels(
    rows: Mapping[Place, Sequence[Found]], wall: WallState, selection: Selection, look: Look
) -> dict[Place, list[tuple[float, float]]]:
    """Return the levels of every map, shared by targets and inputs, or its own.

    Levels set by hand are those of the selected map.
    """
    shared: dict[tuple[str, str], list[Maps]] = {}
    for (path, leaf), found in rows.items():
        there = [one.maps for one in found if one.maps is not None]
        shared.setdefault((path, parts_of(leaf)[0]), []).extend(there)
    made: dict[Place, list[tuple[float, float]]] = {}
    for place, found in rows.items():
        path, leaf = place
        scale = columns.scale_of(look.scale, wall.shown, cam=leaf, sign=look.cam.sign)
        if look.levels is not None and place == _place_of(selection.path, selection.cam):
            made[place] = [wall.levels] * len(found)
        elif look.share == "inputs":
            made[place] = [levels_of(shared[path, parts_of(leaf)[0]], scale)] * len(found)
        else:
            made[place] = [levels_of([one.maps] if one.maps is not None else [], scale) for one in found]
    return made


def _row(
    place: Place,
    found: Sequence[Found],
    levels: Sequence[tuple[float, float]],
    wall: WallState,
    look: Look,
) -> list[Cam]:
    """Return one map in all columns."""
    path, leaf = place
    colormap = columns.colormap_of(look.colormap, wall.shown, signed=is_signed(leaf, look.cam.sign))
    row = [
        Cam(path, one.maps, pair, one.reason, leaf, colormap, one.notes, one.waiting)
        for one, pair in zip(found, levels, strict=True)
    ]
    if wall.difference is None:
        return row
    signed = colormap if colormap in render.DIVERGING else "ember"
    return [*row, dataclasses.replace(_difference(path, found, wall), leaf=leaf, colormap=signed)]


def _difference(path: str, found: Sequence[Found], wall: WallState) -> Cam:
    first, second = (found[place].maps for place in (wall.pair.minuend, wall.pair.subtrahend))
    if first is None or second is None:
        why = QCoreApplication.translate("Wall", "A difference needs two recorded columns.")
        return Cam(path, None, (0.0, 0.0), why)
    reason = why_no_difference(first, second)
    if reason:
        return Cam(path, None, (0.0, 0.0), reason)
    maps = difference_maps(first, second)
    return Cam(path, maps, difference_levels_of(maps, wall.shown))
