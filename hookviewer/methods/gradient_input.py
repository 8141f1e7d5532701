"""Gradient × input."""

from __future__ import annotations

import torch

from hookviewer.methods.of_input import GradientMethod, added_up


class GradientInput(GradientMethod):
    """What each pixel adds to the target to first order, seen from an input of zeros; with its sign."""

    name = "gradient_input"
    title = "Gradient × input"
    paper = "Shrikumar et al., Not Just a Black Box: Learning Important Features, arXiv:1605.01713"
    signed = True

    def explain(self, values: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """Return Σ_c gradient_c · input_c."""
        return added_up(gradient * values)
