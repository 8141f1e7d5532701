"""Linear CKA: how alike layers of two models are over a set of inputs, whatever their channels mean.

Kornblith, Norouzi, Lee and Hinton, "Similarity of Neural Network Representations Revisited", ICML 2019; the
unbiased estimate is that of Song et al., "Feature Selection via Dependence Maximization", JMLR 2012, and its
mean over minibatches that of Nguyen, Raghu and Kornblith, "Do Wide and Deep Networks Learn the Same Things?",
ICLR 2021.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer.differences.grams import Gram, Grams, grams
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key
from hookviewer.recording import Recording

Array = npt.NDArray[Any]

_FEW = {False: 2, True: 4}
"""The fewest inputs of the biased and of the unbiased estimate."""


@dataclasses.dataclass(frozen=True, eq=False)
class Similarity:
    """The CKA of every layer of A with every layer of B: `values` [rows, columns], NaN where it is undefined.

    `rows` and `columns` are keys in order of execution. `inputs` is the number of inputs, `absent_a` and
    `absent_b` say why a layer is not among them, `notes` are sentences to read with the numbers.
    """

    rows: tuple[Key, ...]
    columns: tuple[Key, ...]
    values: Array
    inputs: int
    unbiased: bool = False
    absent_a: Mapping[Key, str] = dataclasses.field(default_factory=dict)
    absent_b: Mapping[Key, str] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("absent_a", "absent_b"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


@dataclasses.dataclass(frozen=True, eq=False)
class SimilaritySums:
    """What minibatches add up to; memory is rows × columns, whatever the number of inputs."""

    rows: tuple[Key, ...] = ()
    columns: tuple[Key, ...] = ()
    shared: Array | None = None
    own_a: Array | None = None
    own_b: Array | None = None
    inputs: int = 0
    batches: int = 0

    def added(self, a: Grams, b: Grams) -> SimilaritySums:
        """Return the sums with one more minibatch (of 4 inputs or more); the same inputs in A and B.

        Raises `HookViewerError` for fewer inputs, and for layers that earlier minibatches did not have.
        """
        count = _inputs(a, b, unbiased=True)
        if self.batches and (self.rows, self.columns) != (tuple(a), tuple(b)):
            raise HookViewerError("Each minibatch must record the same layers: use one plan for all.")
        rows, columns = _centred(a, unbiased=True), _centred(b, unbiased=True)
        scale = 1 / (count * (count - 3))
        return SimilaritySums(
            tuple(a),
            tuple(b),
            _plus(self.shared, rows @ columns.T * scale),
            _plus(self.own_a, _squares(rows) * scale),
            _plus(self.own_b, _squares(columns) * scale),
            self.inputs + count,
            self.batches + 1,
        )

    def similarity(self) -> Similarity:
        """Return the similarity over all minibatches so far (unbiased)."""
        if self.shared is None or self.own_a is None or self.own_b is None:
            raise HookViewerError("There is no minibatch yet: add at least one of 4 inputs or more.")
        values = _normalised(self.shared, self.own_a, self.own_b)
        notes = _undefined(values)
        return Similarity(self.rows, self.columns, values, self.inputs, unbiased=True, notes=notes)


def similarity(a: Grams, b: Grams, *, unbiased: bool = False) -> Similarity:
    """Return the linear CKA of every layer of A with every layer of B over the same inputs.

    Raises `HookViewerError` for fewer than 2 inputs (4 for `unbiased`), or other inputs in A than in B.
    """
    count = _inputs(a, b, unbiased=unbiased)
    rows, columns = _centred(a, unbiased=unbiased), _centred(b, unbiased=unbiased)
    values = _normalised(rows @ columns.T, _squares(rows), _squares(columns))
    notes = (*_undefined(values), *(() if unbiased else _too_few(count, a, b)))
    return Similarity(tuple(a), tuple(b), values, count, unbiased, a.absent, b.absent, notes)


def cka(
    a: Sequence[Recording],
    b: Sequence[Recording] | None = None,
    *,
    samples: int | None = None,
    unbiased: bool = False,
) -> Similarity:
    """Return the linear CKA between all recorded outputs of two models over the same inputs.

    `a` and `b` are one recording per input (or per batch of inputs) in the same order; without `b`, the
    layers of `a` among themselves. A layer with itself is 1, also after a rotation of its features. The plain
    estimate is too large where inputs are fewer than features, `unbiased` is not. `samples` is the number of
    inputs in each recording (see `grams`). Raises `HookViewerError` for fewer than 2 inputs (4 for
    `unbiased`).
    """
    first = grams(a, samples=samples)
    second = first if b is None else grams(b, samples=samples)
    return similarity(first, second, unbiased=unbiased)


def _inputs(a: Grams, b: Grams, *, unbiased: bool) -> int:
    if a.inputs != b.inputs:
        raise HookViewerError(
            f"A has {a.inputs} inputs and B has {b.inputs}: layers can be compared over the same inputs only."
        )
    if a.inputs < _FEW[unbiased]:
        raise HookViewerError(
            f"CKA needs at least {_FEW[unbiased]} inputs, here there are {a.inputs}: tick more of them."
        )
    return a.inputs


def _centred(of: Grams, *, unbiased: bool) -> Array:
    """Return the centred Gram matrix of each layer as one row, [layers, n²]; 0 for a constant layer."""
    rows = [_row(gram, unbiased=unbiased) for gram in of.values()]
    return np.stack(rows) if rows else np.empty((0, of.inputs**2))


def _row(gram: Gram, *, unbiased: bool) -> Array:
    if gram.constant:
        return np.zeros(gram.values.size)
    return (_unbiased(gram.values) if unbiased else gram.values).reshape(-1)


def _unbiased(gram: Array) -> Array:
    """Return the U-centred matrix (Székely and Rizzo 2014): its products are the unbiased HSIC."""
    count = len(gram)
    hollow = gram.copy()
    np.fill_diagonal(hollow, 0)
    across = hollow.sum(axis=0) / (count - 2)
    found = hollow - across - across[:, None] + hollow.sum() / ((count - 1) * (count - 2))
    np.fill_diagonal(found, 0)
    return np.asarray(found)


def _squares(rows: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _plus(sums: Array | None, more: Array) -> Array:
    return more if sums is None else sums + more


def _normalised(shared: Array, own_a: Array, own_b: Array) -> Array:
    size = np.sqrt(own_a)[:, None] * np.sqrt(own_b)
    found: Array = np.divide(shared, size, where=size > 0, out=np.full(shared.shape, np.nan))
    return found


def _undefined(values: Array) -> tuple[str, ...]:
    if not np.isnan(values).any():
        return ()
    return ("Some layers have no CKA: they are the same for all inputs, or hold NaN or infinity.",)


def _too_few(count: int, a: Grams, b: Grams) -> tuple[str, ...]:
    features = max((gram.features for gram in (*a.values(), *b.values())), default=0)
    if features <= count:
        return ()
    return (
        f"{count} inputs are fewer than the {features:,} features of the largest layer: the plain estimate "
        "is then too large for all layers. Add inputs, or choose the unbiased one.",
    )
