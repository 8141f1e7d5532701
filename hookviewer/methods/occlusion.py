"""Occlusion."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import torch

from hookviewer.errors import Cancelled
from hookviewer.methods.method import Needs
from hookviewer.methods.of_input import Part, SampledMethod, Steps, wide
from hookviewer.methods.question import Sample, UnsuitedError

Window = tuple[int, int, int, int]


@dataclasses.dataclass(frozen=True)
class Occlusion(SampledMethod):
    """How far the target falls when a window of the picture is covered, averaged over the windows of a pixel.

    `window` and `stride` are in pixels; of themselves a seventh of the longer side, and half of that. The
    cover has the value `cover` in all channels: 0 is the mean colour of a normalised picture.
    """

    name = "occlusion"
    title = "Occlusion"
    paper = "Zeiler and Fergus, Visualizing and Understanding Convolutional Networks, ECCV 2014"
    signed = True
    needs = Needs.FORWARDS

    window: int = 0
    stride: int = 0
    cover: float = 0.0

    def count(self, sample: Sample) -> int:
        """Return the number of windows."""
        return len(self.windows(picture_of(sample)[1]))

    def reduced(self, values: torch.Tensor) -> torch.Tensor:
        """Return the map as it is."""
        return values

    def explain(self, sample: Sample, steps: Steps) -> Mapping[str, Part]:
        """Return the mean fall of the target over the windows that cover each pixel, [1, 1, H, W]."""
        leaf, picture = picture_of(sample)
        windows = self.windows(picture)
        falls = torch.zeros(1, 1, *picture.shape[-2:], dtype=torch.float64)
        counts = torch.zeros_like(falls)
        done = 0
        try:
            for portion in steps.portions(sample, len(windows)):
                chosen = [windows[index] for index in portion]
                values = sample.values({leaf: self.covered(picture, chosen)})
                for (top, left, bottom, right), value in zip(chosen, values, strict=True):
                    falls[..., top:bottom, left:right] += sample.value - value
                    counts[..., top:bottom, left:right] += 1
                done += len(portion)
        except Cancelled as stop:
            if not done:
                raise
            steps.stopped = stop
        unfinished = f"Stopped after {done} of {len(windows)} windows: the rest of the map is zero."
        found = (falls / counts.clamp(min=1)).to(wide(picture).dtype)
        return {leaf: Part(found, () if done == len(windows) else (unfinished,))}

    def windows(self, picture: torch.Tensor) -> list[Window]:
        """Return (top, left, bottom, right) of every window, the last ones cut off at the border."""
        height, width = picture.shape[-2:]
        window = self.window or max(1, round(max(height, width) / 7))
        stride = self.stride or max(1, window // 2)
        return [
            (top, left, min(top + window, height), min(left + window, width))
            for top in _starts(height, window, stride)
            for left in _starts(width, window, stride)
        ]

    def covered(self, picture: torch.Tensor, windows: list[Window]) -> torch.Tensor:
        """Return the picture once for each window, covered there, [V, …]."""
        copies = picture.detach().unsqueeze(0).repeat(len(windows), *[1] * picture.dim())
        for copy, (top, left, bottom, right) in zip(copies, windows, strict=True):
            copy[..., top:bottom, left:right] = self.cover
        return copies


def picture_of(sample: Sample) -> tuple[str, torch.Tensor]:
    """Return the first input that is one picture, and its leaf; raise `UnsuitedError` where none is."""
    for leaf, tensor in sample.floats.items():
        if tensor.dim() == 4 and len(tensor) == 1 and min(tensor.shape[-2:]) > 1:
            return leaf, tensor
    shapes = ", ".join("×".join(map(str, tensor.shape)) for tensor in sample.floats.values())
    raise UnsuitedError(
        f"It needs a picture [sample, channel, row, column], one sample at a time; the input is {shapes}."
    )


def _starts(size: int, window: int, stride: int) -> range:
    return range(0, max(size - window + stride, 1), stride)
