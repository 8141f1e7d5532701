"""What the attention page draws: a query, the picture below it, and the scale that all of it shares. Pure."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QImage

from hookviewer import render
from hookviewer.attention import Attention
from hookviewer.gui import blending
from hookviewer.gui.attention_query import HEAD, ROLLOUT, Query, rolled
from hookviewer.gui.numbers import number
from hookviewer.gui.remembered import remembered
from hookviewer.gui.wall import geometry

if TYPE_CHECKING:
    from PIL.Image import Image

OPACITY = 0.8
SHARE = 0.99
"""The share of the weights that lies inside the scale."""
LEAST_SHARE = 0.25
"""The scale ends at least at so much of the largest weight: what is next to nothing stays dark."""
COLOURMAP = "magma"
Levels = tuple[float, float]
Values = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """One query of one attention. `words` are those of the keys where they are no places of a picture.

    `asking` are those of the queries where these are other tokens than the keys. `layers` are what a rollout
    goes through, `head` is the selected head, `order` that of the heads.
    """

    attention: Attention
    query: Query
    picture: Image | None
    sample: int
    head: int
    order: tuple[int, ...]
    layers: tuple[Attention, ...] = ()
    words: tuple[str, ...] = ()
    asking: tuple[str, ...] = ()

    @property
    def levels(self) -> Levels:
        """The scale of all heads, from zero; a few of the largest weights may lie above it."""
        return 0.0, _peak(self.query, self.query.heads)

    @property
    def seen_levels(self) -> Levels:
        """The scale of what lies over the picture: that of the heads for a head, else its own."""
        return self.levels if self.query.way == HEAD else (0.0, _peak(self.query, self.query.seen))

    def matrix(self) -> Values | None:
        """Return all rows [queries, keys] in the way that is shown; None where windows are not put back."""
        if self.attention.record.kept is None or len(self.attention.record.shape) != 4:
            return None
        if self.query.way == ROLLOUT:
            return None if self.query.reason else _rolled(self.attention, self.layers)[self.sample]
        weights = _weights(self.attention)[self.sample]
        one: Values = weights[min(self.head, len(weights) - 1)] if self.query.way == HEAD else weights.mean(0)
        return one

    @property
    def shape(self) -> float:
        """The height of a tile of the heads for a width of 1."""
        if self.query.grid is None:
            return 0.2
        if self.picture is not None:
            return self.picture.height / self.picture.width
        return geometry.shape_of(*self.query.grid[1:])

    def tile(self, weights: torch.Tensor) -> Values:
        """Return weights [keys] as cells: in the grid, or in one row where there is none."""
        cells = weights[None] if self.query.grid is None else self.query.picture(weights)
        found: Values = cells.numpy()
        return found

    def token_words(self, token: int) -> str:
        """Return what a key is: its row and column, its word, or that it stands before the grid."""
        place = self.query.place_of(token)
        if place is not None:
            return _tr("row {}  column {}").format(*place)
        if self.query.grid is not None:
            return _tr("class token") if token == 0 else _tr("register {}").format(token)
        return self.words[token] if token < len(self.words) else ""

    def asked_words(self, token: int) -> str:
        """Return what a query is."""
        if self.query.of_grid:
            return self.token_words(token)
        return self.asking[token] if token < len(self.asking) else ""


def overlaid(
    values: Values, levels: Levels, under: blending.Pixels | None, width: int, height: int
) -> QImage:
    """Return cells over a grey picture, `width` × `height` pixels; the cells alone without a picture."""
    cells = blending.blocky(values, height, width)
    colours = np.ascontiguousarray(render.to_rgba(cells, levels, COLOURMAP)[..., :3])
    if under is not None:
        colours = blending.mixed(colours, under, blending.strength(cells, levels), OPACITY)
    return QImage(colours.tobytes(), width, height, width * 3, QImage.Format.Format_RGB888).copy()


def heads_in_order(query: Query, sort: str) -> tuple[int, ...]:
    """Return the heads by number, the most focused first (`entropy`), or by their largest weight (`max`)."""
    numbers = {"entropy": query.entropies, "max": [-float(one.max()) for one in query.heads]}
    keys = numbers.get(sort)
    every = range(len(query.heads))
    return tuple(every if keys is None else sorted(every, key=keys.__getitem__))


def strongest_words(query: Query, count: int = 3) -> str:
    """Return the keys with the largest weights in a line."""
    said = ", ".join(f"{key} ({weight:.3f})" for key, weight in query.strongest(count))
    return _tr("attends most to {}").format(said)


def scale_words(levels: Levels) -> str:
    """Return what the first and the last colour stand for."""
    return _tr("0 to {}").format(number(levels[1]))


def entropy_words(query: Query) -> str:
    """Return how widely the heads look."""
    low, high = min(query.entropies), max(query.entropies)
    return _tr("entropy {:.1f} to {:.1f} bit of {:.1f}").format(low, high, np.log2(query.heads.shape[-1]))


def _peak(query: Query, weights: torch.Tensor) -> float:
    placed = weights if query.grid is None else weights[..., query.grid[0] :]
    largest = float(placed.max())
    usual = float(np.quantile(placed.numpy(), SHARE))
    return max(usual, LEAST_SHARE * largest, 1e-12)


@remembered(2)
def _weights(one: Attention) -> Values:
    return one.record.array().astype(np.float32, copy=False)


@remembered(2)
def _rolled(last: Attention, layers: tuple[Attention, ...]) -> Values:
    return rolled(last, layers).float().numpy()


class Greys:
    """The grey picture in the size that was last asked for."""

    def __init__(self) -> None:
        self._kept: tuple[object, blending.Pixels] | None = None

    def of(self, picture: Image | None, width: int, height: int) -> blending.Pixels | None:
        """Return a picture in grey, uint8 [height, width]; None without one."""
        if picture is None:
            return None
        if self._kept is None or self._kept[0] is not picture or self._kept[1].shape != (height, width):
            self._kept = (picture, blending.photograph(picture, width, height))
        return self._kept[1]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Attention", text)
