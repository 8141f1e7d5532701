"""Names out of files, written so that they can stand in a sentence: they are text and nothing else."""

from __future__ import annotations

from collections.abc import Iterable


def shown(text: object, limit: int = 120) -> str:
    """Return `text` on one line: what a terminal would act on is spelled out, a long one is cut."""
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in _text(text))
    if len(plain) <= limit:
        return plain
    return f"{plain[: limit // 2]}…{plain[-(limit // 2) :]}"


def _text(text: object) -> str:
    # a name with halves of characters cannot be printed
    return str(text).encode("utf-8", "backslashreplace").decode()


def some(names: Iterable[str], most: int = 3) -> str:
    """Return the first names of many, and how many more there are."""
    all_names = list(names)
    more = len(all_names) - most
    return ", ".join(shown(name) for name in all_names[:most]) + (f" and {more} more" if more > 0 else "")


def spelled_shape(shape: Iterable[int]) -> str:
    """Return a shape for a person: `3×224×224`."""
    return "×".join(str(size) for size in shape) or "a single number"


def counted(number: int, thing: str) -> str:
    """Return `1 tensor` or `7 tensors`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
