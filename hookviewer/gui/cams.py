"""Grad-CAM of several layers at once: a map for each layer and column, each layer on a scale. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from hookviewer.arrays import Maps
from hookviewer.errors import HookViewerError
from hookviewer.gui import columns
from hookviewer.gui.columns import Column, WallState
from hookviewer.gui.comparing import difference_maps, why_no_difference
from hookviewer.gui.state import InputItem, Look, Run, Selection, Shown

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclasses.dataclass(frozen=True, eq=False)
class Cam:
    """One layer's map in one column: `maps` is [1, H, W], or None where there is none and `reason` says why.

    `levels` are those of the layer, shared by the inputs; those of the difference have zero in the middle.
    """

    path: str
    maps: Maps | None
    levels: tuple[float, float]
    reason: str = ""

    @property
    def peak(self) -> float:
        """The value of the map that is farthest from zero, NaN without a map."""
        if self.maps is None:
            return math.nan
        low, high = columns.levels_of([self.maps], "full")
        return low if abs(low) > abs(high) else high


@dataclasses.dataclass(frozen=True, eq=False)
class Cams:
    """A strip of layers in order of execution for each column of the wall.

    `left_out` holds what is ticked and has no such map in any column, with its reason.
    """

    strips: tuple[tuple[Cam, ...], ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The layers, the same in every strip."""
        return tuple(cam.path for cam in self.strips[0])


Found = tuple[Maps | None, str]


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
) -> Cams | None:
    """Return the strips beside the columns of `wall`: the ticked layers that suit, and the selected one.

    None where something else than Grad-CAM is shown, or no layer has a map. While the model runs, what has
    not arrived yet is not said to be left out.
    """
    if wall.shown is not Shown.GRAD_CAM:
        return None
    inputs = [column for column in wall.columns if column.number is not None]
    rows: dict[str, list[Cam]] = {}
    left_out: list[tuple[str, str]] = []
    for path in _in_order({*ticked, selection.path}, runs.values()):
        found = [_found(column, runs, path, selection, look) for column in inputs]
        if any(maps is not None for maps, _ in found):
            rows[path] = _row(path, found, wall, look)
        elif found and not running:
            left_out.append((path, next((why for _, why in found if why), "")))
    if not rows:
        return None
    return Cams(tuple(zip(*rows.values(), strict=True)), tuple(left_out))


def _in_order(paths: Iterable[str], runs: Iterable[Run]) -> list[str]:
    """Return paths by the start of their first call in any run."""
    recordings = [run.recording for run in runs]

    def start(path: str) -> tuple[float, str]:
        calls = [recording.calls(path) for recording in recordings]
        return min((call[0].order for call in calls if call), default=math.inf), path

    return sorted(paths, key=start)


def _found(column: Column, runs: Mapping[int, Run], path: str, selection: Selection, look: Look) -> Found:
    if path == selection.path:
        return column.maps, column.reason
    run = runs.get(column.number) if column.number is not None else None
    if run is None:
        return None, column.reason
    try:
        record = columns.shown_record(run.recording, at(selection, path))
        return columns.maps_of(record, look.sample, None), ""
    except HookViewerError as error:
        return None, str(error)


def at(selection: Selection, path: str | None) -> Selection:
    """Return the selection moved to another module of the strip: its first call, as the strip shows it."""
    if path is None or path == selection.path:
        return selection
    return dataclasses.replace(selection, path=path, call=0, leaf="", channel=0, cell=None)


def _row(path: str, found: Sequence[Found], wall: WallState, look: Look) -> list[Cam]:
    """Return a layer's maps for all columns, on the scale that they share."""
    there = [maps for maps, _ in found if maps is not None]
    own = wall.levels if path == wall.path and look.levels is not None else None
    scale = columns.scale_of(look.scale, wall.shown)
    levels = own or columns.levels_of(there, scale)
    row = [Cam(path, maps, levels, why) for maps, why in found]
    return row if wall.difference is None else [*row, _difference(path, found, wall)]


def _difference(path: str, found: Sequence[Found], wall: WallState) -> Cam:
    first, second = (found[place][0] for place in (wall.pair.minuend, wall.pair.subtrahend))
    if first is None or second is None:
        why = QCoreApplication.translate("Wall", "A difference needs two recorded columns.")
        return Cam(path, None, (0.0, 0.0), why)
    reason = why_no_difference(first, second)
    if reason:
        return Cam(path, None, (0.0, 0.0), reason)
    maps = difference_maps(first, second)
    return Cam(path, maps, columns.difference_levels_of(maps, wall.shown))
