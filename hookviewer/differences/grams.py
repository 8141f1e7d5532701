"""Gram matrices: the products of a layer's features for every two inputs."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Recording

Array = npt.NDArray[Any]

_AT_ONCE = 1 << 21
"""Values that are in float64 at a time."""
_ROUNDING = 1e-26
"""The share of squares that is left by rounding when a constant is centred."""


@dataclasses.dataclass(frozen=True, eq=False)
class Gram:
    """The products of a layer's centred features for every two of n inputs, [n, n] in float64.

    Each feature has mean 0 over the inputs, which centres the matrix, too. NaN where a value is not finite;
    `constant` where the features are the same for all inputs.
    """

    values: Array
    features: int
    constant: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class Grams(Mapping[Key, Gram]):
    """The Gram matrices of all layers over the same inputs, and why a layer has none. Memory: n² a layer."""

    layers: Mapping[Key, Gram]
    inputs: int
    absent: Mapping[Key, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("layers", "absent"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __getitem__(self, key: Key) -> Gram:
        return self.layers[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)


def grams(recordings: Sequence[Recording], *, samples: int | None = None) -> Grams:
    """Return the Gram matrix over all inputs of every output that all recordings hold.

    The inputs are the samples of all recordings in order: of a recording of one sample all values of a layer,
    else the rows of its first axis. `samples` is their number in each recording, by itself the length of the
    first axis that most of its outputs have. A layer is absent where that axis is another one, values were
    not kept or their number changes from input to input.
    """
    counts = [_samples(one) if samples is None else samples for one in recordings]
    keys = dict.fromkeys(key for one in recordings for key in one if key.kind is Kind.OUTPUT)
    layers: dict[Key, Gram] = {}
    absent: dict[Key, str] = {}
    for key in keys:
        try:
            layers[key] = gram(
                [_rows(one, key, count) for one, count in zip(recordings, counts, strict=True)]
            )
        except HookViewerError as error:
            absent[key] = str(error)
    return Grams(layers, sum(counts), absent)


def gram(rows: Sequence[Array]) -> Gram:
    """Return the Gram matrix of inputs [n₁, features], [n₂, features], … one after another."""
    widths = sorted({part.shape[1] for part in rows})
    if len(widths) > 1:
        raise HookViewerError(
            f"It has {widths[0]:,} values for one input and {widths[-1]:,} for another: "
            "use inputs of one size."
        )
    count, features = sum(map(len, rows)), widths[0] if widths else 0
    products, size = np.zeros((count, count)), 0.0
    step = max(1, _AT_ONCE // max(count, 1))
    for start in range(0, features, step):
        part = np.concatenate([_wide(one[:, start : start + step]) for one in rows])
        with np.errstate(invalid="ignore", over="ignore"):
            size += float(np.vdot(part, part).real)
            part -= part.mean(axis=0)
            products += (part @ part.conj().T).real
    if not np.isfinite(products).all():
        products = np.full((count, count), np.nan)
    return Gram(products, features, constant=bool(np.trace(products) <= size * _ROUNDING))


def _wide(values: Array) -> Array:
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def _samples(recording: Recording) -> int:
    shapes = [record.shape for key, record in recording.items() if key.kind is Kind.OUTPUT]
    lengths = Counter(shape[0] for shape in shapes if shape)
    return lengths.most_common(1)[0][0] if lengths else 1


def _rows(recording: Recording, key: Key, count: int) -> Array:
    if key not in recording.records:
        raise HookViewerError(recording.reason(key))
    values = recording.records[key].array()
    if count == 1:
        return values.reshape(1, -1)
    if not values.shape or values.shape[0] != count:
        shape = "×".join(map(str, values.shape)) or "a single number"
        raise HookViewerError(f"It is {shape}, its first axis is not the {count} samples: run one by one.")
    return values.reshape(count, -1)
