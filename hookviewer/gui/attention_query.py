"""What one token attends to: per head, on average over the heads, or through all layers. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import torch
from PySide6.QtCore import QCoreApplication

from hookviewer.attention import Attention, entropy, rollout
from hookviewer.errors import HookViewerError
from hookviewer.gui.remembered import remembered

MEAN, HEAD, ROLLOUT = "mean", "head", "rollout"
WAYS = (MEAN, HEAD, ROLLOUT)
"""What lies over the picture: the mean of the heads, the selected head, or the rollout over layers."""


@dataclasses.dataclass(frozen=True, eq=False)
class Query:
    """What one token attends to: `heads` [heads, keys] float32, and `seen` [keys] in the way that is shown.

    `grid` is (tokens before the grid, rows, columns) of the keys, None where they are no places. `of_grid`
    says whether the queries are the same tokens as the keys. `entropies` are those of this token's rows, in
    bits. `reason` says why there is no rollout where that was asked for.
    """

    token: int
    tokens: int
    heads: torch.Tensor
    seen: torch.Tensor
    way: str
    grid: tuple[int, int, int] | None
    of_grid: bool
    entropies: tuple[float, ...]
    reason: str = ""

    @property
    def place(self) -> tuple[int, int] | None:
        """The row and the column of the token in the grid; None of a class token, or without a grid."""
        return self.place_of(self.token) if self.of_grid else None

    def place_of(self, token: int) -> tuple[int, int] | None:
        """Return the row and the column of a token in the grid; None where it has none."""
        if self.grid is None or token < self.grid[0]:
            return None
        return divmod(token - self.grid[0], self.grid[2])

    def picture(self, weights: torch.Tensor) -> torch.Tensor:
        """Return weights [..., keys] as maps [..., rows, columns], without those that have no place."""
        if self.grid is None:
            raise HookViewerError("These tokens are no places of a picture.")
        leading, rows, columns = self.grid
        maps: torch.Tensor = weights[..., leading:]
        return maps.reshape(*maps.shape[:-1], rows, columns)

    def strongest(self, count: int) -> tuple[tuple[int, float], ...]:
        """Return the keys with the largest weights, largest first."""
        weights, places = self.seen.sort(descending=True, stable=True)
        return tuple(zip(places[:count].tolist(), weights[:count].tolist(), strict=True))


def query_of(
    one: Attention, sample: int, token: int, way: str, head: int, layers: Iterable[Attention] = ()
) -> Query:
    """Return what a token of an attention looks at; `layers` are those that a rollout goes through."""
    sample = min(sample, one.record.shape[0] - 1)
    token = min(max(token, 0), one.tokens - 1)
    heads = _row(one, sample, token)
    seen, reason = heads.mean(0), ""
    if way == HEAD:
        seen = heads[min(head, len(heads) - 1)]
    elif way == ROLLOUT:
        try:
            seen = rolled(one, tuple(layers))[sample, token].float()
        except HookViewerError as error:
            reason = str(error)
    of_grid = one.tokens == heads.shape[-1]
    bits = tuple(entropy(heads[None, :, None])[0].tolist())
    return Query(token, one.tokens, heads, seen, way, one.grid, of_grid, bits, reason)


def _row(one: Attention, sample: int, token: int) -> torch.Tensor:
    """Return a row of each head; of weights in their place without a copy of all of them."""
    kept = one.record.kept
    if kept is None or kept.dim() != 4:
        return one.row(sample, token).float()
    return kept[sample, :, token].clone().float()


def first_token(one: Attention) -> int:
    """Return the token to begin with: the class token where there is one, else the middle of the grid."""
    if one.grid is None or one.grid[0]:
        return 0
    return one.token_at(one.grid[1] // 2, one.grid[2] // 2)


@remembered(4)
def rolled(last: Attention, layers: tuple[Attention, ...]) -> torch.Tensor:
    """Return the rollout [N, tokens, tokens] from the first of the layers to `last`.

    Raises `HookViewerError` where a layer has other tokens or attends within windows that are not put back.
    """
    until = [*layers[: layers.index(last)], last] if last in layers else [last]
    whole = [one for one in until if one.record.kept is not None and one.record.shape[-2:] == _tokens(last)]
    if len(whole) < len(until):
        words = _tr(
            "Rollout needs the same tokens in every layer: {} of {} layers until here have others. "
            "Tick layers with as many tokens as this one, and choose the ticked ones only."
        )
        raise HookViewerError(words.format(len(until) - len(whole), len(until)))
    return rollout([one.record.tensor().double() for one in until])


def _tokens(one: Attention) -> tuple[int, int]:
    return one.tokens, one.tokens


def check_words(one: Attention, dtype: torch.dtype) -> str:
    """Return a sentence where the rebuilt attention does not make what the layer itself made; else nothing.

    `dtype` is the one that the model computes in: what differs by its rounding is no difference.
    """
    if one.deviation <= torch.finfo(dtype).eps ** 0.5:
        return ""
    return _tr(
        "Weights × values differ from what the layer made by {:.2g}: it does more than attend (dropout, "
        "a gate, …), so read these weights with care."
    ).format(one.deviation)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Attention", text)
