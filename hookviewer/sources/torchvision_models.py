"""What torchvision says of its own models: sizes, normalisation, names of classes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.sources import torchvision_shapes
from hookviewer.sources.cards import ModelCard, Preprocess
from hookviewer.sources.nearby import nearby

PLACES = ("quantization", "detection", "segmentation", "video", "optical_flow")
"""Modules inside torchvision.models that have builders of their own."""
RANDOM = "Random weights: its numbers are random, choose weights=DEFAULT or load a file of weights."
FINDS_NOTHING = (
    "Random weights: as a rule it finds nothing with them, choose weights=DEFAULT, load a file of weights, "
    "or add {}=0 to its name."
)


def names() -> tuple[str, ...]:
    """Return the spec of every network that torchvision builds, classifiers first."""
    from torchvision import models

    found = [spec_of(name) for name in models.list_models()]
    return tuple(sorted(found, key=lambda spec: (spec.partition(":")[0].count("."), spec)))


def spec_of(name: str) -> str:
    """Return the spec that opens the network registered as `name`: `torchvision.models.video:r3d_18`."""
    from torchvision import models

    builder = models.get_model_builder(name)
    place = builder.__module__.removeprefix("torchvision.models.").partition(".")[0]
    inside = f".{place}" if place in PLACES else ""
    return f"torchvision.models{inside}:{builder.__name__}"


def builder(name: str) -> Any:
    """Return the function registered under a name, wherever in torchvision it is; `None` for other names."""
    from torchvision import models

    return models.get_model_builder(name) if name in models.list_models() else None


def is_builder(target: Any) -> bool:
    """Whether `target` is one of torchvision's functions that build a network."""
    module = str(getattr(target, "__module__", ""))
    return module.startswith("torchvision.models") and inspect.isfunction(target)


def without_downloads(builder: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a builder such that nothing is fetched unless the person asked for it.

    Detectors and segmentation networks would download a trained backbone even where no weights are asked for.
    """
    chosen = dict(arguments)
    if not is_builder(builder):
        return chosen
    if "weights_backbone" in inspect.signature(builder).parameters and not arguments.get("weights"):
        chosen.setdefault("weights_backbone", None)
    if builder.__name__ in ("googlenet", "inception_v3") and not arguments.get("weights"):
        chosen.setdefault("init_weights", True)  # as without it, but without a warning
    return chosen


def known(builder: Any, arguments: Mapping[str, Any], model: nn.Module) -> ModelCard | None:
    """Return the card of a model that torchvision builds, `None` for any other builder.

    Without weights, the sizes and numbers of the usual weights are a guess.
    """
    if not str(getattr(builder, "__module__", "")).startswith("torchvision.models"):
        return None
    weights, trained = _weights(builder, arguments)
    name = getattr(builder, "__name__", "")
    if weights is None:
        return ModelCard(name=name, notes=() if arguments.get("weights") else (RANDOM,))
    notes = () if trained else (_random(weights, model, arguments),)
    class_names = tuple(weights.meta.get("categories", ())) if trained else ()
    preprocess = _preprocess(weights.transforms(), guessed=not trained)
    if preprocess is not None and not trained:
        preprocess = torchvision_shapes.fixed(preprocess, model)
    shapes = torchvision_shapes.inputs(model, weights, preprocess)
    still = len(shapes) == 1 and len(shapes[0]) == 4
    return ModelCard(
        name=name,
        preprocess=preprocess,
        class_names=class_names,
        notes=notes,
        input_shape=shapes[0] if len(shapes) == 1 else None,
        input_shapes=shapes,
        example="demo:chelsea" if preprocess is not None and still else "",
    )


def _random(weights: Any, model: nn.Module, arguments: Mapping[str, Any]) -> str:
    least = "box_score_thresh" if hasattr(model, "roi_heads") else "score_thresh"
    if type(weights.transforms()).__name__ != "ObjectDetection" or least in arguments:
        return RANDOM
    return FINDS_NOTHING.format(least)


def check_weights(place: str, builder: Any, arguments: Mapping[str, Any]) -> None:
    """Raise a sentence when a torchvision builder is asked for weights that it does not have."""
    asked, family = arguments.get("weights"), _family(builder)
    if family is None or not isinstance(asked, str):
        return
    choices = [*family.__members__, "none"]
    if asked.rpartition(".")[2] not in choices:
        raise HookViewerError(f"{place} has no weights {asked!r}: {nearby(asked, choices)}.")


def _family(builder: Any) -> Any:
    from torchvision import models

    if not str(getattr(builder, "__module__", "")).startswith("torchvision.models"):
        return None
    try:
        return models.get_model_weights(builder)
    except ValueError:
        return None


def _weights(builder: Any, arguments: Mapping[str, Any]) -> tuple[Any, bool]:
    """Return the weights to learn from, and whether the model really has them."""
    family = _family(builder)
    if family is None:
        return None, False
    asked = arguments.get("weights")
    if asked is not None:
        return (family[str(asked).rpartition(".")[2]] if isinstance(asked, str) else asked), True
    # the oldest weights, since their sizes are those of the paper
    return next(iter(family), None), False


def _preprocess(transforms: Any, *, guessed: bool) -> Preprocess | None:
    match type(transforms).__name__:
        case "ImageClassification" | "VideoClassification":
            side, short = transforms.crop_size[0], min(transforms.resize_size)
            return Preprocess(side, side, short_side=short, **_numbers(transforms), guessed=guessed)
        case "SemanticSegmentation":
            short = transforms.resize_size[0]
            return Preprocess(short_side=short, **_numbers(transforms), guessed=guessed)
        case "ObjectDetection":
            return Preprocess(batch=False)
        case "OpticalFlow":  # from 0…1 to −1…1
            return Preprocess(mean=(0.5,) * 3, std=(0.5,) * 3, multiple=8)
    return None


def _numbers(transforms: Any) -> dict[str, Any]:
    mean, std = tuple(transforms.mean), tuple(transforms.std)
    return {"mean": mean, "std": std, "interpolation": transforms.interpolation.value}
