"""Grad-CAM++."""

from __future__ import annotations

import torch

from hookviewer.methods.method import LayerMethod


class GradCamPlusPlus(LayerMethod):
    """Like Grad-CAM, with the cells of a map weighted so that several objects of one class all show."""

    name = "grad_cam_plus_plus"
    title = "Grad-CAM++"
    paper = "Chattopadhay et al., Grad-CAM++: Improved Visual Explanations for Deep Networks, WACV 2018"

    def compute(self, output: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """Return ReLU(Σ_c w_c · output_c), w_c = Σ α_c · ReLU(gradient_c), α = g² / (2 g² + g³ Σ output_c).

        The paper's formula for the exponential of the target, whose own factor falls out of α. Cells without
        a gradient have no weight.
        """
        whole = output.flatten(2).sum(2).reshape(*output.shape[:2], *[1] * (output.dim() - 2))
        # g² / (2 g² + g³ Σ) = 1 / (2 + g Σ): squares and cubes of small gradients would underflow
        below = 2 + gradient * whole
        alpha = torch.where((gradient != 0) & (below != 0), 1 / below, 0.0)
        weights = (alpha * gradient.relu()).flatten(2).sum(2)
        return torch.einsum("nc,nc...->n...", weights, output).relu()
