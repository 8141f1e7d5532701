"""What is usual for known families of networks, told from their classes: torchvision, timm, transformers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from hookviewer.inputs.preprocess import INTERPOLATIONS, Preprocess
from hookviewer.modules import unwrapped
from hookviewer.sources.trained import IMAGENET_MEAN, IMAGENET_STD

FLOW_SIDE = 256
"""The short side of the two pictures of optical flow, whose networks need at least 128."""

FRAMES = 16
KINETICS_MEAN, KINETICS_STD = (0.43216, 0.394666, 0.37645), (0.22803, 0.22145, 0.216989)
_IMAGENET: dict[str, Any] = {"mean": IMAGENET_MEAN, "std": IMAGENET_STD, "guessed": True}
_KINETICS: dict[str, Any] = {"mean": KINETICS_MEAN, "std": KINETICS_STD, "guessed": True}


def recipe(model: nn.Module) -> Preprocess | None:
    """Return how pictures usually become inputs of a network of this class; `None` for an unknown class."""
    inner = unwrapped(model)[0]
    places = [base.__module__ for base in type(inner).__mro__]
    place = next((one for one in places if one.startswith("torchvision.models.")), "")
    return _torchvision(inner, place) if place else _timm(inner) or _transformers(inner)


def _torchvision(model: nn.Module, place: str) -> Preprocess:
    if ".video" in place:
        return _video(model)
    if ".optical_flow" in place:
        return Preprocess(short_side=FLOW_SIDE, multiple=8, value_range="-1..1", pair=True, guessed=True)
    if ".detection" in place:
        return Preprocess(batch=False, guessed=True)
    if ".segmentation" in place:
        return Preprocess(short_side=520, **_IMAGENET)
    side = _side(getattr(model, "image_size", None)) or (299 if place.endswith(".inception") else 224)
    return Preprocess(side, side, short_side=round(side * 256 / 224), **_IMAGENET)


def _video(model: nn.Module) -> Preprocess:
    names = [base.__name__ for base in type(model).__mro__]
    if "VideoResNet" in names:
        return Preprocess(112, 112, fit="stretch", resize=(128, 171), frames=FRAMES, **_KINETICS)
    if "S3D" in names:
        return Preprocess(224, 224, fit="stretch", resize=(256, 256), frames=FRAMES, **_KINETICS)
    if "MViT" in names:
        size = _mvit_size(model)
        usual: dict[str, Any] = {"mean": (0.45,) * 3, "std": (0.225,) * 3, "guessed": True}
        return Preprocess(size[1], size[2], short_side=round(size[1] * 256 / 224), frames=size[0], **usual)
    return Preprocess(224, 224, short_side=256, frames=FRAMES, **_IMAGENET)


def _mvit_size(model: Any) -> tuple[int, int, int]:
    """Return frames, height and width, to which its positions are bound."""
    steps, places = model.conv_proj.stride, model.pos_encoding
    height, width = places.spatial_size
    return places.temporal_size * steps[0], height * steps[1], width * steps[2]


def _timm(model: nn.Module) -> Preprocess | None:
    usual = getattr(model, "pretrained_cfg", None) or getattr(model, "default_cfg", None)
    if not isinstance(usual, Mapping):
        return None
    size: Any = usual.get("input_size")
    if not _is_size(size) or size[0] not in (1, 3):
        return None
    mean, std = (tuple(usual[one]) if one in usual else None for one in ("mean", "std"))
    share = usual.get("crop_pct") or 1.0
    way = usual.get("interpolation")
    return Preprocess(
        height=size[1],
        width=size[2],
        short_side=round(min(size[1:]) / share),
        channels=size[0],
        mean=mean,
        std=std,
        interpolation=way if way in INTERPOLATIONS else "bicubic",
        guessed=True,
    )


def _is_size(size: Any) -> bool:
    return isinstance(size, tuple | list) and len(size) == 3 and all(isinstance(one, int) for one in size)


def _transformers(model: nn.Module) -> Preprocess | None:
    config = getattr(model, "config", None)
    side, channels = _side(getattr(config, "image_size", None)), getattr(config, "num_channels", 3)
    if side is None or channels not in (1, 3):
        return None
    return Preprocess(side, side, channels=channels, guessed=True)


def _side(size: Any) -> int | None:
    first = size[0] if isinstance(size, tuple | list) and size else size
    return first if isinstance(first, int) and not isinstance(first, bool) and 0 < first < 1 << 14 else None
