"""Which columns of the module tree there is room for: names come first."""

from __future__ import annotations

from typing import NamedTuple

FULL_NAME = 140
"""Of a longer name so many pixels are shown before another column has to go."""
WIDEST_OUTPUT = 150


class Widths(NamedTuple):
    """The widths of the columns behind the name; 0 hides one."""

    type: int
    output: int
    parameters: int
    calls: int
    size: int


BY_WIDTH = (
    (548, Widths(150, 190, 70, 44, 60)),
    (400, Widths(116, 84, 0, 36, 46)),
    (358, Widths(108, 84, 0, 36, 0)),
    (0, Widths(86, 84, 0, 0, 0)),
)
"""From which width of the tree, without its scroll bar, there is room for so much, where names are short."""
_GIVE_WAY = (
    ("type", 108),
    ("size", 0),
    ("parameters", 0),
    ("calls", 0),
    ("type", 86),
    ("type", 60),
    ("type", 0),
    ("output", 0),
)
"""What goes first when names need the room, after the part of the shapes' column that is empty."""


def fitting(width: int, names: int, outputs: int) -> Widths:
    """Return the columns of a tree of this width; its names and its shapes need so many pixels."""
    widths = next(widths for least, widths in BY_WIDTH if width >= least)
    shapes = min(outputs, WIDEST_OUTPUT)
    widths = widths._replace(output=max(widths.output, shapes))
    for name, most in (("output", max(shapes, 84)), *_GIVE_WAY):
        if width - sum(widths) >= names:
            break
        widths = widths._replace(**{name: min(most, getattr(widths, name))})
    return widths
