"""Which maps of importance stand in which line of a strip: layers, methods and targets in an order. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hookviewer.gui.cam_choice import CamChoice, leaf_of, method_of
from hookviewer.target_choice import TargetChoice

Place = tuple[str, str]
"""The path of a layer (nothing for the input) and the leaf of a map."""


@dataclasses.dataclass(frozen=True)
class Line:
    """Maps beside each other: what they have in common (`method`, `path`, `target`), and their places.

    `method` and `path` are empty where the maps differ in it; `target` None is the one of the run.
    """

    method: str
    path: str
    target: TargetChoice | None
    places: tuple[Place, ...]


def lines_of(layers: Sequence[str], choice: CamChoice) -> tuple[Line, ...]:
    """Return the lines of a strip: layers beside each other, or methods where there are more of them.

    Maps of the input are in a line of their own, for each target.
    """
    of_layers = [name for name in choice.methods if method_of(name).of_layers]
    of_input = [name for name in choice.methods if not method_of(name).of_layers]
    return tuple(
        line for target in choice.every_target for line in _for_target(layers, of_layers, of_input, target)
    )


def _for_target(
    layers: Sequence[str], of_layers: Sequence[str], of_input: Sequence[str], target: TargetChoice | None
) -> list[Line]:
    inputs = tuple(("", leaf_of(name, target)) for name in of_input)
    if len(layers) < 2 or not of_layers:
        path = layers[0] if layers and of_layers else ""
        own = tuple((layer, leaf_of(name, target)) for name in of_layers for layer in layers)
        lines = [Line(_lone([*of_layers, *of_input]), path, target, (*own, *inputs))]
    elif len(of_layers) > len(layers):
        lines = [
            Line("", layer, target, tuple((layer, leaf_of(name, target)) for name in of_layers))
            for layer in layers
        ]
        lines.append(Line("", "", target, inputs))
    else:
        lines = [
            Line(name, "", target, tuple((layer, leaf_of(name, target)) for layer in layers))
            for name in of_layers
        ]
        lines.append(Line(_lone(of_input), "", target, inputs))
    return [line for line in lines if line.places]


def _lone(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ""
