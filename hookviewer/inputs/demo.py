"""The photographs that ship with hookviewer, and a plain input of ones."""

from __future__ import annotations

import numpy as np
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs import from_picture, generated
from hookviewer.inputs.image_file import frames_of
from hookviewer.inputs.input import Input, InputSource
from hookviewer.inputs.pixels import Picture, picture_of
from hookviewer.resources import resource
from hookviewer.sources.nearby import nearby
from hookviewer.sources.source import split_arguments

PHOTOGRAPHS = ("astronaut", "camera", "chelsea", "coffee", "hubble_deep_field", "rocket")

# a handwritten three, as bright as the UCI digits are: 0 to 16
_THREE = (
    "0 0 10 16 16 10 0 0",
    "0 0 4 4 6 16 4 0",
    "0 0 0 0 6 14 2 0",
    "0 0 2 12 16 6 0 0",
    "0 0 0 2 8 16 4 0",
    "0 0 0 0 0 12 10 0",
    "0 0 6 4 6 16 8 0",
    "0 0 8 16 16 10 0 0",
)


class DemoInput(InputSource):
    """`demo:chelsea`, `demo:ones`: an input that ships with hookviewer."""

    rank = 10

    def accepts(self, spec: str) -> bool:
        return spec.startswith("demo:")

    def open(self, spec: str, model: nn.Module | None) -> Input:
        place, options = split_arguments(spec)
        name = place.removeprefix("demo:")
        if name == "ones":
            return generated.ones_for(model, spec)
        return from_picture.make(name, _frames(name), model, options, spec)


def pictures(spec: str, count: int) -> tuple[Picture, ...]:
    """Return the pictures behind a demo input."""
    name = split_arguments(spec)[0].removeprefix("demo:")
    return _frames(name)(0, count)


def _frames(name: str) -> from_picture.Frames:
    if name == "digit":
        return from_picture.only(_digit())
    if name not in PHOTOGRAPHS:
        raise HookViewerError(
            f"There is no demo input {name!r}: {nearby(name, [*PHOTOGRAPHS, 'digit', 'ones'])}."
        )
    return frames_of(resource(f"demo/images/{name}.jpg"))


def _digit() -> Picture:
    from PIL import Image

    pixels = np.array([row.split() for row in _THREE], dtype=np.float64) * (255 / 16)
    return picture_of(Image.fromarray(pixels.round().astype(np.uint8)))
