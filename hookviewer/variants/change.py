"""In what a variant differs from the open model."""

from __future__ import annotations

import dataclasses
from pathlib import PurePath

import torch


@dataclasses.dataclass(frozen=True)
class Change:
    """In what a variant differs from the open model; `None`: in nothing.

    `weights` is a file of weights of the same architecture, `spec` another model, `dtype` the type of a
    converted copy, `autocast` the type of torch's automatic mixed precision for its runs; `device`, `mode`
    and `seed` are those of its runs.
    """

    weights: str | None = None
    weights_allow: tuple[str, ...] = ()
    spec: str | None = None
    dtype: torch.dtype | None = None
    autocast: torch.dtype | None = None
    device: str | None = None
    mode: str | None = None
    seed: int | None = None

    @property
    def name(self) -> str:
        """The change in a few words: `bfloat16`, `step_1000.pt`, `train · seed 3`; empty for none."""
        words = (
            self.spec,
            self.weights and PurePath(self.weights).name,
            self.dtype and _word(self.dtype),
            self.autocast and f"autocast {_word(self.autocast)}",
            self.device,
            self.mode,
            None if self.seed is None else f"seed {self.seed}",
        )
        return " · ".join(word for word in words if word)


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
