"""What the curve over depth shows: one series per input, blocks of the network, where a series ends. Pure."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hookviewer.gui.call_paths import parent_of, words_of
from hookviewer.gui.layer_rows import parameter_norms
from hookviewer.gui.module_facts import executed
from hookviewer.gui.state import InputItem, Run
from hookviewer.kinds import Kind

METRICS = ("mean_abs", "mean", "std", "zeros", "grad", "param_grad")
"""What the curve can show; the last two are L2 norms: of the gradient at the output, of the parameters'."""

LINEAR = frozenset({"mean", "zeros"})
"""What is shown on a linear axis only: it may be negative, or is a share."""

GRADIENTS = frozenset({"grad", "param_grad"})


@dataclasses.dataclass(frozen=True, eq=False)
class Series:
    """One input's values at the layers `places`; `bad` are the places whose tensor holds NaN or inf.

    `style` is that of its line, one of `line_styles`.
    """

    number: int
    name: str
    places: npt.NDArray[np.intp]
    values: npt.NDArray[np.float64]
    bad: tuple[int, ...] = ()
    style: str = "solid"


@dataclasses.dataclass(frozen=True)
class Block:
    """The layers `first` to `last` (inclusive) of one block, and the label to write below them."""

    name: str
    first: int
    last: int
    label: str = ""


def layers_of(runs: Sequence[Run]) -> list[str]:
    """Return the innermost called modules, and all with values, in the longest run's order."""
    orders = [executed(run) for run in runs]
    longest = max(orders, key=len, default=[])
    inner = set(longest) - {parent_of(path) for path in longest if path}
    inner |= {key.path for run in runs for key, record in run.recording.items() if record.kept is not None}
    return [path for path in longest if path in inner - {""}]


def series(item: InputItem, run: Run, layers: Sequence[str], metric: str) -> Series:
    """Return the values of one metric over the layers of a run, only where it was recorded."""
    if metric == "param_grad":
        return _parameters(item, run, layers)
    kind = Kind.GRAD_OUTPUT if metric == "grad" else Kind.OUTPUT
    found: dict[str, tuple[float, bool]] = {}
    for key, summary in sorted(run.summaries.items(), key=lambda pair: pair[0].call):
        if key.kind is kind and key.path not in found:  # of several calls the first
            broken = bool(summary.nan or summary.pos_inf or summary.neg_inf)
            found[key.path] = (_value(summary, metric), broken)
    places = [place for place, path in enumerate(layers) if path in found]
    values = np.array([found[layers[place]][0] for place in places], np.float64)
    bad = tuple(place for place in places if found[layers[place]][1])
    return Series(item.number, item.title, np.array(places, np.intp), values, bad)


def _parameters(item: InputItem, run: Run, layers: Sequence[str]) -> Series:
    """Return the norms of the gradients of the layers' own parameters."""
    norms = parameter_norms(run.summaries)
    places = [place for place, path in enumerate(layers) if path in norms]
    values = np.array([norms[layers[place]] for place in places], np.float64)
    bad = tuple(place for place, value in zip(places, values, strict=True) if not np.isfinite(value))
    return Series(item.number, item.title, np.array(places, np.intp), values, bad)


def _value(summary: object, metric: str) -> float:
    name = {"grad": "l2", "zeros": "zero_share"}.get(metric, metric)
    number = float(getattr(summary, name))
    return number * 100 if metric == "zeros" else number


def blocks(layers: Sequence[str]) -> list[Block]:
    """Return the blocks that the layers fall into, by the first parts of their names."""
    if not layers:
        return []
    depth = _block_depth(layers)
    names = [".".join(words_of(path)[:depth]) for path in layers]
    made: list[Block] = []
    for place, name in enumerate(names):
        if made and made[-1].name == name:
            made[-1] = dataclasses.replace(made[-1], last=place)
        else:
            made.append(Block(name, place, place))
    families = collections.Counter(block.name.rpartition(".")[0] for block in made)
    return [dataclasses.replace(block, label=_label(block.name, families)) for block in made]


def _label(name: str, families: collections.Counter[str]) -> str:
    """Return the last part of a name; for a lone number that of its parent, which says more."""
    parent, _, last = name.rpartition(".")
    if last.isdigit() and parent and families[parent] <= 2:
        return parent.rpartition(".")[2]
    return last


def _block_depth(layers: Sequence[str]) -> int:
    """Return the smallest depth of names that gives at least 6 blocks, or the largest there is below 40."""
    parts = [words_of(path) for path in layers]
    deepest = max(map(len, parts))
    for depth in range(1, deepest + 1):
        count = len({".".join(words[:depth]) for words in parts})
        if count >= 6:
            return depth if count <= 40 else max(depth - 1, 1)
    return deepest


def in_log(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return log10 of values, NaN where there is none (zero, negative, NaN)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(values)
    return np.where(np.isfinite(logs), logs, math.nan)
