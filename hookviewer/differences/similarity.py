"""Linear CKA: how alike layers of two models are over a set of inputs, whatever their channels mean.

Kornblith, Norouzi, Lee and Hinton, "Similarity of Neural Network Representations Revisited", ICML 2019; the
unbiased estimate is that of Song et al. 2012, averaged over minibatches as Nguyen, Raghu and Kornblith 2021.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from hookviewer.kinds import Key
from hookviewer.recording import Recording

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True, eq=False)
class Gram:
    """The products of a layer's features for every two of n inputs, [n, n] in float64, not centred."""

    key: Key
    values: Array
    features: int


@dataclasses.dataclass(frozen=True, eq=False)
class Similarity:
    """The CKA of every layer of A with every layer of B: `values` [rows, columns], NaN where it is undefined.

    `rows` and `columns` are keys in order of execution. `inputs` is the number of inputs, `absent` says why a
    layer is not among them (of both), `notes` are sentences to read with the numbers.
    """

    rows: tuple[Key, ...]
    columns: tuple[Key, ...]
    values: Array
    inputs: int
    unbiased: bool = False
    absent: Mapping[Key, str] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class SimilaritySums:
    """What minibatches add up to; memory is rows × columns, whatever the number of inputs."""

    def added(self, a: Mapping[Key, Gram], b: Mapping[Key, Gram]) -> SimilaritySums:
        """Return the sums with one more minibatch (of 4 inputs or more); the same inputs in A and B."""
        raise NotImplementedError

    def similarity(self) -> Similarity:
        """Return the similarity over all minibatches so far (unbiased)."""
        raise NotImplementedError


def grams(recordings: Sequence[Recording], *, samples: int | None = None) -> dict[Key, Gram]:
    """Return the Gram matrix over all inputs of every output that all recordings hold.

    The inputs are the samples (the first axis) of all recordings in order; `samples` is their number in each.
    """
    raise NotImplementedError


def similarity(a: Mapping[Key, Gram], b: Mapping[Key, Gram], *, unbiased: bool = False) -> Similarity:
    """Return the linear CKA of every layer of A with every layer of B over the same inputs."""
    raise NotImplementedError


def cka(
    a: Sequence[Recording], b: Sequence[Recording] | None = None, *, unbiased: bool = False
) -> Similarity:
    """Return the linear CKA between all recorded outputs of two models over the same inputs.

    `a` and `b` are one recording per input (or per batch of inputs) in the same order; without `b`, the
    layers of `a` among themselves. Raises `HookViewerError` for fewer than 2 inputs (4 for `unbiased`).
    """
    raise NotImplementedError
