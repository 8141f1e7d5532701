"""One run on the model thread: capture, then the numbers that the window shows beside the tensors."""

from __future__ import annotations

import dataclasses
import time
import traceback
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from hookviewer import arrays
from hookviewer.errors import Cancelled, HookViewerError, ModelError
from hookviewer.gui.renaming import Renaming
from hookviewer.gui.runner import Job
from hookviewer.gui.state import Guess, InputItem, Progress, Run, RunError, Settings
from hookviewer.gui.variant_lane import Runnable, VariantModels
from hookviewer.inputs import Input
from hookviewer.kinds import Key
from hookviewer.leaves import leaves
from hookviewer.modules import unwrapped
from hookviewer.plan import HookPlan
from hookviewer.recording import Record, Recording, statistics
from hookviewer.sources import TrustNeeded
from hookviewer.target_choice import float_leaf
from hookviewer.torch_private import foreign_hooks


@dataclasses.dataclass(frozen=True)
class Arrived:
    """Records that were made since the last report, their statistics, and where the run is."""

    progress: Progress
    records: tuple[Record, ...]
    summaries: Mapping[Key, arrays.Statistics] = dataclasses.field(default_factory=dict)


class _Reporter:
    """Collects what the hooks tell and sends it at most 30 times a second."""

    def __init__(self, job: Job, item: InputItem, total: int | None, position: int, inputs: int) -> None:
        self._job = job
        self.model: torch.nn.Module | None = None
        self._renaming: Renaming | None = None
        self.hooks_before = 0
        self._progress = Progress(item.number, "", 0, total, position, inputs)
        self._records: list[Record] = []
        self._fresh: dict[Key, arrays.Statistics] = {}
        self.summaries: dict[Key, arrays.Statistics] = {}
        """The statistics of all records until now."""

    def begin(self, runnable: Runnable) -> None:
        """Count the hooks that are there before anything is done."""
        self.model, self.hooks_before = runnable.model, hooks_on(runnable.model)
        self._renaming = runnable.renaming

    def hooks(self) -> int:
        """Return how many hooks there are more than before."""
        return hooks_on(self.model) - self.hooks_before if self.model is not None else 0

    def on_module(self, path: str) -> None:
        if not self._progress.done:
            self._progress = dataclasses.replace(self._progress, hooks=self.hooks())
        self._progress = dataclasses.replace(self._progress, path=path, done=self._progress.done + 1)
        self._send()

    def on_record(self, record: Record) -> None:
        renamed = record if self._renaming is None else self._renaming.record(record)
        if renamed is None:
            return
        record = renamed
        self._records.append(record)
        if record.kept is not None or record.summary is not None:
            self._fresh[record.key] = self.summaries[record.key] = statistics(record)
        self._send()

    def _send(self) -> None:
        if self._job.due():
            self._job.report(Arrived(self._progress, tuple(self._records), self._fresh))
            self._records.clear()
            self._fresh = {}


def hooks_on(model: torch.nn.Module) -> int:
    """Return how many hooks that are not torch's own are on the modules of a model."""
    return sum(foreign_hooks(module) for module in unwrapped(model)[0].modules())


def run_inputs(
    job: Job,
    model: torch.nn.Module,
    items: Sequence[tuple[InputItem, HookPlan, Settings]],
    class_names: Sequence[str],
    calls_expected: int | None,
    models: VariantModels,
) -> bool:
    """Run the model on each input in turn, report a `(number, Run)` each; return whether it was stopped.

    `models` has those of variants, which are run in the place of `model`.
    """
    for position, (item, plan, settings) in enumerate(items, 1):
        reporter = _Reporter(job, item, calls_expected, position, len(items))
        try:
            runnable = models.runnable(model, settings, item.input)
        except TrustNeeded as question:
            run = Run(Recording({}), settings, error=_undecided(question))
        except HookViewerError as failed:
            run = Run(Recording({}), settings, error=RunError(str(failed)))
        else:
            run = record_input(job, reporter, runnable, item.input, plan, settings, class_names)
        job.report((item.number, run))
        if run.stopped:
            return True
    return False


def _undecided(question: TrustNeeded) -> RunError:
    words = "{} was not loaded, since it could run code: choose it again to decide."
    return RunError(words.format(question.path.name), decision=question)


def record_input(
    job: Job,
    reporter: _Reporter,
    runnable: Runnable,
    given: Input,
    plan: HookPlan,
    settings: Settings,
    class_names: Sequence[str],
) -> Run:
    """Return the run of the model on one input; a model that raises gives a run with an error."""
    started = time.perf_counter()
    reporter.begin(runnable)
    error = None
    stopped = False
    renaming = runnable.renaming
    try:
        recording = runnable.capture(
            given,
            plan if renaming is None else renaming.plan(plan),
            target=settings.target.target(),
            edits=settings.edits,
            mode=settings.mode,
            seed=settings.seed,
            device=settings.device,
            budget=settings.budget,
            on_module=reporter.on_module,
            on_record=reporter.on_record,
            cancelled=job.cancelled,
        )
    except Cancelled as stop:
        recording, stopped = stop.recording or Recording({}), True
    except ModelError as failed:
        cause = failed.__cause__ or failed
        report = "".join(traceback.format_exception(cause))
        recording, error = failed.recording, RunError(str(failed), failed.path, report)
    except HookViewerError as failed:
        recording, error = Recording({}), RunError(str(failed))
    if renaming is not None:
        recording = renaming.recording(recording, plan)
    return Run(
        recording,
        settings,
        seconds=time.perf_counter() - started,
        error=error,
        stopped=stopped,
        guesses=guesses(recording.output, class_names),
        summaries=reporter.summaries | dict(_summaries(recording, reporter.summaries)),
        hooks_left=reporter.hooks(),
        renaming=renaming,
        lists_calls=plan.ops is not None,
    )


def _summaries(recording: Recording, known: Container[Key]) -> Iterator[tuple[Key, arrays.Statistics]]:
    for key, record in recording.records.items():
        if key not in known and (record.kept is not None or record.summary is not None):
            yield key, statistics(record)


def guesses(output: Any, class_names: Sequence[str], count: int = 5) -> tuple[Guess, ...]:
    """Return the `count` likeliest classes of an output `[1, C]` (the softmax of logits), else nothing."""
    found = dict(leaves(output)).get(float_leaf(output))  # not the boxes of a detection
    if (
        found is None
        or found.ndim != 2
        or found.shape[1] < 2
        or not (len(found) and found.is_floating_point())
    ):
        return ()
    scores = found[0].detach().to(torch.float64).numpy()
    if not np.isfinite(scores).all():
        return ()
    likely = (
        scores if _are_shares(scores) else np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    )
    best = np.argsort(-likely, kind="stable")[:count]
    named = class_names if len(class_names) == len(likely) else ()
    return tuple(Guess(int(i), named[i] if named else f"class {i}", float(likely[i])) for i in best)


def _are_shares(scores: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    return bool((scores >= 0).all() and abs(scores.sum() - 1) < 1e-3)
