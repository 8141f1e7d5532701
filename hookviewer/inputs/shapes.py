"""What shape of input a model takes: what its card says, else a guess from its first layer."""

from __future__ import annotations

import dataclasses
import inspect
from math import prod

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.sources import Preprocess, card

LARGEST = 1 << 28
"""Values in the largest generated input: a gigabyte of float32."""


@dataclasses.dataclass(frozen=True)
class Expected:
    """The shape of a model's one input; `tokens` is the size of the vocabulary where it takes whole numbers.

    `reason` says how sure that is, in a sentence; empty when the shape is known.
    """

    shape: tuple[int, ...]
    tokens: int = 0
    reason: str = ""


def expected(model: nn.Module) -> Expected:
    """Return the shape that `model` takes; raises `HookViewerError` when there is nothing to go by."""
    known = card(model)
    if known.input_shape is not None:
        return Expected(known.input_shape)
    needed = required_arguments(model)
    if len(needed) > 1:
        raise HookViewerError(
            f"{type(model).__name__} needs {len(needed)} inputs ({', '.join(needed)}), which cannot be "
            "guessed: give them from Python, with hookviewer.view(model, [Input(…)])."
        )
    for path, module in model.named_modules():
        guessed = _by_layer(module)
        if guessed is not None:
            shape = _sized(guessed.shape, known.preprocess)
            layer = path or "the model"
            reason = f"Its shape {spelled(shape)} is a guess from {layer}, the first layer that says one."
            return Expected(shape, guessed.tokens, reason)
    raise HookViewerError(
        f"The input of {type(model).__name__} cannot be guessed: give one, such as random:1x3x224x224."
    )


def _by_layer(module: nn.Module) -> Expected | None:
    match module:  # a lazy module does not know its channels: 0 stands for that
        case nn.Conv1d():
            return Expected((1, module.in_channels or 1, 128))
        case nn.Conv2d():
            return Expected((1, module.in_channels or 3, 224, 224))
        case nn.Conv3d():
            return Expected((1, module.in_channels or 3, 16, 112, 112))
        case nn.Linear() if module.in_features:
            return Expected((1, module.in_features))
        case nn.Embedding() | nn.EmbeddingBag():
            return Expected((1, 16), tokens=module.num_embeddings)
        case nn.RNNBase():
            return Expected((1, 16, module.input_size))
        case nn.TransformerEncoderLayer() | nn.TransformerDecoderLayer():
            return Expected((1, 16, module.self_attn.embed_dim))
        case nn.MultiheadAttention():
            return Expected((1, 16, module.embed_dim))
    return None


def _sized(shape: tuple[int, ...], preprocess: Preprocess | None) -> tuple[int, ...]:
    """Return the shape with the picture size that the card states."""
    if preprocess is None or len(shape) != 4:
        return shape
    side = preprocess.short_side or shape[2]
    return (*shape[:2], preprocess.height or side, preprocess.width or side)


def required_arguments(model: nn.Module) -> list[str]:
    """Return the names of the arguments that `model.forward` cannot do without."""
    try:
        parameters = inspect.signature(model.forward).parameters.values()
    except (TypeError, ValueError):
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [one.name for one in parameters if one.kind in positional and one.default is one.empty]


def preprocess(model: nn.Module) -> tuple[Preprocess, tuple[str, ...]]:
    """Return a guess at how `model` wants its pictures, and the sentence that says so.

    Raises `HookViewerError` when the model does not take pictures at all.
    """
    shape = expected(model).shape
    if len(shape) != 4 or shape[1] not in (1, 3):
        raise HookViewerError(
            f"{type(model).__name__} takes {spelled(shape)}, not a picture of 1 or 3 channels: "
            f"give a .npy file or random:{spelled(shape).replace(' × ', 'x')}."
        )
    known = card(model).input_shape is not None
    note = (
        ()
        if known
        else (
            f"Nothing is known of this network's input: the picture was made {spelled(shape)}, with "
            "values from 0 to 1. Warning: a network that expects normalised input answers wrongly.",
        )
    )
    height, width = shape[2:]
    return Preprocess(height, width, channels=shape[1], guessed=not known), note


def parse_shape(text: str, axes: int | None = None) -> tuple[int, ...]:
    """Return the shape that `1x3x224x224` spells; `scalar` is `()`.

    Raises `HookViewerError` for anything else, another number of axes, or more than a gigabyte of float32.
    """
    parts = [] if text == "scalar" else text.replace("×", "x").split("x")
    if not all(part.strip().isdecimal() for part in parts):
        raise HookViewerError(f"{text!r} is no shape: write numbers joined by x, such as 1x3x224x224.")
    shape = tuple(int(part) for part in parts)
    if axes is not None and len(shape) != axes:
        raise HookViewerError(f"{text!r} has {len(shape)} numbers where {axes} are needed.")
    if prod(shape) > LARGEST:
        raise HookViewerError(f"{text} would take {prod(shape) * 4 / 2**30:.1f} GB: choose a smaller shape.")
    return shape


def spelled(shape: tuple[int, ...]) -> str:
    """Return a shape for a person: `1 × 3 × 224 × 224`."""
    return " × ".join(str(size) for size in shape) if shape else "a single number"
