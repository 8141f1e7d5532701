"""LayerCAM."""

from __future__ import annotations

import torch

from hookviewer.methods.method import LayerMethod


class LayerCam(LayerMethod):
    """The maps, each cell weighted by its own positive gradient; sharp in early layers, too."""

    name = "layer_cam"
    title = "LayerCAM"
    paper = "Jiang et al., LayerCAM: Exploring Hierarchical Class Activation Maps, IEEE TIP 2021"

    def compute(self, output: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """Return ReLU(Σ_c ReLU(gradient_c) · output_c)."""
        return (gradient.relu() * output).sum(dim=1).relu()
