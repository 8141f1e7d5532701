"""HiResCAM."""

from __future__ import annotations

import torch

from hookviewer.methods.method import LayerMethod


class HiResCam(LayerMethod):
    """The maps, each cell weighted by its own gradient: exactly what the cells add to a linear head."""

    name = "hires_cam"
    title = "HiResCAM"
    paper = "Draelos and Carin, Use HiResCAM instead of Grad-CAM for faithful explanations, arXiv:2011.08891"

    def compute(self, output: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """Return ReLU(Σ_c gradient_c · output_c)."""
        return (gradient * output).sum(dim=1).relu()
