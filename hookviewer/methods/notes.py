"""What has to be said about a map beside its values."""

from __future__ import annotations

import torch

ZERO = "The map is zero everywhere: nothing in this layer speaks for the target."
NO_GRADIENT = "The map is zero everywhere: no gradient comes back to any place of this layer."
CLASS_TOKEN = (
    "The map is zero everywhere: behind this layer the model reads only tokens that stand for no place. "
    "Choose a layer before the last attention, such as the norm in front of it."
)


def notes_on(
    values: torch.Tensor, gradient: torch.Tensor | None = None, leftover: torch.Tensor | None = None
) -> tuple[str, ...]:
    """Return a sentence for each sample whose map tells nothing, and why.

    `gradient` is what the map was made from, `leftover` the gradient of tokens that have no place in it.
    """
    found = []
    for sample in range(len(values)):
        said = _note(values[sample], _at(gradient, sample), _at(leftover, sample))
        if said:
            found.append(f"Sample {sample}: {said}" if len(values) > 1 else said)
    return tuple(found)


def _note(values: torch.Tensor, gradient: torch.Tensor, leftover: torch.Tensor) -> str:
    low, high = float(values.min()), float(values.max())
    if not bool(torch.isfinite(values).all()):
        return "The map holds values that are not finite (NaN or infinite)."
    if low == high == 0:
        return _why_zero(gradient, leftover)
    if low == high:
        return f"The map has the value {high:.4g} everywhere: it does not tell places apart."
    if high <= 0:
        return "The map is nowhere above zero: all that it shows speaks against the target."
    return ""


def _why_zero(gradient: torch.Tensor, leftover: torch.Tensor) -> str:
    if not gradient.numel() or bool(gradient.any()):
        return ZERO
    return CLASS_TOKEN if bool(leftover.any()) else NO_GRADIENT


def _at(tensor: torch.Tensor | None, sample: int) -> torch.Tensor:
    return torch.zeros(0) if tensor is None or len(tensor) <= sample else tensor[sample]
