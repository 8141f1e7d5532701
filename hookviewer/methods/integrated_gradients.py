"""Integrated gradients."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch

from hookviewer.errors import Cancelled
from hookviewer.methods.method import Needs
from hookviewer.methods.of_input import Part, SampledMethod, Steps, added_up, wide
from hookviewer.methods.question import Sample

GOAL = 0.01
"""The completeness error, as a share, from which on more points are taken."""


@dataclasses.dataclass(frozen=True)
class IntegratedGradients(SampledMethod):
    """What each pixel adds to the target on the straight way from `baseline` to the input; with its sign.

    All of it adds up to the difference of the target at both ends, but for the error of the sum in place of
    the integral, which the record's notes tell. The sum is Gauss and Legendre's, over `steps` points; where
    it is off by more than 1 %, over twice as many, until `most`. The one that adds up best is the map.
    """

    name = "integrated_gradients"
    title = "Integrated gradients"
    paper = "Sundararajan et al., Axiomatic Attribution for Deep Networks, ICML 2017"
    signed = True
    needs = Needs.INPUT_GRADIENT

    steps: int = 50
    baseline: float = 0.0
    most: int = 200

    def count(self, sample: Sample) -> int:
        """Return the number of points on the way, of the first sum."""
        return self.steps

    def reduced(self, values: torch.Tensor) -> torch.Tensor:
        """Return the sum over the channels."""
        return added_up(values)

    def explain(self, sample: Sample, steps: Steps) -> Mapping[str, Part]:
        """Return (input − baseline) · Σ weight · gradient."""
        best = self._summed(sample, steps, self.steps)
        count, wanted = 2 * self.steps, self._wanted(sample)
        while count <= self.most and abs(best.total - wanted) > GOAL * abs(wanted) > 0:
            steps.total += count
            try:
                finer = self._summed(sample, steps, count)
            except Cancelled as stop:
                steps.stopped = stop
                break
            best = min((best, finer), key=lambda one: abs(one.total - wanted))
            count *= 2
        note = completeness(best.total, wanted, best.steps)
        return {leaf: Part(values, (note,)) for leaf, values in best.values.items()}

    def _summed(self, sample: Sample, steps: Steps, count: int) -> Sum:
        places, weights = _gauss_legendre(count)
        ends = {leaf: wide(tensor.detach().cpu()) for leaf, tensor in sample.floats.items()}
        sums = {leaf: torch.zeros_like(end) for leaf, end in ends.items()}
        for portion in steps.portions(sample, count):
            at = {leaf: self._between(end, places[list(portion)]) for leaf, end in ends.items()}
            for leaf, gradient in sample.gradients(at)[1].items():
                sums[leaf] += torch.einsum(
                    "v,v...->...", weights[list(portion)].to(sums[leaf]), wide(gradient)
                )
        found = {leaf: (ends[leaf] - self.baseline) * total for leaf, total in sums.items()}
        return Sum(found, sum(float(part.double().sum()) for part in found.values()), count)

    def _between(self, end: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        shares = places.to(end.dtype).reshape(-1, *[1] * end.dim())
        return self.baseline + shares * (end - self.baseline)

    def _wanted(self, sample: Sample) -> float:
        """Return how much the target differs between the baseline and the input."""
        start = {leaf: torch.full_like(x, self.baseline).unsqueeze(0) for leaf, x in sample.floats.items()}
        return sample.value - float(sample.values(start)[0])


class Sum(NamedTuple):
    """The map by the input's leaf, what it adds up to, and from how many points."""

    values: Mapping[str, torch.Tensor]
    total: float
    steps: int


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
