"""Inputs from picture files."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from hookviewer.inputs import from_picture, picture
from hookviewer.inputs.input import Input, InputSource
from hookviewer.sources.files import existing
from hookviewer.sources.source import split_arguments


class ImageFile(InputSource):
    """`photo.jpg`, `photo.jpg?size=320x480&normalise=none`: any picture that Pillow reads."""

    rank = 90

    def accepts(self, spec: str) -> bool:
        return True

    def open(self, spec: str, model: nn.Module | None) -> Input:
        # a file may have a question mark in its name
        place, options = (spec, {}) if Path(spec).is_file() else split_arguments(spec)
        path = existing(place)
        return from_picture.make(path.stem, picture.read(path), model, options, spec)
