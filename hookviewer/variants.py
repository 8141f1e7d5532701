"""Variants of an open model: another checkpoint, dtype, device, mode or seed, beside the model itself."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from hookviewer.recording import Recording


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
        """The change in a few words: `bfloat16`, `step_1000.pt`, `train · seed 3`."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, eq=False)
class Made:
    """A variant that can be run: `model` is the open model itself where only its runs differ.

    `options` are the keyword arguments of `capture` that it needs (device, mode, seed), in `around()` its
    runs take place (automatic mixed precision).
    """

    model: nn.Module
    change: Change
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def around(self) -> contextlib.AbstractContextManager[Any]:
        """Return the context in which `capture` runs, on the same thread."""
        raise NotImplementedError

    def inputs(self, args: Any, kwargs: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the inputs as this variant takes them: floating-point tensors in its dtype."""
        raise NotImplementedError

    def capture(self, args: Any, plan: Any, **options: Any) -> Recording:
        """Run the variant once and return its records: `hooks.capture` with what the variant needs."""
        raise NotImplementedError


def made(model: nn.Module, change: Change, *, trust: bool = False) -> Made:
    """Return the variant of the open `model`, which stays as it is; call it on the model thread.

    Another checkpoint is the model opened again with other weights, another dtype a converted copy. Raises
    `HookViewerError` (`TrustNeeded`, `WeightsMismatch`) where it cannot be made.
    """
    raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A file of weights in a folder: `step` is the number in its name, `None` where there is none."""

    path: Path
    name: str
    step: int | None


def checkpoints(folder: str | Path) -> tuple[Checkpoint, ...]:
    """Return the files of weights in a folder by their steps (`step_1000.pt` → 1000), else by their names.

    A folder `checkpoint-500/` that holds weights counts, too. Raises `HookViewerError` when the folder cannot
    be read or holds none.
    """
    raise NotImplementedError
