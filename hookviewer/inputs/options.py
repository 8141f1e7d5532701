"""Reading the values of options, each with its own sentence when it is none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from hookviewer.errors import HookViewerError
from hookviewer.inputs.dimensions import parse_shape

MOST_PIXELS = 1 << 15


def check(name: str, known: Iterable[str], what: str) -> None:
    """Raise a sentence when there is no option `name`."""
    names = list(known)
    if name not in names:
        raise HookViewerError(f"{what} has no option {name!r}: choose one of {', '.join(names)}.")


def size(name: str, value: Any) -> tuple[int, int] | None:
    """Return height and width of `"224x320"`, of a square where it is one number, `None` for none."""
    if value is None:
        return None
    text = str(value)
    height, width = parse_shape(f"{text}x{text}" if text.isdecimal() else text, 2)
    if height * width == 0:
        raise HookViewerError(f"{name}={value} leaves no pixels at all: write height x width.")
    if max(height, width) > MOST_PIXELS:
        raise HookViewerError(f"{name}={value} is too large: write at most {MOST_PIXELS} pixels a side.")
    return height, width


def side(name: str, value: Any) -> int | None:
    """Return a number of pixels, `None` for none."""
    if value is None:
        return None
    if not _whole(value) or not 0 < value <= MOST_PIXELS:
        raise HookViewerError(f"{name}={value!r} is no number of pixels: write one from 1 to {MOST_PIXELS}.")
    return int(value)


def number(low: int, high: int) -> Callable[[str, Any], int]:
    """Return the reader of a whole number from `low` to `high`."""

    def read(name: str, value: Any) -> int:
        if not _whole(value) or not low <= value <= high:
            raise HookViewerError(f"{name}={value!r} is not known: write a whole number, {low} to {high}.")
        return int(value)

    return read


def one_of(words: Collection[str]) -> Callable[[str, Any], str]:
    """Return the reader of one of some words."""

    def read(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            known = list(words)
            told = f"{', '.join(known[:-1])} or {known[-1]}"
            raise HookViewerError(f"{name}={value!r} is not known: write {told}.")
        return value

    return read


def yes_or_no(name: str, value: Any) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise HookViewerError(f"{name}={value!r} is not known: write true or false.")
    return value


def numbers(name: str, value: Any) -> tuple[float, ...] | None:
    """Return numbers, one for each channel or one for all; `None` for none."""
    if value is None:
        return None
    values = value if isinstance(value, tuple | list) else (value,)
    if not values or len(values) > 4 or not all(_number(one) for one in values):
        raise HookViewerError(f"{name}={value!r} is no number for each channel: write (0.5, 0.5, 0.5).")
    return tuple(float(one) for one in values)


def spread(name: str, values: tuple[float, ...], channels: int) -> tuple[float, ...]:
    """Return one number for each channel."""
    if len(values) not in (1, channels):
        shown = f"({', '.join(f'{value:g}' for value in values)})"
        raise HookViewerError(
            f"{name}={shown} is not one number for each of {channels} channels: write (0.5, 0.5, 0.5)."
        )
    return values * channels if len(values) == 1 else values


def no_zero(std: tuple[float, ...] | None) -> None:
    """Raise a sentence when a value would be divided by 0."""
    if 0 in (std or ()):
        raise HookViewerError("std must not be 0: the values are divided by it.")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e30
