"""The first layer at which two runs go apart, and whether it made the difference or only passed it on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch
from torch import nn

from hookviewer.differences.distances import Distance, distance, largest
from hookviewer.differences.steps import BEYOND, Divergence, Step, Verdict
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Functional, Key, Kind
from hookviewer.plan import HookPlan
from hookviewer.recording import Record, Recording

_TOLERANCES = {
    torch.float64: 1e-9,
    torch.complex128: 1e-9,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.float16: 5e-3,
    torch.bfloat16: 3e-2,
}
_COARSE = 0.2
"""The tolerance of floats of 8 bits."""


def divergence_plan(model: nn.Module) -> HookPlan:
    """Return the plan that records what `first_divergence` looks at: inputs and outputs of every module."""
    return HookPlan.of(model, "*", kinds=(Kind.INPUT, Kind.OUTPUT))


def tolerance_of(*dtypes: torch.dtype) -> float:
    """Return the relative L2 distance that rounding explains: that of the coarsest of `dtypes`.

    0 for whole numbers, 1e-9 for float64, 1e-4 for float32, 5e-3 for float16, 3e-2 for bfloat16, 0.2 for
    floats of 8 bits.
    """
    floating = [dtype for dtype in dtypes if dtype.is_floating_point or dtype.is_complex]
    return max((_TOLERANCES.get(dtype, _COARSE) for dtype in floating), default=0.0)


def first_divergence(
    a: Recording,
    b: Recording,
    *,
    tolerance: float | None = None,
    matching: Mapping[str, str] | None = None,
) -> Divergence:
    """Return where two runs first go apart by more than `tolerance`, in order of execution.

    Looks at inputs and outputs of all modules that both recorded (`divergence_plan`). `tolerance` is a
    relative L2 distance, 0 for equal values; by itself, that of the coarsest dtype on the way
    (`tolerance_of`). `matching` gives the path in B of a path in A, by itself the same path. Values that were
    not kept are compared by their statistics, which can show a difference but never that there is none.
    Raises `HookViewerError` when no output is in both.
    """
    steps = tuple(_steps(a, b, tolerance, matching))
    if not steps:
        raise HookViewerError(
            "No output was recorded in both runs: tick the same modules in both, best all of them."
        )
    shown = next((step for step in steps if step.verdict in BEYOND), None)
    before = steps if shown is None else steps[: steps.index(shown)]
    first = None if shown is None else _origin(shown, steps)
    unknown = [step for step in before if step.verdict is Verdict.UNKNOWN]
    retyped = next((step for step in steps if step.dtypes and step.dtypes[0] != step.dtypes[1]), None)
    notes = (
        *_inputs_apart(steps),
        *_own_code(first, shown),
        *_unknown(unknown),
        *_retyped(retyped),
        *_left_out(a, b, matching),
    )
    return Divergence(steps, first, not unknown, shown, retyped, notes)


def _steps(
    a: Recording, b: Recording, tolerance: float | None, matching: Mapping[str, str] | None
) -> Iterator[Step]:
    rounding = 0.0
    for path, call in dict.fromkeys((key.path, key.call) for key in a if key.kind is Kind.OUTPUT):
        partner = path if matching is None else matching.get(path)
        if partner is None:
            continue
        outputs = _pairs(a, b, Key(path, Kind.OUTPUT, call), partner)
        if not outputs:
            continue
        inputs = _pairs(a, b, Key(path, Kind.INPUT, call), partner)
        rounding = max(rounding, tolerance_of(*(one.dtype for pair in (*inputs, *outputs) for one in pair)))
        known = bool(inputs) or _takes_nothing(a, path, call)
        before = largest(distance(*pair) for pair in inputs) if known else Distance(math.nan, exact=False)
        after = largest(distance(*pair) for pair in outputs)
        yield _step(outputs[0], partner, before, after, rounding if tolerance is None else tolerance)


def _pairs(a: Recording, b: Recording, like: Key, partner: str) -> list[tuple[Record, Record]]:
    """Return the records of every leaf that both runs have."""
    leaves = a.leaves(like.path, like.kind, like.call)
    keys = ((like._replace(leaf=leaf), like._replace(path=partner, leaf=leaf)) for leaf in leaves)
    return [(a[one], b[other]) for one, other in keys if other in b.records]


def _takes_nothing(recording: Recording, path: str, call: int) -> bool:
    return any(one.number == call and not one.input_leaves for one in recording.calls(path))


def _step(
    output: tuple[Record, Record], partner: str, before: Distance, after: Distance, tolerance: float
) -> Step:
    return Step(
        output[0].key,
        partner,
        _verdict(before, after, tolerance),
        after.value,
        before.value,
        tolerance,
        exact=after.exact,
        input_exact=before.exact,
        reason=after.reason or before.reason,
        dtypes=(output[0].dtype, output[1].dtype),
    )


def _origin(shown: Step, steps: tuple[Step, ...]) -> Step:
    """Return the innermost module around whose inputs agree, where the layer's own inputs are apart.

    Everything that ran before agrees: so the code of that module itself makes the difference.
    """
    if shown.verdict is not Verdict.PASSES_ON:
        return shown
    around = {step.key.path: step for step in reversed(steps) if step.verdict is Verdict.PRODUCER}
    return next((around[path] for path in _enclosing(shown.key.path) if path in around), shown)


def _enclosing(path: str) -> Iterator[str]:
    """Yield the paths of the modules around, from the inside out."""
    call = Functional.of(path)
    if call is not None:
        yield (path := call.module)
    while path:
        path = path.rpartition(".")[0]
        yield path


def _verdict(before: Distance, after: Distance, tolerance: float) -> Verdict:
    if not after.value > tolerance:
        return Verdict.AGREES if after.exact else Verdict.UNKNOWN
    if before.value > tolerance:
        return Verdict.PASSES_ON
    return Verdict.PRODUCER if before.exact else Verdict.APART


def _inputs_apart(steps: tuple[Step, ...]) -> tuple[str, ...]:
    whole = next((step for step in steps if step.key.path == ""), None)
    if whole is None or not whole.input_distance > 0:
        return ()
    return (f"What goes into the model differs already: it is {whole.input_distance:.2g} apart.",)


def _own_code(first: Step | None, shown: Step | None) -> tuple[str, ...]:
    if first is None or shown is None or first is shown:
        return ()
    return (
        f"The code of {first.title} itself makes the difference, before {shown.title}, whose inputs are "
        f"already {shown.input_distance:.2g} apart.",
    )


def _unknown(steps: list[Step]) -> tuple[str, ...]:
    if not steps:
        return ()
    return (
        f"{len(steps)} layers before could not be compared, the first of them {steps[0].title}: the runs may "
        f"go apart earlier. {steps[0].reason}",
    )


def _retyped(step: Step | None) -> tuple[str, ...]:
    if step is None or step.dtypes is None:
        return ()
    a, b = (str(dtype).removeprefix("torch.") for dtype in step.dtypes)
    return (
        f"From {step.title} on, A computes in {a} and B in {b}: there they are {step.distance:.2g} apart, "
        f"and less than {step.tolerance:.2g} counts as rounding.",
    )


def _left_out(a: Recording, b: Recording, matching: Mapping[str, str] | None) -> tuple[str, ...]:
    outputs_a, outputs_b = (
        {key.path for key in one if key.kind is Kind.OUTPUT and key.path} for one in (a, b)
    )
    alone = [p for p in outputs_a if (p if matching is None else matching.get(p)) not in outputs_b]
    return (f"{len(alone)} layers of A have no partner in B and were left out.",) if alone else ()
