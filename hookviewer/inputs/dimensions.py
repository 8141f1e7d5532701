"""Shapes as people write and read them."""

from __future__ import annotations

from math import prod

from hookviewer.errors import HookViewerError

LARGEST = 1 << 28
"""Values in the largest generated input: a gigabyte of float32."""


def parse_shape(text: str, axes: int | None = None) -> tuple[int, ...]:
    """Return the shape that `1x3x224x224` spells; `scalar` is `()`.

    Raises `HookViewerError` for anything else, another number of axes, or more than a gigabyte of float32.
    """
    parts = [] if text == "scalar" else text.replace("×", "x").split("x")
    if not all(part.strip().isdecimal() and len(part) < 12 for part in parts):
        raise HookViewerError(f"{text!r:.80} is no shape: write numbers joined by x, such as 1x3x224x224.")
    shape = tuple(int(part) for part in parts)
    if axes is not None and len(shape) != axes:
        raise HookViewerError(f"{text!r} has {len(shape)} numbers where {axes} are needed.")
    if prod(shape) > LARGEST:
        raise HookViewerError(f"{text} would take {prod(shape) * 4 / 2**30:.1f} GB: choose a smaller shape.")
    return shape


def spelled(shape: tuple[int, ...]) -> str:
    """Return a shape for a person: `1 × 3 × 224 × 224`."""
    return " × ".join(str(size) for size in shape) if shape else "a single number"


def as_spec(shape: tuple[int, ...]) -> str:
    """Return a shape as it stands in a spec: `1x3x224x224`."""
    return "x".join(str(size) for size in shape) or "scalar"
