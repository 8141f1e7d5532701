"""Grad-CAM."""

from __future__ import annotations

import torch

from hookviewer.methods.method import LayerMethod


class GradCam(LayerMethod):
    """The maps, each weighted by its mean gradient, added up; what speaks against the target is cut off."""

    name = "grad_cam"
    title = "Grad-CAM"
    paper = "Selvaraju et al., Grad-CAM: Visual Explanations from Deep Networks, ICCV 2017"

    def compute(self, output: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """Return ReLU(Σ_c mean(gradient_c) · output_c)."""
        weights = gradient.flatten(2).mean(2)
        return torch.einsum("nc,nc...->n...", weights, output).relu()
