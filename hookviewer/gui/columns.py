"""From the state to what the wall shows: one column per ticked input, and the difference of the first two.

Pure: `resolve` reads the session's values and returns frozen ones; nothing here paints.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QCoreApplication

from hookviewer import arrays
from hookviewer.errors import HookViewerError
from hookviewer.gui import cam_choice, likely, sorting
from hookviewer.gui.comparing import (
    Pair,
    compared_maps,
    difference_record,
    pair_of,
    why_no_difference,
)
from hookviewer.gui.differing import colormap_in, differing, levels_in, title_of, way_in_force
from hookviewer.gui.keeping import comes_back
from hookviewer.gui.remembered import remembered
from hookviewer.gui.scaling import LOG, levels_of
from hookviewer.gui.shown_maps import maps_in, shown_record
from hookviewer.gui.state import InputItem, Look, Run, Selection, Shown
from hookviewer.recording import Record, Recording

MOST_COLUMNS = 4
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _tr(text: str) -> str:
    return QCoreApplication.translate("Wall", text)


@dataclasses.dataclass(frozen=True, eq=False)
class Column:
    """One column of the wall; `maps` is None where there is nothing to show, and `reason` says why.

    `number` is the input's number, None for the difference. `maps.values` is `[C, H, W]`, float32,
    in channel order.
    """

    letter: str
    title: str
    number: int | None
    record: Record | None = None
    maps: arrays.Maps | None = None
    reason: str = ""
    top: str = ""
    waiting: bool = False
    run: Run | None = None
    item: InputItem | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class WallState:
    """All columns on one scale. `order` holds the channels in the order of their tiles.

    `levels` and `colormap` hold for the inputs' columns, `difference_levels` for the difference. `scale` is
    the scale in force: one of `arrays.SCALES`, "peak" (from 0 to the greatest value) or "set by hand".
    `dead` counts the channels that are left out since they are zero everywhere, `pinned` the first ones of
    `order` that are there because they are pinned. `share` is one of `scaling.SHARES`, `curved` says that
    the scale is logarithmic, `sort` is the sort in force; `only` are the channels that alone are shown.
    """

    path: str
    shown: Shown
    columns: tuple[Column, ...]
    order: npt.NDArray[np.intp]
    levels: tuple[float, float]
    colormap: str
    scale: str
    difference_levels: tuple[float, float] | None = None
    hidden_inputs: int = 0
    dead: int = 0
    pinned: tuple[int, ...] = ()
    share: str = "inputs"
    curved: bool = False
    sort: str = "channel"
    only: tuple[int, ...] = ()
    pair: Pair = dataclasses.field(default_factory=Pair)
    way: str = "minus"

    @property
    def difference(self) -> Column | None:
        """The difference column, if it is shown."""
        return self.columns[-1] if self.columns and self.columns[-1].number is None else None

    @property
    def filled(self) -> tuple[Column, ...]:
        """The inputs' columns that have maps."""
        return tuple(
            column for column in self.columns if column.maps is not None and column.number is not None
        )


def resolve(
    items: Sequence[InputItem], runs: Mapping[int, Run], selection: Selection, look: Look, *, running: bool
) -> WallState:
    """Return what the wall shows for the ticked inputs `items`."""
    if selection.shown is Shown.GRAD_CAM:
        selection = dataclasses.replace(selection, cam=look.cam.leaf(selection.cam))
    if selection.shown is Shown.WEIGHTS:
        from hookviewer.gui.parameter_wall import parameter_wall  # it builds on what is here

        return parameter_wall(items, selection, look)
    shown_items = items[:MOST_COLUMNS]
    columns = [
        _column(position, item, runs.get(item.number), selection, look, running, len(shown_items))
        for position, item in enumerate(shown_items)
    ]
    plain = False
    if look.plain:
        from hookviewer.gui.plain_wall import overwritten_record, with_plain  # it builds on what is here

        plain = overwritten_record(columns[0] if columns else None) is not None
        columns = with_plain(columns, selection, look)
    pair = pair_of(columns, selection.input)
    way = way_in_force(look.differs, selection.shown)
    difference = _difference(columns, pair, way) if (look.difference or plain) and len(columns) > 1 else None
    maps = difference.maps if difference is not None else None
    last_levels = None if maps is None else levels_in(maps, way, selection.shown)
    wall = wall_of(
        columns, difference, last_levels, selection, look, hidden=max(len(items) - MOST_COLUMNS, 0)
    )
    return dataclasses.replace(wall, pair=pair, way=way)


def wall_of(
    columns: Sequence[Column],
    last: Column | None,
    last_levels: tuple[float, float] | None,
    selection: Selection,
    look: Look,
    *,
    hidden: int = 0,
) -> WallState:
    """Return the wall of columns that share a scale, and of a last one with levels of its own."""
    filled = [column for column in columns if column.maps is not None]
    shared = [column.maps for column in filled if column.maps is not None]
    cam = selection.shown is Shown.GRAD_CAM
    scale = scale_of(look.scale, selection.shown, filled, look.part, selection.cam, look.cam.sign)
    levels = look.levels or levels_of(_for_all_targets(filled, selection, look) if cam else shared, scale)
    source, sort = _sorting(filled, selection, look)
    dead = _dead(shared) if look.hide_dead else ()
    count = len(shared[0].values) if shared else 0
    pinned = tuple(one for one in look.pinned(selection.path) if one < count and one not in dead)
    only = sorting.only_these(look.only, count, pinned)
    return WallState(
        selection.path,
        selection.shown,
        (*columns, *((last,) if last is not None else ())),
        np.arange(0)
        if source is None
        else sorting.arranged(source, sort, look.anchor, count, dead, pinned, only),
        levels,
        colormap_of(
            _colours_wanted(look, shared),
            selection.shown,
            signed=cam_choice.is_signed(selection.cam, look.cam.sign) if cam else _signed(shared, look.part),
        ),
        "set by hand" if look.levels else scale,
        last_levels,
        hidden,
        len(dead),
        pinned,
        "inputs" if look.levels else look.share,
        look.scale == LOG,
        sort,
        only,
    )


def scale_of(
    choice: str,
    shown: Shown,
    filled: Sequence[Column] = (),
    part: str = arrays.PARTS[0],
    cam: str = "",
    sign: str = cam_choice.SIGNED,
) -> str:
    """Return the scale in force.

    `auto` is robust for values, symmetric for signed ones and kernels in colour, full for bars and phases,
    as the method asks for maps of importance.
    """
    if choice != "auto":
        return choice
    if shown is Shown.GRAD_CAM:
        return cam_choice.scale_of(cam or "grad_cam", sign)
    maps = [column.maps for column in filled if column.maps is not None]
    if maps and all(one.layout != "maps" for one in maps):
        return "full"  # bars, lines and numbers are measured, not only seen: none is cut off
    if _signed(maps, part):
        return "full" if part == "phase" else "symmetric"
    if any(one.colours is not None for one in maps):
        return "symmetric"
    return "symmetric" if shown in (Shown.GRADIENT, Shown.PRODUCT) else "robust"


def colormap_of(choice: str, shown: Shown, *, signed: bool = False) -> str:
    """Return the colour map in force: `auto` is magma for values and ember for signed ones."""
    if choice != "auto":
        return choice
    return "ember" if signed or shown in (Shown.GRADIENT, Shown.PRODUCT) else "magma"


def _colours_wanted(look: Look, maps: Sequence[arrays.Maps]) -> str:
    """Return the choice of a colour map; what is in colour has a grey scale: that of each of its lights."""
    coloured = any(one.colours is not None for one in maps)
    return "gray" if coloured and look.colormap == "auto" else look.colormap


def _for_all_targets(filled: Sequence[Column], selection: Selection, look: Look) -> list[arrays.Maps]:
    """Return a method's maps of one layer for every target that is shown: they share a scale."""
    name, found = cam_choice.parts_of(selection.cam)[0], []
    leaves = [cam_choice.leaf_of(name, target) for target in look.cam.every_target]
    for column in filled:
        for there in (dataclasses.replace(selection, cam=leaf) for leaf in leaves):
            with contextlib.suppress(HookViewerError):  # what is not there has no share in it
                found.append(maps_in(_record_in(column.run, there, look), there, look))
    return found


def _record_in(run: Run | None, selection: Selection, look: Look) -> Record:
    return shown_record(Recording({}) if run is None else run.recording, selection, look.hints)


def _signed(maps: Sequence[arrays.Maps], part: str) -> bool:
    return part != arrays.PARTS[0] and any(one.complex for one in maps)


def difference_colormap(wall: WallState) -> str:
    """Return the colours of the difference: signed ones, whatever the values have; of its size others.

    Kernels in colour have a gradient in colour: its bar is the light of each.
    """
    last = wall.difference
    if last is not None and last.maps is not None and last.maps.colours is not None:
        return "gray"
    return colormap_in(wall.colormap, wall.way)


def _column(
    position: int,
    item: InputItem,
    run: Run | None,
    selection: Selection,
    look: Look,
    running: bool,
    count: int,
) -> Column:
    letter = LETTERS[position] if count > 1 else ""
    column = Column(letter, item.title, item.number, top=likely.top(run), run=run, item=item)
    if run is None:
        reason = _tr("Running …") if running else _tr("Not run yet. Press Run (F5).")
        return dataclasses.replace(column, reason=reason, waiting=running)
    try:
        record = shown_record(run.recording, selection, look.hints)
        maps = maps_in(record, selection, look)
    except HookViewerError as error:
        if running and comes_back(run, selection.path):
            reason = _tr("Recorded again, as it had no room within the memory limit …")
            return dataclasses.replace(column, reason=reason, waiting=True)
        arriving = running and not run.summaries
        reason = _tr("Running …") if arriving else _why(run, str(error))
        return dataclasses.replace(column, reason=reason, waiting=arriving)
    lone = _tr("its only sample") if look.sample and maps.samples == 1 else ""
    top = " · ".join(filter(None, (lone, column.top)))
    return dataclasses.replace(column, record=record, maps=maps, top=top)


def _why(run: Run, reason: str) -> str:
    if run.error is not None and run.error.path is None:
        return run.error.sentence
    if run.error is not None and run.error.path is not None:
        ended = _tr("The run ended in {}.").format(run.error.path or _tr("the model"))
        return f"{reason} {ended}"
    return reason


def _difference(columns: Sequence[Column], pair: Pair, way: str) -> Column:
    first, second = columns[pair.minuend], columns[pair.subtrahend]
    column = Column("−", title_of(way, pair.title), None)
    if first.maps is None or second.maps is None:
        reason = _tr("A difference needs two recorded columns.")
        return dataclasses.replace(column, reason=reason, waiting=first.waiting or second.waiting)
    reason = why_no_difference(first.maps, second.maps)
    if reason:
        return dataclasses.replace(column, reason=reason)
    maps = differing(first.maps, second.maps, way)
    record = None if first.record is None else difference_record(first.record, maps, column.title)
    return dataclasses.replace(column, record=record, maps=maps)


def _sorting(filled: Sequence[Column], selection: Selection, look: Look) -> tuple[arrays.Maps | None, str]:
    """Return the maps that the channels are sorted by, and how; by number where the wish cannot be met."""
    if not filled:
        return None, "channel"
    try:
        return companion(filled, selection, look, look.sort), look.sort
    except HookViewerError:
        return filled[0].maps, "channel"


def companion(filled: Sequence[Column], selection: Selection, look: Look, sort: str) -> arrays.Maps | None:
    """Return the maps that a sort goes by; raise `HookViewerError` with the reason where there are none."""
    first = filled[0]
    if sort == "difference":
        return compared_maps(filled, selection.input)
    if sort == "entropy" and selection.shown is not Shown.ATTENTION:
        raise HookViewerError(_tr("Only attention has an entropy: show the attention of a layer."))
    wanted = {"gradient": Shown.GRADIENT, "product": Shown.PRODUCT}.get(sort, selection.shown)
    if wanted is selection.shown or first.run is None:
        return first.maps
    there = dataclasses.replace(selection, shown=wanted)
    return maps_in(shown_record(first.run.recording, there), there, look)


def _dead(shared: Sequence[arrays.Maps]) -> tuple[int, ...]:
    """Return the channels that are zero everywhere in all columns; none where that would be all of them."""
    if not shared or any(maps.layout not in ("maps", "lines") for maps in shared):
        return ()
    count = max(len(maps.values) for maps in shared)
    alive = np.zeros(count, bool)
    for maps in shared:
        alive[: len(maps.values)] |= ~dead_channels(maps)
    return tuple(np.flatnonzero(~alive).tolist()) if alive.any() else ()


@remembered()
def dead_channels(maps: arrays.Maps) -> npt.NDArray[np.bool_]:
    """Return which channels are zero everywhere."""
    return np.logical_not(maps.values.reshape(len(maps.values), -1).any(axis=1))
