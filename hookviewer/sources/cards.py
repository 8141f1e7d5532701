"""What is known of a model besides its modules: where it came from and what it expects."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from torch import nn


@dataclasses.dataclass(frozen=True)
class Preprocess:
    """How a picture becomes the tensor that a network expects.

    `short_side` is what the picture is scaled to before the centre crop of `height` × `width`; without a crop
    the whole picture is used. `mean` and `std` are one number a channel, for values from 0 to 1. `None` means
    that it is not known. `multiple`: sides of an uncropped picture are rounded to it. `batch` is false for
    networks that take a list of pictures (torchvision's detectors). `guessed` marks what nobody stated.
    """

    height: int | None = None
    width: int | None = None
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    short_side: int | None = None
    channels: int = 3
    interpolation: str = "bilinear"
    multiple: int = 1
    batch: bool = True
    guessed: bool = False


@dataclasses.dataclass(frozen=True)
class Weights:
    """The file whose weights a model has, and what was allowed not to fit (words of `match.ALLOWED`)."""

    file: str
    allow: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class ModelCard:
    """What is known of a model: `spec` opens it again, `sha256` is that of its weights (or of its code) file.

    `input_shapes` are the shapes of its positional inputs where they are known, `input_shape` that of the
    only one. A network whose `preprocess.batch` is false takes a list of pictures [3, H, W], and its shape is
    that of a batch of one. `example` is the spec of an input to show it with. Empty values mean "not known";
    `notes` are sentences for the person who looks at the model. `options` and `weights` are what it was
    opened with besides the spec; `files` are those it came from, to watch for changes. `inputs` are those
    that a recipe returned with the model.
    """

    spec: str = ""
    name: str = ""
    sha256: str = ""
    preprocess: Preprocess | None = None
    class_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    input_shape: tuple[int, ...] | None = None
    example: str = ""
    input_shapes: tuple[tuple[int, ...], ...] = ()
    options: Mapping[str, Any] = dataclasses.field(default_factory=lambda: MappingProxyType({}), repr=False)
    weights: Weights | None = None
    files: tuple[str, ...] = ()
    inputs: tuple[Any, ...] = dataclasses.field(default=(), repr=False, compare=False)


_CARDS: weakref.WeakKeyDictionary[nn.Module, ModelCard] = weakref.WeakKeyDictionary()


def card(model: nn.Module) -> ModelCard:
    """Return what is known of `model`; a model that hookviewer did not open has a card of unknowns."""
    return _CARDS.get(model) or ModelCard(name=type(model).__name__)


def remember(model: nn.Module, model_card: ModelCard) -> None:
    """Keep `model_card` for as long as `model` lives."""
    _CARDS[model] = model_card
