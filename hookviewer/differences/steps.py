"""What each layer does to a difference between two runs, in numbers and in a sentence."""

from __future__ import annotations

import dataclasses
import math
from enum import StrEnum

import torch

from hookviewer.kinds import Key

_GROWN = 0.1
"""The share of an output's distance that its inputs must have to explain it."""


class Verdict(StrEnum):
    """What one layer does to a difference."""

    AGREES = "agrees"
    PRODUCER = "producer"
    """Its inputs agree within the tolerance, its output does not."""
    PASSES_ON = "passes it on"
    """Its inputs are already apart."""
    APART = "apart"
    """Its output is apart; whether its inputs are is not known."""
    UNKNOWN = "unknown"
    """Its values were not kept, and its statistics do not tell."""


BEYOND = frozenset({Verdict.PRODUCER, Verdict.PASSES_ON, Verdict.APART})
"""The verdicts on layers whose output is apart by more than the tolerance."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One call of one layer in both runs, in the order in which calls end.

    `distance` is the relative L2 distance of its output (the largest of its leaves), `input_distance` that of
    its inputs: only lower bounds where `exact` and `input_exact` are false, NaN where nothing is known. They
    are infinite where shapes are not alike or values are finite in one run only. `reason` says
    in words what the numbers do not.
    """

    key: Key
    path_b: str
    verdict: Verdict
    distance: float
    input_distance: float
    tolerance: float
    exact: bool = True
    input_exact: bool = True
    reason: str = ""
    dtypes: tuple[torch.dtype, torch.dtype] | None = None

    @property
    def sentence(self) -> str:
        """What the layer does, in words with its numbers."""
        return " ".join(filter(None, (f"{self.title} {self._does}", self._grown, self.reason)))

    @property
    def _grown(self) -> str:
        if self.verdict is not Verdict.PRODUCER or self.input_distance < _GROWN * self.distance:
            return ""
        times = self.distance / self.input_distance
        return f"It makes what comes in {times:.2g} times larger: perhaps rounding that adds up."

    @property
    def title(self) -> str:
        """The layer's path, with the call where it is not the first."""
        call = f" (call {self.key.call + 1})" if self.key.call else ""
        return f"{self.key.path or 'The model'}{call}"

    @property
    def _does(self) -> str:
        output = f"its output is {_worded(self.distance, self.exact)} apart (tolerance {self.tolerance:.2g})."
        inputs = _worded(self.input_distance, self.input_exact)
        match self.verdict:
            case Verdict.AGREES:
                return f"agrees: {output}"
            case Verdict.PRODUCER:
                return f"is the producer: its inputs agree ({inputs} apart), {output}"
            case Verdict.PASSES_ON:
                return f"passes it on: its inputs are already {inputs} apart, {output}"
            case Verdict.APART:
                return (
                    f"is apart: {output} Whether its inputs agree is not known: their values were not kept."
                )
            case Verdict.UNKNOWN:
                return "could not be compared."


@dataclasses.dataclass(frozen=True)
class Divergence:
    """All layers of two runs in order of execution, and the first that is apart (`None`: they agree).

    Where a module's own code (and not a module inside) makes the difference, `first` is that module, and
    `shows_at` the layer inside that first gets inputs that are apart; else `shows_at` is `first`.
    `certain` is false where a layer before the first (or any, where they agree) could not be compared.
    `retyped` is the first layer that computes in another dtype in B than in A. `notes` are sentences.
    """

    steps: tuple[Step, ...]
    first: Step | None
    certain: bool = True
    shows_at: Step | None = None
    retyped: Step | None = None
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        if self.first is not None:
            return self.first.sentence
        compared = sum(step.verdict is Verdict.AGREES for step in self.steps)
        return f"No layer is apart: {compared} of {len(self.steps)} compared agree."

    @property
    def producers(self) -> tuple[Step, ...]:
        """All layers that make a difference of their own, in order of execution."""
        return tuple(step for step in self.steps if step.verdict is Verdict.PRODUCER)


def _worded(value: float, exact: bool) -> str:
    size = "infinitely far" if math.isinf(value) else f"{value:.2g}"
    return size if exact else f"at least {size}"
