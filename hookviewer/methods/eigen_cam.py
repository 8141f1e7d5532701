"""EigenCAM."""

from __future__ import annotations

import torch

from hookviewer.kinds import Kind
from hookviewer.methods.method import LayerMethod


class EigenCam(LayerMethod):
    """What the maps have most in common, whatever the target: their first principal direction."""

    name = "eigen_cam"
    title = "EigenCAM"
    paper = "Muhammad and Yeasin, Eigen-CAM: Class Activation Map using Principal Components, IJCNN 2020"
    kinds = frozenset({Kind.OUTPUT})

    def compute(self, output: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """Return the places × channels projected on their first right singular vector.

        A singular vector has no sign of its own; the one is taken in which the map's sum is not negative.
        """
        places = output.flatten(2).transpose(1, 2)
        small = places.transpose(1, 2) @ places if places.shape[2] <= places.shape[1] else None
        first = _leading(places) if small is None else torch.linalg.eigh(small)[1][..., -1]
        projected = torch.einsum("npc,nc->np", places, first)
        sign = torch.where(projected.sum(1, keepdim=True) < 0, -1.0, 1.0)
        return (sign * projected).reshape(len(output), *output.shape[2:])


def _leading(places: torch.Tensor) -> torch.Tensor:
    """Return the first right singular vector of [N, P, C] with fewer places than channels, [N, C]."""
    left = torch.linalg.eigh(places @ places.transpose(1, 2))[1][..., -1]
    right = torch.einsum("npc,np->nc", places, left)
    length = right.norm(dim=1, keepdim=True)
    return right / torch.where(length > 0, length, 1.0)
