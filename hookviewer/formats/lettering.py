"""Words and numbers in figures."""

from __future__ import annotations

import math
from typing import Any


def number(value: float) -> str:
    """Return about four digits with a true minus: `1.734`, `−0.02134`, `3.1e−5`, `NaN`, `−inf`."""
    if math.isnan(value):
        return "NaN"
    return _digits(value).replace("-", "−")


def _digits(value: float) -> str:
    size = abs(value)
    if size == 0 or math.isinf(size):
        return f"{value:.0f}".removeprefix("-" if size == 0 else "")
    if size < 1e-3 or size >= 1e5:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    if size < 0.1:
        return f"{value:.4g}"
    return f"{value:.3f}" if size < 100 else f"{value:.1f}"


def broken(line: str, face: Any, width: int) -> list[str]:
    """Return a line in parts that fit; broken at spaces, inside a word only where that is too long.

    A number and its % stay together.
    """
    parts: list[str] = []
    line = line.replace(" %", "\u00a0%")
    while line and face.getlength(line) > width:
        fits = max(1, next(n for n in range(len(line), -1, -1) if face.getlength(line[:n]) <= width))
        space = line.rfind(" ", 1, fits + 1)
        cut = space if space > 0 else fits
        parts.append(line[:cut].rstrip())
        line = line[cut:].lstrip()
    return [part.replace("\u00a0", " ") for part in ([*parts, line] if line else parts)]
