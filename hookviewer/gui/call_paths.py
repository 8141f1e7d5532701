"""Where a path lies: what holds a module or makes a functional call, and the words on the way there. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hookviewer.kinds import Functional


def parent_of(path: str) -> str:
    """Return the path of what holds `path`: `layer1.0` for both `layer1.0.conv1` and `layer1.0:add#0`."""
    call = Functional.of(path)
    return path.rpartition(".")[0] if call is None else call.module


def above(path: str) -> Iterator[str]:
    """Yield the paths above `path`, the model itself last."""
    while path:
        path = parent_of(path)
        yield path


def steps_of(path: str) -> list[tuple[str, str]]:
    """Return each part of a path and the path that ends with it: `[("0", "layer1.0"), ("add#0", …)]`."""
    paths = [*([path] if path else []), *(one for one in above(path) if one)][::-1]
    return [(one[len(parent_of(one)) :].lstrip(".:"), one) for one in paths]


def words_of(path: str) -> list[str]:
    """Return the parts of a path."""
    return [word for word, _ in steps_of(path)]
