"""The shapes of inputs that torchvision's networks take."""

from __future__ import annotations

import dataclasses
from typing import Any

from torch import nn

from hookviewer.sources.cards import Preprocess

Shape = tuple[int, ...]

FRAMES = 16
"""Frames of a film, where the network does not say how many it was trained with."""

FLOW_SIDE = 256
"""Sides of the two pictures of optical flow: multiples of 8, and at least 128."""

DETECTION_SIDE = 320
"""Detectors scale every picture themselves."""


def fixed(preprocess: Preprocess, model: nn.Module) -> Preprocess:
    """Return `preprocess` with the size that the network is bound to, where it takes only one."""
    side = _only_side(model)
    if side is None or preprocess.height is None:
        return preprocess
    short = round((preprocess.short_side or side) * side / preprocess.height)
    return dataclasses.replace(preprocess, height=side, width=side, short_side=short)


def _only_side(model: nn.Module) -> int | None:
    """Return the side of the picture that a vision transformer was built for."""
    side = getattr(model, "image_size", None)
    return side if isinstance(side, int) else None


def inputs(model: nn.Module, weights: Any, preprocess: Preprocess | None) -> tuple[Shape, ...]:
    """Return the shape of each positional input: pictures [1, 3, H, W], films [1, 3, frames, H, W]."""
    match type(weights.transforms()).__name__:
        case "VideoClassification":
            return (_film(weights, preprocess),)
        case "OpticalFlow":
            return ((1, 3, FLOW_SIDE, FLOW_SIDE),) * 2
        case "ObjectDetection":
            return ((1, 3, *_detection_size(model)),)
        case "ImageClassification" | "SemanticSegmentation" if preprocess is not None:
            side = preprocess.short_side or FLOW_SIDE
            return ((1, 3, preprocess.height or side, preprocess.width or side),)
    return ()


def _film(weights: Any, preprocess: Preprocess | None) -> Shape:
    side = (preprocess.height if preprocess is not None else None) or 112
    frames = max(FRAMES, int(weights.meta.get("min_temporal_size", FRAMES)))
    return (1, 3, frames, side, side)


def _detection_size(model: nn.Module) -> tuple[int, int]:
    size = getattr(getattr(model, "transform", None), "fixed_size", None)
    return (int(size[1]), int(size[0])) if size else (DETECTION_SIDE, DETECTION_SIDE)
