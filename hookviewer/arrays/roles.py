"""What the axes of an array may mean: every reading of a shape in words, the likeliest first.

A reading names the axes in order: `sample × channel × row × column`. What is known beside the shape (the
module's type, the sizes of the pictures that went in, how many tokens stand before the grid) is in `Hints`.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import re
from collections.abc import Sequence

TIMES = " × "
TABLE, NUMBER = "table", "number"
MAPS = "sample × channel × row × column"
CHANNELS_LAST = "sample × row × column × channel"
TOKENS = "sample × token × feature"
TOKENS_FIRST = "token × sample × feature"
TOKEN_GRID = "sample × token in a grid × feature"
TOKEN_GRID_FIRST = "token in a grid × sample × feature"
SIGNALS = "sample × channel × time"
SEQUENCE = "time × sample × feature"
SEQUENCE_BATCH_FIRST = "sample × time × feature"
ATTENTION = "sample × head × query × key"
MEAN_ATTENTION = "sample × query × key"
VOLUME = "sample × channel × depth × row × column"
SLICES = "sample × channel × slice × row × column"
FILM = "sample × frame × channel × row × column"
STATES = "layer × sample × feature"
COLOUR_KERNELS = "output channel × colour × row × column"
KERNELS = "output channel × input channel × row × column"
KERNEL_GRID = "output × input × row × column"

_BY_AXES = {
    0: (NUMBER,),
    1: ("feature", "row"),
    2: ("sample × feature", "row × column", "channel × time", "time × feature", "token × feature"),
    3: (
        "channel × row × column",
        TOKENS,
        SIGNALS,
        SEQUENCE_BATCH_FIRST,
        SEQUENCE,
        MEAN_ATTENTION,
        "sample × row × column",
        STATES,
    ),
    4: (MAPS, CHANNELS_LAST, ATTENTION, "channel × depth × row × column", "axis 0 × axis 1 × row × column"),
    5: (VOLUME, SLICES, FILM, "axis 0 × axis 1 × axis 2 × row × column"),
}
_OF_WEIGHTS = {
    0: (NUMBER,),
    1: ("feature", "row"),
    2: ("output × input", "output channel × time"),
    3: ("output channel × input channel × time", "channel × row × column", TOKENS),
    4: (KERNELS, KERNEL_GRID, MAPS, CHANNELS_LAST),
    5: ("output channel × input channel × depth × row × column",),
}
_SMALLEST_GRID = 4  # tokens by tokens
_FEWEST_FEATURES = 16
_MOST_LEADING = 17  # a class token and up to sixteen registers
_USUAL_LEADING = ((0, 1), (2, 5, 3, 9, 17))  # the picture's own shape wins among those that are as usual
_RECURRENT = re.compile("RNN|LSTM|GRU")
_OF_TOKENS = re.compile(
    "^Linear$|^LayerNorm$|^RMSNorm$|Embedding|Transformer|MultiheadAttention|Encoder|GELU"
)


@dataclasses.dataclass(frozen=True)
class Hints:
    """What is known of an array beside its shape.

    `module` is the type of the module that made it, `details` its settings as torch prints them, `leaf` the
    place in a nested output, or a parameter's name where `weight` is set. `leading` is the number of tokens
    that the model puts before the grid (None: not known). `pictures` are the heights and widths of what went
    in: None where that is not known, empty where it was no picture. `rank` is the number of spatial axes of
    the model's convolutions, 0 without any.
    """

    module: str = ""
    details: str = ""
    leaf: str = ""
    weight: bool = False
    leading: int | None = None
    pictures: tuple[tuple[int, int], ...] | None = None
    rank: int | None = None


NOTHING = Hints()


def readings(shape: Sequence[int], hints: Hints = NOTHING) -> tuple[str, ...]:
    """Return what the axes may mean; the first is the guess from shape and hints, the last always `table`."""
    return _readings(tuple(shape), hints)


@functools.lru_cache(maxsize=1 << 10)
def _readings(shape: tuple[int, ...], hints: Hints) -> tuple[str, ...]:
    if 0 in shape:
        return (TABLE,)
    known = _known(shape, hints)
    guess = _guess_of_weight(shape, hints) if hints.weight else _guess(shape, known, hints)
    guess = guess if guess in known else known[0]
    return (guess, *(reading for reading in known if reading != guess), TABLE)


def roles_of(reading: str) -> tuple[str, ...]:
    """Return the roles of the axes in a reading, in order."""
    return tuple(reading.split(TIMES))


def grid(tokens: int, hints: Hints = NOTHING) -> tuple[int, int, int] | None:
    """Return (leading tokens, rows, columns) where tokens make a grid; None where they do not.

    The grid has the shape of a picture that went in where one is known, else it is a square.
    """
    groups = _USUAL_LEADING if hints.leading is None else ((hints.leading,), *_USUAL_LEADING)
    shapes = (*(hints.pictures or ()), (1, 1))
    for few in groups:
        for (height, width), leading in itertools.product(shapes, few):
            found = _grid_like(tokens - leading, height, width)
            if found is not None and leading <= _MOST_LEADING:
                return leading, *found
    return None


def looks_channels_last(shape: Sequence[int]) -> bool:
    """Return whether [N, a, b, c] is square maps before many channels, as a Swin transformer has them."""
    _, rows, columns, channels = shape
    return rows == columns and channels % 16 == 0 and channels > 1.6 * rows


def _grid_like(cells: int, height: int, width: int) -> tuple[int, int] | None:
    """Return rows and columns of so many cells in the shape of a picture; None where they do not come out."""
    if cells < _SMALLEST_GRID**2:
        return None
    patch = math.sqrt(height * width / cells)
    rows, columns = round(height / patch), round(width / patch)
    fits = rows * columns == cells and abs(rows * width - columns * height) <= max(height, width)
    return (rows, columns) if fits and min(rows, columns) >= 2 else None


def _known(shape: tuple[int, ...], hints: Hints) -> tuple[str, ...]:
    known = (_OF_WEIGHTS if hints.weight else _BY_AXES).get(len(shape)) or (_long(len(shape)),)
    if len(shape) == 3 and grid(shape[1], hints):
        known = (*known, TOKEN_GRID)
    if len(shape) == 3 and not hints.weight:
        known = (*known, TOKENS_FIRST, *((TOKEN_GRID_FIRST,) if grid(shape[0], hints) else ()))
    if hints.weight and len(shape) == 4 and shape[1] == 3:
        known = (COLOUR_KERNELS, *known)
    return known


def _long(axes: int) -> str:
    """Return the reading of more axes than have names: all between the first and the last three slide."""
    between = [f"axis {place}" for place in range(1, axes - 3)]
    return TIMES.join(["sample", *between, "channel", "row", "column"])


def _guess_of_weight(shape: tuple[int, ...], hints: Hints) -> str:
    if len(shape) == 3 and shape[0] == 1:
        return TOKEN_GRID if shape[1] > 1 and grid(shape[1], hints) else TOKENS
    if len(shape) == 4 and shape[0] == 1 and not re.search("Conv", hints.module):
        return CHANNELS_LAST if looks_channels_last(shape) else MAPS
    return COLOUR_KERNELS if len(shape) == 4 and shape[1] == 3 else ""


def _guess(shape: tuple[int, ...], known: tuple[str, ...], hints: Hints) -> str:
    match len(shape):
        case 2:
            return "time × feature" if _is_sequence(hints) and "Cell" not in hints.module else known[0]
        case 3:
            return _guess_of_three(shape, known, hints)
        case 4:
            return _guess_of_four(shape, hints)
        case 5:
            film = shape[2] in (1, 3) and shape[1] > 4 and hints.rank != 3 and "3d" not in hints.module
            return FILM if film else VOLUME
    return known[0]


def _guess_of_three(shape: tuple[int, ...], known: tuple[str, ...], hints: Hints) -> str:
    if _is_sequence(hints):
        return _guess_of_sequence(hints)
    if "1d" in hints.module or (hints.rank == 1 and not _OF_TOKENS.search(hints.module)):
        return SIGNALS
    if hints.module.startswith("MultiheadAttention") and hints.leaf.endswith("[1]"):
        return MEAN_ATTENTION
    if shape[1] == 1 and shape[0] > 1 and _OF_TOKENS.search(hints.module):
        return TOKEN_GRID_FIRST if TOKEN_GRID_FIRST in known and _sees_pictures(hints) else TOKENS_FIRST
    if TOKEN_GRID in known and _sees_pictures(hints) and _looks_like_tokens(shape, hints):
        return TOKEN_GRID
    if shape[0] == 1 or _OF_TOKENS.search(hints.module) or _sees_nothing(hints):
        return TOKENS
    return known[0]


def _guess_of_sequence(hints: Hints) -> str:
    if re.fullmatch(r"\[1\](\[\d\])?", hints.leaf):
        return STATES
    return SEQUENCE_BATCH_FIRST if "batch_first=True" in hints.details else SEQUENCE


def _guess_of_four(shape: tuple[int, ...], hints: Hints) -> str:
    if _is_attention(shape, hints):
        return ATTENTION
    last = hints.module in ("Linear", "LayerNorm") or looks_channels_last(shape)
    return CHANNELS_LAST if last or _is_like_a_picture(shape, hints) else MAPS


def _is_attention(shape: tuple[int, ...], hints: Hints) -> bool:
    """Return whether [N, h, L, S] are weights of attention: only a module, or the tokens, can tell."""
    if shape[2] < 2 or "2d" in hints.module:
        return False
    if "softmax" in hints.module.lower():
        return not re.search(r"dim=(0|1|2|-2|-3|-4)\b", hints.details)
    if "Attention" in hints.module and re.search(r"\[[1-9]\d*\]$|attn|attention|weights", hints.leaf):
        return True
    if not hints.pictures or shape[2] != shape[3] or _is_reduced(shape[3], hints):
        return False
    tokens = grid(shape[3], hints)
    named = tokens is not None and tokens[0] in (1, hints.leading or 1)  # others are too often a chance
    return named and shape[1] <= 64 and "Conv" not in hints.module


def _is_reduced(side: int, hints: Hints) -> bool:
    """Return whether square maps of this side are a square picture that went in, made smaller by a stride."""
    return any(height == width and height % side == 0 for height, width in hints.pictures or ())


def _is_like_a_picture(shape: tuple[int, ...], hints: Hints) -> bool:
    """Return whether the two axes after the first, and not the last two, have the shape of a picture."""
    _, rows, columns, channels = shape
    if channels % 8 or rows == columns or rows < 2 or columns < 2:
        return False
    for height, width in hints.pictures or ():
        if rows * width == columns * height and columns * width != channels * height:
            return True
    return False


def _is_sequence(hints: Hints) -> bool:
    return bool(_RECURRENT.search(hints.module))


def _sees_pictures(hints: Hints) -> bool:
    return hints.pictures is None or bool(hints.pictures)


def _sees_nothing(hints: Hints) -> bool:
    """Return whether it is known that no picture went in and nothing is convolved: text, or a table."""
    return hints.pictures == () and hints.rank == 0


def _looks_like_tokens(shape: tuple[int, ...], hints: Hints) -> bool:
    samples, tokens, features = shape
    if _OF_TOKENS.search(hints.module) or (hints.leading or 0) > 0:
        return features >= _FEWEST_FEATURES
    return features >= _FEWEST_FEATURES and features != tokens and (samples == 1 or features % 8 == 0)
