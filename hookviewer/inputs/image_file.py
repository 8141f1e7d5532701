"""Inputs from picture files."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from hookviewer.inputs import from_picture, picture
from hookviewer.inputs.input import Input, InputSource
from hookviewer.inputs.pixels import Picture
from hookviewer.inputs.places import file_and_options, stem


class ImageFile(InputSource):
    """`photo.jpg`, `film.gif?frame=3`, `photo.jpg?size=320x480&normalise=none`: a picture file."""

    rank = 90

    def accepts(self, spec: str) -> bool:
        return True

    def open(self, spec: str, model: nn.Module | None) -> Input:
        path, options = file_and_options(spec)
        return from_picture.make(stem(path), frames_of(path), model, options, spec)


def frames_of(path: Path) -> from_picture.Frames:
    """Return the frames of a file; where it has too few of them, all that follow the first."""

    def frames(first: int, count: int) -> tuple[Picture, ...]:
        start = picture.read_picture(path, first)
        more = range(first + 1, min(first + count, start.frames))
        return (start, *(picture.read_picture(path, number) for number in more))

    return frames
