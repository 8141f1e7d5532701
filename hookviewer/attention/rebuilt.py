"""Attention weights rebuilt from the arguments of the functions that use them up."""

from __future__ import annotations

import inspect
import math
from typing import Any

import torch
from torch.nn import functional


def scaled_dot_product(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the weights, and weights × values, of `scaled_dot_product_attention` without its dropout.

    A query that may not look at anything has weights of zero, as torch has it.
    """
    query, key, value = (_wide(tensor) for tensor in (query, key, value))
    if enable_gqa:
        repeats = query.shape[-3] // key.shape[-3]
        key, value = (tensor.repeat_interleave(repeats, -3) for tensor in (key, value))
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * factor
    if is_causal:
        above = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(above, -torch.inf)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -torch.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    weights = torch.softmax(scores, -1).nan_to_num(0.0)
    return weights, weights @ value


_SIGNATURE = inspect.signature(functional.multi_head_attention_forward)


def multi_head(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weights [N, heads, L, S] and output of `multi_head_attention_forward`, without its dropout."""
    asked = _SIGNATURE.bind(*args, **kwargs)
    asked.arguments.update(training=False, need_weights=True, average_attn_weights=False)
    output, weights = functional.multi_head_attention_forward(*asked.args, **asked.kwargs)
    assert weights is not None
    return (weights if weights.dim() == 4 else weights.unsqueeze(0)), output


def by_head(weights: torch.Tensor, heads: int | None) -> torch.Tensor:
    """Return weights as [N, heads, L, S]: samples and heads may share an axis, or there is one head."""
    if weights.dim() == 3 and heads and len(weights) % heads == 0:
        return weights.reshape(-1, heads, *weights.shape[1:])
    if weights.dim() == 3:
        return weights.unsqueeze(1)
    return weights.reshape(-1, *weights.shape[-3:]) if weights.dim() > 3 else weights[None, None]


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.dtype == torch.float64 else tensor.to(torch.float32)
