"""The first layer at which two runs go apart, and whether it made the difference or only passed it on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import StrEnum

import torch
from torch import nn

from hookviewer.differences.recordings import Difference
from hookviewer.kinds import Key
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording


class Verdict(StrEnum):
    """What one layer does to a difference."""

    AGREES = "agrees"
    PRODUCER = "producer"
    """Its inputs agree within the tolerance, its output does not."""
    PASSES_ON = "passes it on"
    """Its inputs are already apart."""
    APART = "apart"
    """Its output is apart; its inputs were not recorded."""
    UNKNOWN = "unknown"
    """Its values were not kept, and its statistics do not tell."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One call of one layer in both runs, in the order in which calls end.

    `distance` is the relative L2 distance of its output (the largest of its leaves), `input_distance` that of
    its inputs: both only a lower bound where `exact` is false, NaN where nothing is known. `output` and
    `input` are the full numbers where values were kept. `reason` says in words what the numbers do not.
    """

    key: Key
    path_b: str
    verdict: Verdict
    distance: float
    input_distance: float
    tolerance: float
    exact: bool = True
    output: Difference | None = None
    input: Difference | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        """What the layer does, in one sentence with its numbers."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Divergence:
    """All layers of two runs in order of execution, and the first that is apart (`None`: they agree).

    `certain` is false where a layer before the first could not be compared. `notes` are sentences.
    """

    steps: tuple[Step, ...]
    first: Step | None
    certain: bool = True
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        raise NotImplementedError


def divergence_plan(model: nn.Module) -> HookPlan:
    """Return the plan that records what `first_divergence` looks at: inputs and outputs of every module."""
    raise NotImplementedError


def tolerance_of(*dtypes: torch.dtype) -> float:
    """Return the relative L2 distance that rounding explains: that of the coarsest of `dtypes`."""
    raise NotImplementedError


def first_divergence(
    a: Recording,
    b: Recording,
    *,
    tolerance: float | None = None,
    matching: Mapping[str, str] | None = None,
) -> Divergence:
    """Return where two runs first go apart by more than `tolerance`, in order of execution.

    Looks at inputs and outputs of all modules that both recorded (`divergence_plan`). `tolerance` is a
    relative L2 distance, 0 for equal to the bit; by itself, that of the coarsest dtype on the way
    (`tolerance_of`). `matching` gives the path in B of a path in A, by itself the same path. Values that were
    not kept are compared by their statistics, which can show a difference but never that there is none.
    """
    raise NotImplementedError
