"""What the runs say about each module: shapes, calls, size of its values, why it was not called. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from hookviewer.gui.call_nodes import CallNode
from hookviewer.gui.call_paths import above
from hookviewer.gui.state import Run, TargetChoice
from hookviewer.kinds import GRADIENTS, Kind
from hookviewer.modules import ModuleNode
from hookviewer.plan import HookPlan

ACTIVATIONS = (
    "ReLU",
    "LU",
    "Sigmoid",
    "Tanh",
    "Hardswish",
    "Softmax",
    "Softplus",
    "Softsign",
    "Mish",
    "Threshold",
)
FLOAT_BYTES = 4


Shapes = tuple[tuple[int, ...], ...]


class CallFacts(NamedTuple):
    """What one run says about one call of a module."""

    inputs: Shapes
    outputs: Shapes
    mean_abs: float | None


@dataclasses.dataclass(frozen=True)
class Facts:
    """What one run says about one module; `order` is the place of its first call among all calls."""

    inputs: Shapes = ()
    outputs: Shapes = ()
    calls: int = 0
    order: int | None = None
    mean_abs: float | None = None
    reason: str = ""
    """Why it was not called."""
    failed: str = ""
    """What it raised."""
    edited: bool = False
    """Whether an edit that is switched on changes one of its tensors."""
    overwritten: str = ""
    """What has overwritten its output in place."""
    later: tuple[CallFacts, ...] = ()
    """Its calls after the first one."""

    def of_call(self, call: int | None) -> Facts:
        """Return the facts with the shapes and the size of one of its calls."""
        if not call or call > len(self.later):
            return self
        one = self.later[call - 1]
        return dataclasses.replace(self, inputs=one.inputs, outputs=one.outputs, mean_abs=one.mean_abs)


UNKNOWN = Facts()


def facts_of(run: Run | None) -> dict[str, Facts]:
    """Return the facts of every module that the run reached or knows to be unreached, by canonical path."""
    if run is None:
        return {}
    sizes, overwritten = _sizes(run), overwritten_in(run)
    found = {path: Facts(reason=why) for path, why in run.recording.never_called.items()}
    for path, calls in run.recording.module_calls.items():
        if calls:
            found[path] = Facts(
                calls[0].input_shapes,
                calls[0].output_shapes,
                len(calls),
                calls[0].order,
                sizes.get((path, calls[0].number)),
                overwritten=overwritten.get(path, ""),
                later=tuple(
                    CallFacts(call.input_shapes, call.output_shapes, sizes.get((path, call.number)))
                    for call in calls[1:]
                ),
            )
    for key, why in run.recording.absent.items():  # a functional call that was asked for and not made
        if not run.recording.calls(key.path):
            found.setdefault(key.path, Facts(reason=why))
    return found | failure_of(run, found)


def failure_of(run: Run | None, known: Mapping[str, Facts] = MappingProxyType({})) -> dict[str, Facts]:
    """Return the module that raised in a run, with what else is known of it; empty where none did."""
    if run is None or run.error is None or run.error.path is None:
        return {}
    before = known.get(run.error.path, UNKNOWN)
    return {run.error.path: dataclasses.replace(before, failed=run.error.sentence, reason="")}


def _sizes(run: Run) -> dict[tuple[str, int], float]:
    """Return the mean |a| of the first output of every call, by path and number of the call."""
    sizes: dict[tuple[str, int], float] = {}
    for key, summary in run.summaries.items():
        if key.kind is Kind.OUTPUT and math.isfinite(summary.mean_abs):
            sizes.setdefault((key.path, key.call), summary.mean_abs)
    return sizes


def overwritten_in(run: Run | None) -> dict[str, str]:
    """Return what has overwritten the output of each module or functional call in place, by path."""
    records = run.recording.values() if run is not None else ()
    return {
        record.key.path: record.overwritten_by
        for record in records
        if record.overwritten_by is not None and record.key.kind is Kind.OUTPUT
    }


def with_shapes(run: Run | None) -> bool:
    """Return whether a run got far enough to know shapes."""
    return run is not None and bool(run.recording.module_calls)


def telling_run(runs: Mapping[int, Run], current: int | None) -> Run | None:
    """Return the run whose shapes the tree shows: that of the current input, else the first that has any."""
    own = runs.get(current) if current is not None else None
    return own if with_shapes(own) else next((run for run in runs.values() if with_shapes(run)), own)


def bytes_per_run(plan: HookPlan, target: TargetChoice, run: Run | None) -> int | None:
    """Return what the plan keeps in one run, by the shapes of a run (32-bit floats); None without one."""
    if run is None or not with_shapes(run):
        return None
    kinds = plan.kinds if target.rule != "none" else plan.kinds - GRADIENTS
    ins = len(kinds & {Kind.INPUT, Kind.GRAD_INPUT, Kind.GRAD_INPUT_TOTAL})
    outs = len(kinds & {Kind.OUTPUT, Kind.GRAD_OUTPUT})
    calls = [call for path in plan.paths for call in run.recording.calls(path)]
    return FLOAT_BYTES * sum(
        ins * _elements(call.input_shapes) + outs * _elements(call.output_shapes) for call in calls
    )


def _elements(shapes: Iterable[tuple[int, ...]]) -> int:
    return sum(math.prod(shape) for shape in shapes)


def family_of(node: ModuleNode) -> str:
    """Return the family whose colour the type's badge has: `conv`, `norm`, `container`, `op` and so on."""
    kind = node.type
    if isinstance(node, CallNode) and node.functional:
        return "op"
    if "Attention" in kind:
        return "attention"
    if node.children:
        return "container"
    for word, family in (("Norm", "norm"), ("Conv", "conv"), ("Linear", "linear"), ("Pool", "pool")):
        if word in kind:
            return family
    return "activation" if kind.endswith(ACTIVATIONS) or kind.startswith(ACTIVATIONS) else "other"


def parents_of(paths: Iterable[str]) -> frozenset[str]:
    """Return every path above one of `paths`."""
    return frozenset(parent for path in paths for parent in above(path))


def executed(run: Run | None) -> list[str]:
    """Return the called modules in the order in which their first call started."""
    facts = facts_of(run)
    called = [(one.order, path) for path, one in facts.items() if one.order is not None]
    return [path for _, path in sorted(called)]


def neighbour(layers: list[str], path: str, step: int) -> str | None:
    """Return the layer `step` places after `path` in `layers`; None at the ends."""
    if not layers:
        return None
    if path not in layers:
        return layers[0] if step > 0 else layers[-1]
    place = layers.index(path) + step
    return layers[place] if 0 <= place < len(layers) else None
