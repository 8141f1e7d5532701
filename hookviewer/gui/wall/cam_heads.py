"""What the lines and the tiles of a strip of maps of importance are called. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hookviewer.gui import target_names
from hookviewer.gui.cam_choice import POSITIVE, SIZE, method_of, parts_of
from hookviewer.gui.cam_lines import Line
from hookviewer.gui.cams import Cams
from hookviewer.gui.columns import Column
from hookviewer.gui.state import Run
from hookviewer.gui.wall.words import tr
from hookviewer.target_choice import TargetChoice


def heads(cams: Cams, column: Column, names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Return the head of each line and how many maps it has; none where the only line says all itself."""
    several = len({line.target for line in cams.lines}) > 1
    if len(cams.lines) == 1 and (cams.lines[0].method or not cams.lines[0].path):
        return ()
    return tuple((_head(line, column.run, names, several), len(line.places)) for line in cams.lines)


def tile_names(cams: Cams) -> tuple[str, ...]:
    """Return what each map is called beside the others of its line: its layer or its method."""
    return tuple(_name(line, path, leaf, cams.sign) for line in cams.lines for path, leaf in line.places)


def _name(line: Line, path: str, leaf: str, sign: str) -> str:
    method = method_of(parts_of(leaf)[0])
    if method.of_layers and line.method:
        return path or tr("the model")
    words = {SIZE: "|{}|", POSITIVE: tr("{}, for it only")}.get(sign, "{}") if method.signed else "{}"
    return words.format(tr(method.title))


def _head(line: Line, run: Run | None, names: Sequence[str], several: bool) -> str:
    inputs = any(not method_of(parts_of(leaf)[0]).of_layers for _, leaf in line.places)
    layers = any(method_of(parts_of(leaf)[0]).of_layers for _, leaf in line.places)
    said = [line.path or tr("the model")] if layers and not line.method else []
    if line.method and layers:
        said.append(tr(method_of(line.method).title))
    said += [tr("the input")] if inputs else []
    where = tr(" and ").join(said)
    return "   ".join([where, *([_target(line.target, run, names)] if several else [])])


def _target(target: TargetChoice | None, run: Run | None, names: Sequence[str]) -> str:
    if target is not None:
        return target_names.short(target, names)
    if run is None:
        return tr("the target of the run")
    chosen = run.settings.target
    if chosen.rule == "top" and run.guesses:
        return run.guesses[0].name
    return target_names.short(chosen, names)
