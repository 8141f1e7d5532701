"""What an attribution method is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch

from hookviewer.arrays import looks_channels_last
from hookviewer.kinds import Kind


class Method(ABC):
    """A way to say where in a layer's maps the evidence for a target lies, from its output and gradient."""

    name: str
    title: str
    paper: str
    kinds: frozenset[Kind] = frozenset({Kind.OUTPUT, Kind.GRAD_OUTPUT})
    """What has to be recorded."""

    @abstractmethod
    def compute(self, output: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """Return one map per sample, [N, H, W], from output and gradient [N, C, H, W]; not normalised."""

    def unsuited(self, shape: Sequence[int]) -> str:
        """Return why an output of this shape has no such map, or nothing."""
        wanted = "it needs maps [sample, channel, row, column], as a convolution gives"
        sizes = "×".join(map(str, shape)) or "a single number"
        if len(shape) == 3:
            return f"its output is {sizes}, tokens or a sequence; {wanted}."
        if len(shape) != 4:
            return f"its output is {sizes}; {wanted}."
        if 0 in shape:
            return f"its output is {sizes}, which is empty."
        if looks_channels_last(shape):
            return f"its output is {sizes}, with the channels last; {wanted}."
        return ""
