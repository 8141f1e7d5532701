"""What a recipe does to a picture, in words."""

from __future__ import annotations

from collections.abc import Sequence

from hookviewer.inputs.pixels import Picture
from hookviewer.inputs.preprocess import Preprocess

_RANGES = {"0..1": "from 0 to 1", "0..255": "from 0 to 255", "-1..1": "from −1 to 1"}
BOTH = "The same picture stands for both: there is no motion to see."
_BEHIND = {"white": "white", "black": "black", "checker": "a checker board"}


def in_words(preprocess: Preprocess) -> tuple[str, ...]:
    """Return the steps of a recipe as sentences, in their order."""
    grey = ("Gray.",) if preprocess.grey or preprocess.channels == 1 else ()
    order = ("Channels: blue, green, red.",) if preprocess.order == "bgr" and preprocess.channels > 1 else ()
    clip = (f"A clip of {preprocess.frames} frames.",) if preprocess.frames else ()
    pair = ("Two pictures.",) if preprocess.pair else ()
    return (*grey, _size(preprocess), *order, _values(preprocess), *clip, *pair)


def _size(preprocess: Preprocess) -> str:
    height, width, short = preprocess.height, preprocess.width, preprocess.short_side
    if height is None or width is None:
        step = f", sides multiples of {preprocess.multiple}" if preprocess.multiple > 1 else ""
        return f"The whole picture, its short side {short}{step}." if short else f"Its own size{step}."
    crop = f"{width} × {height}"
    if preprocess.fit == "pad":
        return f"Scaled to fit into {crop}, black around it."
    if preprocess.fit == "stretch":
        resize = preprocess.resize or (height, width)
        cut = "" if resize == (height, width) else f", then the middle {crop} cut out"
        return f"Stretched to {resize[1]} × {resize[0]}{cut}."
    return (
        f"Short side scaled to {short}, then the middle {crop} cut out." if short else f"The middle {crop}."
    )


def _values(preprocess: Preprocess) -> str:
    start = f"Values {_RANGES[preprocess.value_range]}"
    if preprocess.mean is None or preprocess.std is None:
        return f"{start}."
    return f"{start}, then minus {_numbers(preprocess.mean)}, divided by {_numbers(preprocess.std)}."


def described(size: tuple[int, int], picture: Picture, preprocess: Preprocess, count: int) -> tuple[str, ...]:
    """Return sentences about what was done to `picture`, which is now width × height `size`."""
    transparent = picture.image.mode == "RGBA"
    behind = (f"Its transparent places lie over {_BEHIND[preprocess.background]}.",) if transparent else ()
    grey = preprocess.grey or preprocess.channels == 1
    colours = ("Its colours became gray.",) if grey and picture.image.mode != "L" else ()
    swapped = preprocess.order == "bgr" and preprocess.channels > 1
    order = ("Its channels come as blue, green, red.",) if swapped else ()
    page = (
        (f"It is frame {picture.frame} of {picture.frames}, counted from 0.",) if picture.frames > 1 else ()
    )
    return (
        *page,
        *behind,
        *colours,
        _scaled(size, picture, preprocess),
        *order,
        _changed(preprocess),
        *_several(preprocess, count),
    )


def _scaled(size: tuple[int, int], picture: Picture, preprocess: Preprocess) -> str:
    before = f"{picture.image.width} × {picture.image.height}"
    if size == picture.image.size:
        return f"The picture was used as it is, {before}."
    how = "scaled"
    if preprocess.height is not None:
        how = {"pad": "scaled and padded with black", "stretch": "stretched"}.get(
            preprocess.fit, "scaled and cropped"
        )
    return f"The picture ({before}) was {how} to {size[0]} × {size[1]}."


def _changed(preprocess: Preprocess) -> str:
    values = _RANGES[preprocess.value_range]
    if preprocess.mean is None or preprocess.std is None:
        return f"Its values go {values}."
    start = "Its values" if preprocess.value_range == "0..1" else f"Its values, {values},"
    mean, std = _numbers(preprocess.mean), _numbers(preprocess.std)
    return f"{start} were normalised with mean {mean} and standard deviation {std}."


def _several(preprocess: Preprocess, count: int) -> tuple[str, ...]:
    if preprocess.frames:
        same = count == 1
        last = "The same picture stands for each." if same else "The last one stands for those that lack."
        return (
            f"A clip of {preprocess.frames} frames was made of {count}."
            + f" {last}" * (count < preprocess.frames),
        )
    if preprocess.pair and count == 1:
        return (BOTH,)
    return ()


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)
