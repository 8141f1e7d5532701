"""How far every layer is from the same layer of another column: curves over depth. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from PySide6.QtCore import QCoreApplication

from hookviewer.differences import Difference
from hookviewer.gui.compare_diverging import Found
from hookviewer.gui.compare_lane import CompareLane, reference_of
from hookviewer.gui.depth import Series
from hookviewer.gui.line_styles import INPUTS
from hookviewer.gui.state import InputItem, Run
from hookviewer.kinds import Kind
from hookviewer.recording import Record

DIFFERENCES = ("relative", "cosine")
"""What the curve shows of a difference: its relative L2 norm, and 1 − cosine."""


def pairs(a: Run, b: Run, layers: Sequence[str]) -> Iterator[tuple[int, tuple[Record, Record]]]:
    """Yield place and records of every layer whose output both runs hold: of several the first."""
    for place, path in enumerate(layers):
        both = [_first(run, path) for run in (a, b)]
        if both[0] is not None and both[1] is not None:
            yield place, (both[0], both[1])


def _first(run: Run, path: str) -> Record | None:
    leaves = run.recording.leaves(path, Kind.OUTPUT)
    if not leaves:
        return None
    record = run.recording.record(path, Kind.OUTPUT)
    return record if record.kept is not None else None


def difference_series(
    items: Sequence[InputItem],
    runs: Mapping[int, Run],
    layers: Sequence[str],
    metric: str,
    lane: CompareLane,
) -> tuple[list[Series], list[tuple[Record, Record]]]:
    """Return a curve for every column that is compared with another one, and the pairs not counted yet."""
    made, lacking = [], []
    for item in items:
        reference = reference_of(item, items)
        if reference is None or item.number not in runs or reference.number not in runs:
            continue
        found: list[tuple[int, float, bool]] = []
        for place, pair in pairs(runs[reference.number], runs[item.number], layers):
            counted = lane.counted(*pair)
            if counted is None:
                lacking.append(pair)
            elif counted.numbers is not None:
                found.append((place, value(counted.numbers, metric), bool(counted.numbers.unlike)))
        made.append(_series(item, found))
    return made, lacking


def diverging_series(found: Found, layers: Sequence[str]) -> list[Series]:
    """Return how far the outputs of all layers are apart, ticked or not, and faintly how far their inputs."""
    steps = {step.key.path: step for step in reversed(found.divergence.steps) if step.exact}
    there = [(place, steps[path]) for place, path in enumerate(layers) if path in steps]
    outputs = [(place, step.distance, math.isinf(step.distance)) for place, step in there]
    inputs = [(place, step.input_distance, False) for place, step in there if step.input_exact]
    made = _series(found.item, outputs)
    name = QCoreApplication.translate("Diverging", "its inputs")
    return [made, dataclasses.replace(_series(found.item, inputs), name=name, style=INPUTS)]


def value(numbers: Difference, metric: str) -> float:
    """Return the number that a curve shows."""
    if metric == "relative":
        return numbers.relative_l2
    return 0.0 if numbers.equal else 1.0 - numbers.cosine


def _series(item: InputItem, found: Sequence[tuple[int, float, bool]]) -> Series:
    places = np.array([place for place, _, _ in found], np.intp)
    values = np.array([number for _, number, _ in found], np.float64)
    bad = tuple(place for place, _, odd in found if odd)
    return Series(item.number, item.title, places, values, bad)
