"""The recipe by which a picture becomes an input: frozen, in words, and as text that brings it back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from hookviewer.inputs import options as reading
from hookviewer.inputs.pixels import BACKGROUNDS
from hookviewer.sources.cards import Preprocess as Known
from hookviewer.sources.trained import IMAGENET_MEAN, IMAGENET_STD

FITS = ("crop", "pad", "stretch")
"""How a picture gets its size: the middle is cut out, black is put around, or it is pulled into shape."""

RANGES: dict[str, tuple[float, float]] = {"0..1": (0.0, 1.0), "0..255": (0.0, 255.0), "-1..1": (-1.0, 1.0)}
"""What black and white become, before mean and standard deviation."""

ORDERS = ("rgb", "bgr")
INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "lanczos", "box", "hamming")
PRESETS: dict[str, tuple[tuple[float, ...], tuple[float, ...]] | None] = {
    "imagenet": (IMAGENET_MEAN, IMAGENET_STD),
    "half": ((0.5,) * 3, (0.5,) * 3),
    "none": None,
}
"""Mean and standard deviation by name, for red, green and blue from 0 to 1."""


@dataclasses.dataclass(frozen=True)
class Preprocess(Known):
    """What is known of a network's pictures, and all that a person may choose besides.

    The steps, in order: `grey`, size (`fit`, `short_side`, `height` × `width`, or `resize` before the crop
    where `fit` is "stretch"), `value_range`, `order` of the channels, then (value − `mean`) / `std`, whose
    numbers are for values of that range in that order. `background` lies behind transparent places. `frames`
    is the length of a clip [1, C, frames, H, W], 0 for a picture. `pair`: two pictures are two arguments.
    """

    fit: str = "crop"
    resize: tuple[int, int] | None = None
    value_range: str = "0..1"
    order: str = "rgb"
    grey: bool = False
    background: str = "white"
    frames: int = 0
    pair: bool = False

    @staticmethod
    def of(known: Known) -> Preprocess:
        """Return what a model's card states as a recipe; a recipe is returned as it is."""
        if isinstance(known, Preprocess):
            return known
        return Preprocess(**{field.name: getattr(known, field.name) for field in dataclasses.fields(Known)})

    def changed(self, options: Mapping[str, Any]) -> Preprocess:
        """Return the recipe with `options` (`size="224x224"`, `fit`, `range`, …) instead of its own.

        Raises `HookViewerError` for an option or a value that there is not.
        """
        for name in options:
            reading.check(name, (*_READERS, "normalise"), "A picture")
        asked = {name: _READERS[name](name, value) for name, value in options.items() if name != "normalise"}
        return _normalised(_sized(self, asked), asked, options.get("normalise", "as known"))

    def options(self) -> dict[str, Any]:
        """Return all of the recipe as options of plain text and numbers, fit for JSON."""
        size = None if self.height is None or self.width is None else f"{self.height}x{self.width}"
        resize = None if self.resize is None else f"{self.resize[0]}x{self.resize[1]}"
        own = {name: _plain(getattr(self, _FIELDS.get(name, name))) for name in _READERS if name != "size"}
        return {"size": size, **own, "resize": resize}

    def query(self) -> str:
        """Return what stands behind the question mark of a spec to get this recipe for any model."""
        return "&".join(f"{name}={quote(_text(value), safe=',()')}" for name, value in self.options().items())

    @property
    def preset(self) -> str:
        """The name of its mean and standard deviation in `PRESETS`, else "custom"."""
        named = (name for name in PRESETS if _numbers(self, name) == (self.mean, self.std))
        return next(named, "custom")

    def normalised(self, preset: str) -> Preprocess:
        """Return the recipe with a mean and standard deviation of `PRESETS`, in its own range and order."""
        mean, std = _numbers(self, preset)
        return dataclasses.replace(self, mean=mean, std=std)


def from_options(options: Mapping[str, Any]) -> Preprocess:
    """Return the recipe that `Preprocess.options` gave; raises `HookViewerError` when it is none."""
    return Preprocess().changed(options)


def _size(name: str, value: Any) -> tuple[int, int] | None:
    return reading.size(name, value)


_FIELDS = {"range": "value_range"}
_READERS: dict[str, Any] = {
    "size": _size,
    "short_side": reading.side,
    "fit": reading.one_of(FITS),
    "resize": _size,
    "interpolation": reading.one_of(INTERPOLATIONS),
    "range": reading.one_of(RANGES),
    "order": reading.one_of(ORDERS),
    "grey": reading.yes_or_no,
    "background": reading.one_of(BACKGROUNDS),
    "channels": reading.number(1, 4),
    "multiple": reading.number(1, 1024),
    "frames": reading.number(0, 1024),
    "batch": reading.yes_or_no,
    "pair": reading.yes_or_no,
    "mean": reading.numbers,
    "std": reading.numbers,
}


def _sized(before: Preprocess, asked: Mapping[str, Any]) -> Preprocess:
    """Return the recipe with everything asked for but mean and std; one way to say a size ends the other."""
    changes = {_FIELDS.get(name, name): value for name, value in asked.items()}
    changes = {name: value for name, value in changes.items() if name not in ("size", "mean", "std")}
    if "size" in asked:
        height, width = asked["size"] or (None, None)
        changes = {"short_side": None, "resize": None, **changes, "height": height, "width": width}
    elif asked.get("short_side") is not None:
        changes = {**changes, "height": None, "width": None}
    return dataclasses.replace(before, **changes)


def _normalised(before: Preprocess, asked: Mapping[str, Any], preset: Any) -> Preprocess:
    if preset != "as known":
        name = "none" if preset is None else reading.one_of(PRESETS)("normalise", preset)
        return before.normalised(name)
    if "mean" not in asked and "std" not in asked:
        return before
    mean, std = asked.get("mean", before.mean), asked.get("std", before.std)
    if mean is None and std is None:
        return dataclasses.replace(before, mean=None, std=None)
    reading.no_zero(std)
    start = {"mean": (0.0,), "std": (1.0,)}
    return dataclasses.replace(
        before,
        mean=reading.spread("mean", mean or start["mean"], before.channels),
        std=reading.spread("std", std or start["std"], before.channels),
    )


def _numbers(preprocess: Preprocess, name: str) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
    numbers = PRESETS[name]
    if numbers is None:
        return None, None
    low, high = RANGES[preprocess.value_range]
    mean = tuple(low + value * (high - low) for value in numbers[0])
    std = tuple(value * (high - low) for value in numbers[1])
    if preprocess.channels == 1:
        return (round(sum(mean) / 3, 6),), (round(sum(std) / 3, 6),)
    return (mean, std) if preprocess.order == "rgb" else (mean[::-1], std[::-1])


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _text(value: Any) -> str:
    if isinstance(value, list):
        return f"({','.join(repr(number) for number in value)},)"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
