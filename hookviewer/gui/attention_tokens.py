"""What tokens are called: as the input says, or by the number that went in; nothing is guessed. Pure."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence

import torch
from torch import nn

from hookviewer.inputs import Input
from hookviewer.leaves import input_leaves

_NO_TOKENS = re.compile("mask|type|position|label|target_len|length", re.IGNORECASE)
_OF_DECODER = re.compile("decoder|tgt|target", re.IGNORECASE)


def names_of(
    given: Input, model: nn.Module | None, count: int, sample: int, *, decoder: bool | None = None
) -> tuple[str, ...]:
    """Return what `count` tokens of a sample are called; nothing where that is not known.

    They are called as `given.words` says, or by the whole number that went in for each. `decoder` says
    whether they belong to a decoder: where several inputs have as many tokens, that tells which are meant.
    """
    found = _fitting(given, model, count, decoder)
    own = _numbers(found[0][1], sample) if found and _all_alike(found) else ()
    return given.words if sample == 0 and len(given.words) == count and (own or not found) else own


def _fitting(
    given: Input, model: nn.Module | None, count: int, decoder: bool | None
) -> list[tuple[str, torch.Tensor]]:
    """Return the inputs that hold so many tokens, with their names."""
    every = [
        (name, tensor)
        for name, tensor in _named(given, model)
        if _is_whole(tensor) and tensor.shape[-1] == count and not _NO_TOKENS.search(name)
    ]
    own = [one for one in every if decoder is not None and bool(_OF_DECODER.search(one[0])) == decoder]
    return own if own and len(own) < len(every) else every


def _named(given: Input, model: nn.Module | None) -> list[tuple[str, torch.Tensor]]:
    """Return the tensors that go in, named as the model's `forward` names them."""
    names = _parameters(model)
    found = []
    for leaf, tensor in input_leaves(given.args, given.kwargs):
        place = re.match(r"\[(\d+)\]", leaf)
        known = place is not None and int(place[1]) < len(names)
        found.append((names[int(place[1])] if known and place is not None else leaf, tensor))
    return found


def _parameters(model: nn.Module | None) -> Sequence[str]:
    try:
        return () if model is None else tuple(inspect.signature(model.forward).parameters)
    except (TypeError, ValueError):
        return ()


def _is_whole(tensor: torch.Tensor) -> bool:
    odd = tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool
    return tensor.dim() in (1, 2) and not odd


def _all_alike(found: Sequence[tuple[str, torch.Tensor]]) -> bool:
    return all(torch.equal(found[0][1], tensor) for _, tensor in found)


def _numbers(tensor: torch.Tensor, sample: int) -> tuple[str, ...]:
    row = tensor if tensor.dim() == 1 else tensor[min(sample, len(tensor) - 1)]
    return tuple(str(token) for token in row.tolist())
