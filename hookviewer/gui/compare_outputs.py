"""What a model returned in two columns: the likeliest classes of both, and how far apart they are. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import torch
from PySide6.QtCore import QCoreApplication

from hookviewer.differences import Difference
from hookviewer.differences.recordings import between
from hookviewer.errors import HookViewerError
from hookviewer.gui.columns import Column
from hookviewer.gui.likely import share
from hookviewer.gui.numbers import number, shape
from hookviewer.gui.running import guesses
from hookviewer.leaves import leaves
from hookviewer.recording import readable
from hookviewer.target_choice import float_leaf

MOST = 5
"""So many classes of each column are shown."""
EVERY = 1 << 20

Row = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Compared:
    """The rows of a table: `classes` says that the first ones are classes, with a difference each.

    `logits` says that the outputs are no probabilities themselves.
    """

    rows: tuple[Row, ...] = ()
    classes: bool = False
    logits: bool = False


def compared_outputs(a: Column, b: Column, names: Sequence[str], *, sign: int = 1) -> Compared:
    """Return the likeliest classes of both columns with their probabilities, and how far apart all is.

    The difference of a class is A − B, and B − A with a `sign` of −1. Classes are those of the first sample,
    the other numbers are of the whole output, of the tensor that targets start from.
    """
    first, second = _output(a), _output(b)
    if first is None or second is None:
        return Compared()
    if first.shape != second.shape:
        sizes = (shape(tuple(first.shape)), shape(tuple(second.shape)))
        return Compared(((_tr("shapes differ"), *sizes),))
    classes = _classes(a, b, names, sign * (first.double() - second.double()))
    return Compared((*classes, *_numbers(first, second)), bool(classes), not _are_shares(first))


def _output(column: Column) -> torch.Tensor | None:
    output = column.run.recording.output if column.run is not None else None
    found = None if output is None else dict(leaves(output)).get(float_leaf(output))
    return found if found is not None and found.is_floating_point() else None


def _classes(a: Column, b: Column, names: Sequence[str], gaps: torch.Tensor) -> tuple[Row, ...]:
    """Return the five likeliest classes of A, then those of B that are not among them."""
    known = [
        {one.index: one for one in guesses(column.run.recording.output, names, EVERY)}
        for column in (a, b)
        if column.run is not None
    ]
    if len(known) < 2 or not all(known):
        return ()
    likely = dict.fromkeys(index for found in known for index in list(found)[:MOST])
    rows = []
    for index in likely:
        one, other = (found[index] for found in known)
        gap = number(float(gaps[0, index]))
        rows.append((one.name, share(one.share, 3), share(other.share, 3), gap))
    return tuple(rows)


def _numbers(first: torch.Tensor, second: torch.Tensor) -> tuple[Row, ...]:
    try:
        found = between(readable(first), readable(second))
    except HookViewerError:
        return ()
    gap = torch.linalg.vector_norm(first.double() - second.double())
    return (
        (_tr("max |Δ|"), _number(found, "max_abs")),
        (_tr("L2 of A − B"), number(float(gap))),
        (_tr("relative L2"), _number(found, "relative_l2")),
        (_tr("cosine"), _number(found, "cosine")),
    )


def _number(found: Difference, name: str) -> str:
    return number(float(getattr(found, name)))


def _are_shares(output: torch.Tensor) -> bool:
    values = output.double()
    return bool((values >= 0).all()) and bool(((values.sum(-1) - 1).abs() < 1e-3).all())


def _tr(text: str) -> str:
    return QCoreApplication.translate("Compared", text)
