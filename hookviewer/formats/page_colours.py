"""The colours of a page: its ground, its words, and those of plots."""

from __future__ import annotations

import functools
import json

from hookviewer.resources import resource

Colour = tuple[int, int, int, int]


@functools.cache
def page_colours(page: str) -> dict[str, Colour]:
    """Return the colours of a page (one of `PAGES`) by what they are for, RGBA; those of the theme."""
    theme = json.loads(resource("theme.json").read_text(encoding="utf-8"))
    tokens = theme["dark" if page == "dark" else "light"]
    ground = {"white": (255, 255, 255, 255), "dark": _colour(tokens["panel"]), "clear": (255, 255, 255, 0)}[
        page
    ]
    named = {"text": "text", "text_2": "text_2", "ink": "accent", "line": "border_strong", "tile": "sunken"}
    if page == "clear":
        return {
            "ground": ground,
            **{name: _colour(tokens[token]) for name, token in named.items()},
            "tile": ground,
        }
    return {"ground": ground, **{name: _colour(tokens[token]) for name, token in named.items()}}


def _colour(code: str) -> Colour:
    red, green, blue = (int(code[place : place + 2], 16) for place in (1, 3, 5))
    return red, green, blue, 255
