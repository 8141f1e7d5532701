"""The attention of one call of one layer, and what a token of it looks at."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import torch

from hookviewer.attention.windows import Windows
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key
from hookviewer.recording import Record, Recording


@dataclasses.dataclass(frozen=True, eq=False)
class Attention:
    """The weights of one attention: `record` holds [N, heads, queries, keys].

    Where attention in windows is too large to be put back in place, it holds [N, windows, heads, tokens,
    tokens]. `grid` is (tokens before the grid, rows, columns) of the keys, None where they are no places of a
    picture. `deviation` is the largest difference between weights × values and what the layer itself made.
    """

    record: Record
    deviation: float
    grid: tuple[int, int, int] | None = None
    windows: Windows | None = None

    @property
    def heads(self) -> int:
        """The number of heads."""
        return self.record.shape[-3]

    @property
    def tokens(self) -> int:
        """The number of queries."""
        return self.windows.rows * self.windows.columns if self.windows else self.record.shape[-2]

    def row(self, sample: int, token: int) -> torch.Tensor:
        """Return what one token looks at, [heads, keys]."""
        if not 0 <= token < self.tokens:
            raise HookViewerError(f"There is no token {token}: choose one of 0 to {self.tokens - 1}.")
        weights = self.record.tensor()[sample]
        if self.windows is not None and weights.dim() == 4:
            return self.windows.row(weights, token)
        return weights[:, token]

    def picture(self, sample: int, token: int) -> torch.Tensor:
        """Return what one token looks at as maps [heads, rows, columns], without those that have no place."""
        if self.grid is None:
            raise HookViewerError("These tokens are no places of a picture: look at their row instead.")
        leading, rows, columns = self.grid
        return self.row(sample, token)[:, leading:].reshape(-1, rows, columns)

    def token_at(self, row: int, column: int) -> int:
        """Return the token that stands for a cell of the grid."""
        if self.grid is None:
            raise HookViewerError("These tokens are no places of a picture: choose one by its number.")
        leading, rows, columns = self.grid
        if not (0 <= row < rows and 0 <= column < columns):
            raise HookViewerError(f"There is no cell {row}, {column}: the grid is {rows}×{columns}.")
        return leading + row * columns + column


@dataclasses.dataclass(frozen=True, eq=False)
class Attentions(Mapping[Key, Attention]):
    """All attention of one run, in the order in which it happened; `recording` holds the same records."""

    recording: Recording
    found: Mapping[Key, Attention]

    def __getitem__(self, key: Key) -> Attention:
        return self.found[self.recording[key].key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def at(self, path: str, call: int = 0) -> tuple[Attention, ...]:
        """Return the attention of one call of a layer: one for most, none where there was none."""
        path = self.recording.aliases.get(path, path)
        return tuple(one for key, one in self.found.items() if (key.path, key.call) == (path, call))
