"""What torchvision says of its own models: sizes, normalisation, names of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookviewer.errors import HookViewerError
from hookviewer.sources.cards import ModelCard, Preprocess
from hookviewer.sources.nearby import nearby


def known(builder: Any, arguments: Mapping[str, Any]) -> ModelCard | None:
    """Return the card of a model that torchvision builds, `None` for any other builder.

    Without weights, the sizes and numbers of the usual weights are a guess.
    """
    if not str(getattr(builder, "__module__", "")).startswith("torchvision.models"):
        return None
    weights, trained = _weights(builder, arguments)
    name = getattr(builder, "__name__", "")
    if weights is None:
        return ModelCard(name=name)
    notes = () if trained else ("Its weights are random: this network was not trained.",)
    names = tuple(weights.meta.get("categories", ())) if trained else ()
    preprocess = _preprocess(weights.transforms(), guessed=not trained)
    example = "demo:chelsea" if preprocess is not None else ""
    return ModelCard(name=name, preprocess=preprocess, class_names=names, notes=notes, example=example)


def check_weights(place: str, builder: Any, arguments: Mapping[str, Any]) -> None:
    """Raise a sentence when a torchvision builder is asked for weights that it does not have."""
    asked, family = arguments.get("weights"), _family(builder)
    if family is None or not isinstance(asked, str):
        return
    names = [*family.__members__, "none"]
    if asked.rpartition(".")[2] not in names:
        raise HookViewerError(f"{place} has no weights {asked!r}: {nearby(asked, names)}.")


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
        case "ImageClassification":
            side, short = transforms.crop_size[0], transforms.resize_size[0]
            return Preprocess(side, side, short_side=short, **_numbers(transforms), guessed=guessed)
        case "SemanticSegmentation":
            short = transforms.resize_size[0]
            return Preprocess(short_side=short, **_numbers(transforms), guessed=guessed)
        case "ObjectDetection":
            return Preprocess(batch=False)
    return None


def _numbers(transforms: Any) -> dict[str, Any]:
    mean, std = tuple(transforms.mean), tuple(transforms.std)
    return {"mean": mean, "std": std, "interpolation": transforms.interpolation.value}
