"""Numbers about attention weights [N, heads, queries, keys]."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from hookviewer.errors import HookViewerError


def head_mean(weights: torch.Tensor) -> torch.Tensor:
    """Return the mean over the heads, [N, queries, keys]."""
    return weights.mean(1)


def entropy(weights: torch.Tensor) -> torch.Tensor:
    """Return how widely each head looks, in bits: the mean over its queries of −Σ p log₂ p, [N, heads].

    0 is a head that looks at one key only, log₂ of the number of keys one that looks at all alike.
    """
    bits: torch.Tensor = -torch.special.xlogy(weights, weights).sum(-1) / math.log(2.0)
    return bits.mean(-1)


def rollout(layers: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return how much of each last token comes from each first one, [N, tokens, tokens]; rows add up to 1.

    The product over the layers of (head mean + identity) / 2, the identity being the way around each layer.
    Source: Abnar and Zuidema, Quantifying Attention Flow in Transformers, ACL 2020.
    """
    sizes = sorted({tuple(weights.shape[-2:]) for weights in layers})
    if len(sizes) != 1 or sizes[0][0] != sizes[0][1]:
        found = ", ".join(f"{rows}×{columns}" for rows, columns in sizes) or "none"
        raise HookViewerError(
            f"Rollout needs the same tokens in every layer; these attend {found}: choose layers alike."
        )
    product = torch.eye(sizes[0][0], dtype=layers[0].dtype).expand(len(layers[0]), -1, -1)
    for weights in layers:
        mixed = (head_mean(weights) + torch.eye(sizes[0][0], dtype=weights.dtype)) / 2
        product = (mixed / mixed.sum(-1, keepdim=True)) @ product
    return product
