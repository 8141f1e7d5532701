"""Inputs of several arguments in one spec."""

from __future__ import annotations

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs import arguments
from hookviewer.inputs.input import Input, InputSource


class Several(InputSource):
    """`args:x=random:1x3x8x8;mask=ones:1x8;scale=0.5`: arguments of `forward`, by name or in its order."""

    rank = 15

    def accepts(self, spec: str) -> bool:
        return spec.startswith("args:")

    def open(self, spec: str, model: nn.Module | None) -> Input:
        from hookviewer.inputs import open_argument

        unnamed, named = arguments.split(spec.removeprefix("args:"))
        if not unnamed and not named:
            raise HookViewerError("args: names no input: write args:x=random:1x3x8x8;mask=ones:1x8.")
        return arguments.joined(unnamed, named, model, open_argument, spec)
