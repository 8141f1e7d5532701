"""Numbers as the window writes them: four digits, a true minus, ×, sizes and times in words."""

from __future__ import annotations

from collections.abc import Sequence

from hookviewer.formats.lettering import number

__all__ = ["count", "number", "seconds", "shape", "size"]

_KILO = 1024
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def shape(sizes: Sequence[int]) -> str:
    """Return a shape as `96×160×240`; `scalar` for none."""
    return "×".join(str(size) for size in sizes) if sizes else "scalar"


def size(count: float) -> str:
    """Return a number of bytes as `243 MB`, `2.1 GB` or `2 GB`."""
    unit = 0
    while count >= 999.5 and unit < len(_UNITS) - 1:
        count /= _KILO
        unit += 1
    digits = f"{count:.1f}" if unit and count < 10 and abs(count - round(count)) >= 0.05 else f"{count:.0f}"
    return f"{digits} {_UNITS[unit]}"


def count(amount: int) -> str:
    """Return a count of parameters as `864`, `34.1 k`, `3.5 M`."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if amount >= unit:
            return f"{amount / (unit if name != 'k' else 1e3):.1f} {name}"
    return str(amount)


def seconds(duration: float) -> str:
    """Return a time as `85 ms`, `1.1 s`, `2 min 5 s`."""
    if duration < 0.9995:
        return f"{duration * 1000:.0f} ms"
    if duration < 60:
        return f"{duration:.1f} s"
    return f"{int(duration // 60)} min {int(duration % 60)} s"
