"""The statistics of all layers and inputs as rows of a table, and as comma-separated values. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from hookviewer.arrays import Statistics
from hookviewer.gui.csv_text import csv_text
from hookviewer.gui.state import InputItem, Run
from hookviewer.kinds import Key, Kind

NAMES = ("mean", "std", "min", "max", "zeros", "nan", "inf", "l2", "grad", "param_grad")
"""What stands in a row behind the layer and the input."""

COUNTS = frozenset({"nan", "inf"})
"""What is a whole number."""


@dataclasses.dataclass(frozen=True)
class LayerRow:
    """One layer of one input: `place` is its position in the order of the run, `values` are those of `NAMES`.

    Zeros are in percent, `grad` is the L2 norm of the gradient at the output, `param_grad` that of all
    parameters of the layer itself; NaN where there is none.
    """

    place: int
    path: str
    number: int
    name: str
    values: tuple[float, ...]

    @property
    def bad(self) -> bool:
        """Whether there are values that are no numbers or not finite."""
        return bool(self.values[NAMES.index("nan")] or self.values[NAMES.index("inf")])


def rows(ticked: Sequence[tuple[InputItem, Run]], layers: Sequence[str]) -> list[LayerRow]:
    """Return the rows of all layers that have numbers, in the order of the run, inputs beside each other."""
    found = [(item, _first_calls(run, Kind.OUTPUT), run) for item, run in ticked]
    gradients = [_first_calls(run, Kind.GRAD_OUTPUT) for _, run in ticked]
    parameters = [parameter_norms(run.summaries) for _, run in ticked]
    made = []
    for place, path in enumerate(layers):
        for (item, outputs, _), slopes, weights in zip(found, gradients, parameters, strict=True):
            if path in outputs or path in slopes:
                values = _values(outputs.get(path), slopes.get(path), weights.get(path))
                made.append(LayerRow(place, path, item.number, item.title, values))
    return made


def parameter_norms(summaries: Mapping[Key, Statistics]) -> dict[str, float]:
    """Return the L2 norm of the gradients of each layer's own parameters together."""
    squares: dict[str, float] = {}
    for key, summary in summaries.items():
        if key.kind is Kind.PARAM_GRAD:
            odd = summary.nan or summary.pos_inf or summary.neg_inf
            squares[key.path] = squares.get(key.path, 0.0) + (math.nan if odd else summary.l2**2)
    return {path: math.sqrt(value) for path, value in squares.items()}


def to_csv(shown: Sequence[LayerRow]) -> str:
    """Return rows as comma-separated values with all digits; empty where there is no number."""
    heads = ("layer", "input", *("zeros_percent" if name == "zeros" else name for name in NAMES))
    return csv_text(heads, ((row.path, row.name, *map(_cell, NAMES, row.values)) for row in shown))


def _cell(name: str, value: float) -> str:
    if math.isnan(value):
        return ""
    return str(int(value)) if name in COUNTS else repr(float(value))


def _first_calls(run: Run, kind: Kind) -> dict[str, Statistics]:
    """Return the statistics of a kind by path, of the first leaf of the first call."""
    found: dict[str, Statistics] = {}
    for key, summary in sorted(run.summaries.items(), key=lambda pair: pair[0].call):
        if key.kind is kind:
            found.setdefault(key.path, summary)
    return found


def _values(
    output: Statistics | None, gradient: Statistics | None, parameters: float | None
) -> tuple[float, ...]:
    slopes = math.nan if gradient is None else float(gradient.l2)
    weights = math.nan if parameters is None else parameters
    if output is None:
        return (*(math.nan for _ in NAMES[:-2]), slopes, weights)
    return (
        *(float(getattr(output, name)) for name in ("mean", "std", "min", "max")),
        100 * float(output.zero_share),
        float(output.nan),
        float(output.pos_inf + output.neg_inf),
        float(output.l2),
        slopes,
        weights,
    )
