"""Maps that need runs of their own, on the model thread: step by step, handed over one by one."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from functools import partial

import torch

from hookviewer import methods
from hookviewer.arrays import Statistics
from hookviewer.errors import Cancelled, HookViewerError
from hookviewer.gui.cam_choice import leaf_of, method_of
from hookviewer.gui.renaming import Renaming
from hookviewer.gui.runner import Job
from hookviewer.gui.state import InputItem, Settings
from hookviewer.gui.variant_lane import Runnable, VariantModels
from hookviewer.kinds import Key, Kind
from hookviewer.methods import LayerMethod, Question
from hookviewer.plan import HookPlan
from hookviewer.recording import Record, Recording, statistics
from hookviewer.target_choice import TargetChoice


@dataclasses.dataclass(frozen=True)
class Step:
    """What is asked in one go: methods for one input (`target` None is the run's own), and some layers.

    `alone` is the run of the input: what it says of shapes tells samples apart where targets share a run.
    """

    item: InputItem
    settings: Settings
    target: TargetChoice | None
    methods: tuple[str, ...]
    paths: frozenset[str] = frozenset()
    alone: Recording | None = dataclasses.field(default=None, compare=False, repr=False)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The leaves of the maps that it makes."""
        return tuple(leaf_of(name, self.target) for name in self.methods)

    @property
    def title(self) -> str:
        """The methods' names."""
        return ", ".join(method_of(name).title for name in self.methods)

    def wanted(self) -> list[Key]:
        """Return the keys of the maps that it should make, of the first call of each layer."""
        return [
            Key(path, Kind.ATTRIBUTION, 0, leaf)
            for name, leaf in zip(self.methods, self.leaves, strict=True)
            for path in (sorted(self.paths) if method_of(name).of_layers else [""])
        ]


@dataclasses.dataclass(frozen=True)
class Advance:
    """How far a step is: `done` of `total` runs, since `seconds`; it is the `place`-th step of `steps`."""

    step: Step
    done: int
    total: int
    seconds: float
    place: int
    steps: int

    @property
    def share(self) -> float:
        """The share of all steps that is done."""
        own = self.done / self.total if self.total else 0.0
        return min((self.place + own) / self.steps, 1.0)

    @property
    def left(self) -> float | None:
        """Seconds that this step will still take, where that can be told."""
        return self.seconds * (self.total - self.done) / self.done if self.done else None


@dataclasses.dataclass(frozen=True)
class Answers:
    """Maps of one input, with their statistics, and the reasons for those that there cannot be."""

    number: int
    records: Mapping[Key, Record]
    absent: Mapping[Key, str]
    summaries: Mapping[Key, Statistics]


def attribute_steps(job: Job, model: torch.nn.Module, steps: Sequence[Step], models: VariantModels) -> bool:
    """Answer steps one after another; reports `Advance` and `Answers`. Return whether it was stopped.

    `models` has those of variants, which are asked in the place of `model`.
    """
    done: set[int] = set()
    for place, step in enumerate(steps):
        if place in done:
            continue
        group = [at for at in range(place, len(steps)) if at == place or _shares_a_run(step, steps[at])]
        boxes = [_Outbox(job, steps[at], at, len(steps)) for at in group]
        try:
            runnable = models.runnable(model, step.settings, step.item.input)
            if not _answer_together(job, runnable, boxes):
                boxes = boxes[:1]
                _answer(job, runnable, boxes[0])
        except Cancelled:
            for box in boxes:
                box.send()
            return True
        except HookViewerError as error:
            boxes = boxes[:1]
            boxes[0].refuse(str(error))
        for box in boxes:
            box.refuse(f"{step.title}: there is no map of this.")
            box.send()
        done.update(group[: len(boxes)])
    return False


def _shares_a_run(step: Step, other: Step) -> bool:
    """Return whether two steps differ in their target only, and need no more than records."""
    same = (step.item.number, step.methods, step.paths) == (other.item.number, other.methods, other.paths)
    of_records = all(isinstance(method_of(name), LayerMethod) for name in step.methods)
    return same and of_records and step.settings == other.settings


def _answer_together(job: Job, runnable: Runnable, boxes: Sequence[_Outbox]) -> bool:
    """Answer steps that differ in their target by one run; return whether that was possible."""
    step = boxes[0].step
    targets = [(box.step.target or step.settings.target).target() for box in boxes]
    known = [target for target in targets if target is not None]
    if len(boxes) < 2 or step.alone is None or runnable.renaming is not None or len(known) < len(targets):
        return False
    layer_methods = [one for one in map(method_of, step.methods) if isinstance(one, LayerMethod)]
    asked = _question(job, runnable, boxes[0])
    answers = methods.answers_together(layer_methods, asked, known, step.alone)
    if answers is None:
        return False
    for place, (key, found) in answers:
        boxes[place].take(key, found)
    return True


def _answer(job: Job, runnable: Runnable, outbox: _Outbox) -> None:
    asked = _question(job, runnable, outbox)
    methods.answered(asked, [method_of(name) for name in outbox.step.methods], outbox.take)


def _question(job: Job, runnable: Runnable, outbox: _Outbox) -> Question:
    step, made = outbox.step, runnable.made
    settings, given = step.settings, step.item.input
    args, kwargs = (given.args, given.kwargs) if made is None else made.inputs(given.args, given.kwargs)
    plan = HookPlan(step.paths)
    outbox.renaming = runnable.renaming
    return Question(
        runnable.model,
        args,
        kwargs,
        (step.target or settings.target).target(),
        plan if runnable.renaming is None else runnable.renaming.plan(plan),
        mode=settings.mode,
        seed=settings.seed,
        device=settings.device,
        edits=settings.edits,
        on_progress=outbox.advance,
        cancelled=job.cancelled,
    )


class _Outbox:
    """Collects the answers of one step and sends them at most 30 times a second."""

    def __init__(self, job: Job, step: Step, place: int, steps: int) -> None:
        self._job, self.step = job, step
        self._advance = partial(Advance, place=place, steps=steps)
        self._started = time.perf_counter()
        self._records: dict[Key, Record] = {}
        self._absent: dict[Key, str] = {}
        self._seen: set[Key] = set()
        self.renaming: Renaming | None = None
        self.advance(0, 1)

    def advance(self, done: int, total: int) -> None:
        if self._job.due() or not done:
            seconds = time.perf_counter() - self._started
            self._job.report(self._advance(self.step, done, total, seconds))

    def take(self, key: Key, found: Record | str) -> None:
        path = key.path if self.renaming is None or not key.path else self.renaming.here(key.path)
        own = key._replace(path=path or key.path, leaf=self._own_leaf(key.leaf))
        self._seen.add(own)
        if isinstance(found, Record):
            self._records[own] = dataclasses.replace(found, key=own)
        else:
            self._absent[own] = found
        if self._job.due():
            self.send()

    def _own_leaf(self, leaf: str) -> str:
        return leaf if self.step.target is None else leaf_of(leaf, self.step.target)

    def refuse(self, reason: str) -> None:
        """Say of all that has not come why it never will."""
        lacking = [key for key in self.step.wanted() if key not in self._seen]
        self._absent |= dict.fromkeys(lacking, reason)
        self._seen.update(lacking)

    def send(self) -> None:
        if self._records or self._absent:
            summaries = {key: statistics(record) for key, record in self._records.items()}
            answers = Answers(self.step.item.number, dict(self._records), dict(self._absent), summaries)
            self._job.report(answers)
            self._records.clear()
            self._absent.clear()


def can_be_computed_from(name: str, target: TargetChoice | None) -> bool:
    """Return whether a map is computed from what the run itself holds."""
    return target is None and isinstance(method_of(name), LayerMethod)
