"""SmoothGrad."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import torch

from hookviewer.errors import Cancelled
from hookviewer.methods.method import Needs
from hookviewer.methods.of_input import Part, SampledMethod, Steps, strongest, wide
from hookviewer.methods.question import Sample


@dataclasses.dataclass(frozen=True)
class SmoothGrad(SampledMethod):
    """The gradient averaged over `noises` noisy copies of the input, which takes its grain away.

    `spread` is the standard deviation of the noise as a share of the input's range.
    """

    name = "smooth_grad"
    title = "SmoothGrad"
    paper = "Smilkov et al., SmoothGrad: removing noise by adding noise, arXiv:1706.03825"
    needs = Needs.INPUT_GRADIENT

    noises: int = 25
    spread: float = 0.15

    def count(self, sample: Sample) -> int:
        """Return the number of noisy copies."""
        return self.noises

    def reduced(self, values: torch.Tensor) -> torch.Tensor:
        """Return max_c |mean gradient_c|."""
        return strongest(values)

    def explain(self, sample: Sample, steps: Steps) -> Mapping[str, Part]:
        """Return the mean gradient over the noisy copies; over those that were done where it was stopped."""
        generator = torch.Generator().manual_seed(sample.question.seed or 0)
        sums = {leaf: torch.zeros_like(wide(tensor), device="cpu") for leaf, tensor in sample.floats.items()}
        done = 0
        try:
            for portion in steps.portions(sample, self.noises):
                noisy = {leaf: self.noisy(x, len(portion), generator) for leaf, x in sample.floats.items()}
                for leaf, gradient in sample.gradients(noisy)[1].items():
                    sums[leaf] += wide(gradient).sum(0)
                done += len(portion)
        except Cancelled as stop:
            if not done:
                raise
            steps.stopped = stop
        note = "" if done == self.noises else f"Stopped after {done} of {self.noises} noisy copies."
        return {leaf: Part(total / done, (note,) if note else ()) for leaf, total in sums.items()}

    def noisy(self, values: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
        """Return `count` copies of `values` with noise, [count, …]."""
        own = wide(values.detach().cpu())
        noise = torch.randn(count, *own.shape, generator=generator, dtype=own.dtype)
        return own + noise * (self.spread * (own.max() - own.min()))
