"""What the lines and the tiles of a strip of maps of importance are called. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hookviewer.gui import target_names
from hookviewer.gui.cam_choice import method_of, parts_of
from hookviewer.gui.cam_lines import Line
from hookviewer.gui.cams import Cams
from hookviewer.gui.columns import Column
from hookviewer.gui.state import Run
from hookviewer.gui.wall.words import tr
from hookviewer.target_choice import TargetChoice


def heads(cams: Cams, column: Column, names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Return the head of each line and how many maps it has; none where there is one line that needs none."""
    several = len({line.target for line in cams.lines}) > 1
    if len(cams.lines) == 1:
        return ()
    return tuple((_head(line, column.run, names, several), len(line.places)) for line in cams.lines)


def tile_names(cams: Cams) -> tuple[str, ...]:
    """Return what each map is called beside the others of its line: its layer or its method."""
    return tuple(_name(line, path, leaf, cams) for line in cams.lines for path, leaf in line.places)


def _name(line: Line, path: str, leaf: str, cams: Cams) -> str:
    title = method_of(parts_of(leaf)[0]).title
    of_layers = method_of(parts_of(leaf)[0]).of_layers
    if not of_layers or line.path or (not line.method and len(cams.paths) < 2):
        alone = of_layers and not line.path
        return f"{path or tr('the model')}  {title}" if alone else title
    return path or tr("the model")


def _head(line: Line, run: Run | None, names: Sequence[str], several: bool) -> str:
    method = method_of(line.method) if line.method else None
    said = [line.path] if line.path else []
    if method is not None and method.of_layers:
        said.append(method.title)
    elif not said and all(not path for path, _ in line.places):
        said.append(tr("The input"))
    if several or not said:
        said.append(_target(line.target, run, names))
    return "   ".join(said)


def _target(target: TargetChoice | None, run: Run | None, names: Sequence[str]) -> str:
    if target is not None:
        return target_names.short(target, names)
    if run is None:
        return tr("the target of the run")
    chosen = run.settings.target
    if chosen.rule == "top" and run.guesses:
        return run.guesses[0].name
    return target_names.short(chosen, names)
