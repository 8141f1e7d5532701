"""Integrated gradients."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import torch

from hookviewer.methods.method import Needs
from hookviewer.methods.of_input import Part, SampledMethod, Steps, added_up, wide
from hookviewer.methods.question import Sample


@dataclasses.dataclass(frozen=True)
class IntegratedGradients(SampledMethod):
    """What each pixel adds to the target on the straight way from `baseline` to the input; with its sign.

    All of it adds up to the difference of the target at both ends, but for the error of the sum in place of
    the integral, which the record's notes tell. The sum is Gauss and Legendre's, over `steps` points.
    """

    name = "integrated_gradients"
    title = "Integrated gradients"
    paper = "Sundararajan et al., Axiomatic Attribution for Deep Networks, ICML 2017"
    signed = True
    needs = Needs.INPUT_GRADIENT

    steps: int = 50
    baseline: float = 0.0

    def count(self, sample: Sample) -> int:
        """Return the number of points on the way."""
        return self.steps

    def reduced(self, values: torch.Tensor) -> torch.Tensor:
        """Return the sum over the channels."""
        return added_up(values)

    def explain(self, sample: Sample, steps: Steps) -> Mapping[str, Part]:
        """Return (input − baseline) · Σ weight · gradient."""
        places, weights = _gauss_legendre(self.steps)
        ends = {leaf: wide(tensor.detach().cpu()) for leaf, tensor in sample.floats.items()}
        sums = {leaf: torch.zeros_like(end) for leaf, end in ends.items()}
        for portion in steps.portions(sample, self.steps):
            at = {leaf: self._between(end, places[list(portion)]) for leaf, end in ends.items()}
            for leaf, gradient in sample.gradients(at)[1].items():
                sums[leaf] += torch.einsum(
                    "v,v...->...", weights[list(portion)].to(sums[leaf]), wide(gradient)
                )
        found = {leaf: (ends[leaf] - self.baseline) * total for leaf, total in sums.items()}
        note = self._completeness(sample, sum(float(part.double().sum()) for part in found.values()))
        return {leaf: Part(values, (note,)) for leaf, values in found.items()}

    def _between(self, end: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        shares = places.to(end.dtype).reshape(-1, *[1] * end.dim())
        return self.baseline + shares * (end - self.baseline)

    def _completeness(self, sample: Sample, total: float) -> str:
        start = {leaf: torch.full_like(x, self.baseline).unsqueeze(0) for leaf, x in sample.floats.items()}
        wanted = sample.value - float(sample.values(start)[0])
        return completeness(total, wanted, self.steps)


def completeness(total: float, wanted: float, steps: int) -> str:
    """Return in words how far the sum of an attribution is from the difference that it should explain."""
    error = abs(total - wanted)
    share = f"{100 * error / abs(wanted):.2g} %" if wanted else f"{error:.3g}"
    more = " More steps make it smaller." if wanted and error > 0.01 * abs(wanted) else ""
    return (
        f"Completeness error {share}: the map adds up to {total:.5g}, the target differs by {wanted:.5g} "
        f"between the baseline and the input ({steps} steps).{more}"
    )


def _gauss_legendre(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the points in 0 … 1 and their weights, which add up to 1."""
    places, weights = np.polynomial.legendre.leggauss(count)
    return torch.from_numpy((places + 1) / 2), torch.from_numpy(weights / 2)
