"""What shapes of input a model takes: what its card says, what is usual, else a guess by its first layer."""

from __future__ import annotations

import dataclasses

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.inputs import families
from hookviewer.inputs.dimensions import as_spec, spelled
from hookviewer.inputs.lacking import ArgumentsLacking
from hookviewer.inputs.preprocess import Preprocess
from hookviewer.inputs.signatures import required_arguments
from hookviewer.modules import unwrapped
from hookviewer.sources import card
from hookviewer.sources.cards import Preprocess as Known

SIDE = 224
"""The side of a picture where nothing at all is known of it."""

LATENT_SIDE = 8
"""The side of the small map that a decoder unfolds."""

DETECTION_SIDE = 320
"""Detectors scale every picture themselves."""


@dataclasses.dataclass(frozen=True)
class Expected:
    """The shapes of a model's positional inputs; `tokens` is the size of its vocabulary of whole numbers.

    `listed` says that the one input is a list of pictures. `reason` says how sure that is, in a sentence;
    empty when the shapes are known.
    """

    shapes: tuple[tuple[int, ...], ...]
    tokens: int = 0
    listed: bool = False
    reason: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first input."""
        return self.shapes[0]


def expected(model: nn.Module) -> Expected:
    """Return the shapes that `model` takes, of its first input where it takes several that nobody stated.

    Raises `HookViewerError` when there is nothing to go by.
    """
    known = card(model)
    listed = known.preprocess is not None and not known.preprocess.batch
    shapes = known.input_shapes or ((known.input_shape,) if known.input_shape is not None else ())
    if shapes:
        return Expected(shapes, listed=listed)
    usual = families.recipe(model)
    if usual is not None and known.preprocess is None:
        return _usual(model, usual)
    return dataclasses.replace(_by_layers(model, known.preprocess), listed=listed)


def check_guessable(model: nn.Module) -> None:
    """Raise a sentence when `model` needs several inputs and nothing says what they are."""
    needed = required_arguments(model)
    if len(needed) > max(len(_stated(model)), 1):
        raise ArgumentsLacking(
            f"{type(model).__name__} needs {len(needed)} inputs ({', '.join(needed)}), which cannot be "
            f"guessed: write args:{';'.join(f'{name}=random:SHAPE' for name in needed)}."
        )


def _stated(model: nn.Module) -> tuple[tuple[int, ...], ...]:
    known, usual = card(model), families.recipe(model)
    if known.input_shapes or usual is None:
        return known.input_shapes
    return (shape_of(usual),) * (2 if usual.pair else 1)


def _usual(model: nn.Module, usual: Preprocess) -> Expected:
    shape = shape_of(usual, model)
    reason = f"Its shape {spelled(shape)} is a guess: the usual one of {type(unwrapped(model)[0]).__name__}."
    return Expected((shape,) * (2 if usual.pair else 1), listed=not usual.batch, reason=reason)


def shape_of(recipe: Preprocess, model: nn.Module | None = None) -> tuple[int, ...]:
    """Return the shape of an input that `recipe` makes, of a square picture where it leaves the size open."""
    fixed = getattr(getattr(model, "transform", None), "fixed_size", None)
    width, height = fixed or (DETECTION_SIDE,) * 2
    if recipe.batch:
        height, width = (one or recipe.short_side or SIDE for one in (recipe.height, recipe.width))
    frames = (recipe.frames,) if recipe.frames else ()
    return (1, recipe.channels, *frames, height, width)


def _by_layers(model: nn.Module, preprocess: Known | None) -> Expected:
    for path, module in model.named_modules():
        guessed = _by_layer(module)
        if guessed is not None:
            shape = _sized(guessed.shape, preprocess)
            layer = path or "the model"
            reason = f"Its shape {spelled(shape)} is a guess from {layer}, the first layer that says one."
            return Expected((shape,), guessed.tokens, reason=reason)
    raise HookViewerError(
        f"The input of {type(model).__name__} cannot be guessed: give one, such as random:1x3x224x224."
    )


def _by_layer(module: nn.Module) -> Expected | None:
    match module:  # a lazy module does not know its channels: 0 stands for that
        case nn.Conv1d():
            return Expected(((1, module.in_channels or 1, 128),))
        case nn.Conv2d():
            return Expected(((1, module.in_channels or 3, SIDE, SIDE),))
        case nn.ConvTranspose2d():
            return Expected(((1, module.in_channels or 3, *(_latent_side(module),) * 2),))
        case nn.Conv3d():
            return Expected(((1, module.in_channels or 3, 16, 112, 112),))
        case nn.Linear() if module.in_features:
            return Expected(((1, module.in_features),))
        case nn.Embedding() | nn.EmbeddingBag():
            return Expected(((1, 16),), tokens=module.num_embeddings)
        case nn.RNNBase():
            return Expected(((1, 16, module.input_size),))
        case nn.TransformerEncoderLayer() | nn.TransformerDecoderLayer():
            return Expected(((1, 16, module.self_attn.embed_dim),))
        case nn.MultiheadAttention():
            return Expected(((1, 16, module.embed_dim),))
    return None


def _latent_side(module: nn.ConvTranspose2d) -> int:
    """Return the side of the map that a decoder begins with: 1 where its first layer unfolds a vector."""
    unfolds = module.stride == (1, 1) and module.padding == (0, 0)
    return 1 if unfolds and module.kernel_size != (1, 1) else LATENT_SIDE


def _sized(shape: tuple[int, ...], preprocess: Known | None) -> tuple[int, ...]:
    """Return the shape with the picture size that the card states."""
    if preprocess is None or len(shape) != 4:
        return shape
    side = preprocess.short_side or shape[2]
    return (*shape[:2], preprocess.height or side, preprocess.width or side)


def preprocess(model: nn.Module) -> tuple[Preprocess, tuple[str, ...]]:
    """Return how `model` wants its pictures, and the sentence that says where that is a guess.

    Raises `HookViewerError` when the model does not take pictures at all.
    """
    known = card(model)
    if known.preprocess is not None:
        return _arranged(Preprocess.of(known.preprocess), known.input_shapes), _guess_note(known.preprocess)
    usual = families.recipe(model)
    if usual is not None and not known.input_shape:
        name = type(unwrapped(model)[0]).__name__
        return usual, (f"Size and normalisation are a guess: the usual ones of {name}.",)
    return _from_shape(model)


def _arranged(recipe: Preprocess, shapes: tuple[tuple[int, ...], ...]) -> Preprocess:
    """Return the recipe with what only the shapes say: that there are two pictures, or a clip."""
    if len(shapes) == 2 and len(shapes[0]) == 4 and not recipe.pair:
        recipe = dataclasses.replace(recipe, pair=True)
        if recipe.height is None and recipe.short_side is None:
            recipe = dataclasses.replace(recipe, short_side=shapes[0][2])
    if len(shapes) == 1 and len(shapes[0]) == 5 and not recipe.frames:
        recipe = dataclasses.replace(recipe, frames=shapes[0][2])
    return recipe


def _guess_note(known: Known) -> tuple[str, ...]:
    if not known.guessed:
        return ()
    return ("Size and normalisation are a guess: nothing says what this network was trained with.",)


def _from_shape(model: nn.Module) -> tuple[Preprocess, tuple[str, ...]]:
    shape = expected(model).shape
    if len(shape) != 4 or shape[1] not in (1, 3):
        raise HookViewerError(
            f"{type(model).__name__} takes {spelled(shape)}, not a picture of 1 or 3 channels: "
            f"give a .npy file or random:{as_spec(shape)}."
        )
    known = card(model).input_shape is not None
    note = (
        ()
        if known
        else (
            "Nothing is known of this network's input: where you did not choose them, its size and values "
            "from 0 to 1 are a guess. Warning: a network that expects normalised input answers wrongly.",
        )
    )
    height, width = shape[2:]
    return Preprocess(height, width, channels=shape[1], guessed=not known), note
