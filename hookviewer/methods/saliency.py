"""Saliency: the plain gradient."""

from __future__ import annotations

import torch

from hookviewer.methods.of_input import GradientMethod, strongest


class Saliency(GradientMethod):
    """How fast the target changes with each pixel: the largest gradient of its channels, without its sign."""

    name = "saliency"
    title = "Gradient"
    paper = "Simonyan et al., Deep Inside Convolutional Networks, ICLR workshop 2014"

    def explain(self, values: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """Return max_c |gradient_c|."""
        return strongest(gradient)
