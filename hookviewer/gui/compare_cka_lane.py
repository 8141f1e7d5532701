"""The CKA of all layers of two variants over the ticked inputs, computed within the budget."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal
from torch import nn

from hookviewer.differences import Gram, Grams, Similarity, grams, similarity
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.state import InputItem, Message, Settings, Variant
from hookviewer.gui.variant_lane import Runnable, VariantModels
from hookviewer.kinds import Key, Kind
from hookviewer.modules import module_tree
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

LANE = "cka"
BYTES = 4
"""What a value takes as a rule."""


@dataclasses.dataclass(frozen=True)
class Asked:
    """What is compared: the layers `paths` (none: all) of the variant `a` with those of the variant `b`."""

    a: Variant
    b: Variant
    paths: frozenset[str] = frozenset()
    unbiased: bool = False


class Similar(QObject):
    """Computes one matrix at a time; the runs that are shown are not touched."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self.asked: Asked | None = None
        self.result: Similarity | None = None
        self.computing = False
        self.share = 0.0
        """How much of the work is done, from 0 to 1."""
        session.model_changed.connect(self.forget)

    def forget(self) -> None:
        """Stop, and take the result back."""
        self._session.runner.cancel(LANE, drop=True)
        self.asked, self.result, self.computing = None, None, False
        self.changed.emit()

    def stop(self) -> None:
        """Stop computing."""
        self._session.runner.cancel(LANE, drop=True)
        self.computing = False
        self.changed.emit()

    def follow(self, variants: Sequence[Variant]) -> None:
        """Keep the result for a variant of which only the layers beside each other have changed."""
        if self.asked is not None:
            by_number = {one.number: one for one in variants}
            a, b = (by_number.get(one.number, one) for one in (self.asked.a, self.asked.b))
            self.asked = dataclasses.replace(self.asked, a=a, b=b)

    def compute(self, asked: Asked) -> None:
        """Compute the matrix over all ticked inputs."""
        session = self._session
        model, models, usual = session.model, session.variant_models, session.settings
        items = [item for item in session.inputs if item.ticked]
        if model is None:
            return
        if len(items) < (4 if asked.unbiased else 2):
            words = _tr("CKA needs at least {} inputs: tick more of them in the list at the left.")
            session.tell(Message("warn", words.format(4 if asked.unbiased else 2)))
            return
        self.asked, self.result, self.computing, self.share = asked, None, True, 0.0
        self.changed.emit()

        def work(job: Job) -> Similarity:
            ways = list(dict.fromkeys((asked.a, asked.b)))
            found: dict[Variant, Grams] = {}
            for place, variant in enumerate(ways):
                counter = _Counter(job, place, len(ways))
                settings = variant.settings(usual)
                found[variant] = _grams(counter, model, models, items, settings, asked.paths)
            return similarity(found[asked.a], found[asked.b], unbiased=asked.unbiased)

        session.runner.submit(
            LANE, work, on_report=self._on_report, on_result=self._on_result, on_failure=self._on_failure
        )

    def _on_report(self, share: float) -> None:
        self.share = share
        self.changed.emit()

    def _on_result(self, result: Similarity) -> None:
        self.result, self.computing = result, False
        self.changed.emit()

    def _on_failure(self, failure: Failure) -> None:
        self.computing = False
        self.changed.emit()
        self._session.tell(Message("error", _tr("No CKA was computed."), failure.sentence, failure.report))


class _Counter:
    """Tells how far one of several variants is."""

    def __init__(self, job: Job, place: int, count: int) -> None:
        self.job, self._place, self._count = job, place, count

    def tell(self, share: float) -> None:
        self.job.report((self._place + share) / self._count)


def _grams(
    counter: _Counter,
    model: nn.Module,
    models: VariantModels,
    items: Sequence[InputItem],
    settings: Settings,
    paths: frozenset[str],
) -> Grams:
    """Return the Gram matrices of a variant: as many layers at a time as the budget holds for all inputs."""
    runnable = models.runnable(model, settings, items[0].input)
    looked = _recorded(counter, runnable, items[0], settings, HookPlan())
    groups = list(_groups(looked, _layers(runnable, paths), len(items), settings.budget))
    found: dict[Key, Gram] = {}
    absent: dict[Key, str] = {}
    inputs = 0
    for place, group in enumerate(groups):
        recordings: list[Recording] = []
        for number, item in enumerate(items):
            recordings.append(_recorded(counter, runnable, item, settings, HookPlan(group)))
            counter.tell((place * len(items) + number + 1) / (len(groups) * len(items)))
        made = grams(recordings)
        found |= {key: made[key] for key in made if key.call == 0}
        absent |= made.absent
        inputs = made.inputs
    order = {path: calls[0].order for path, calls in looked.module_calls.items() if calls}
    keys = sorted(found, key=lambda key: order.get(key.path, 0))
    return Grams({key: found[key] for key in keys}, inputs, absent)


def _layers(runnable: Runnable, paths: frozenset[str]) -> frozenset[str]:
    """Return the layers to compare: those asked for, or all that have none below them."""
    nodes = [node for node in module_tree(runnable.model).walk() if node.alias_of is None]
    if not paths:
        return frozenset(node.path for node in nodes if not node.children)
    if runnable.renaming is None:
        return paths
    return frozenset(filter(None, map(runnable.renaming.there, paths)))


def _groups(looked: Recording, paths: frozenset[str], inputs: int, budget: int) -> Iterator[frozenset[str]]:
    """Yield layers whose values for all inputs fit into the budget, in order of execution."""
    group: set[str] = set()
    held = 0
    for path in sorted(paths & set(looked.module_calls)):
        shapes = [shape for call in looked.module_calls[path] for shape in call.output_shapes]
        size = inputs * BYTES * sum(math.prod(shape) for shape in shapes)
        if group and held + size > budget:
            yield frozenset(group)
            group, held = set(), 0
        group.add(path)
        held += size
    if group:
        yield frozenset(group)


def _recorded(
    counter: _Counter, runnable: Runnable, item: InputItem, settings: Settings, plan: HookPlan
) -> Recording:
    return runnable.capture(
        item.input,
        plan.with_kinds({Kind.OUTPUT}),
        edits=settings.edits,
        mode=settings.mode,
        seed=settings.seed,
        device=settings.device,
        budget=max(settings.budget, 1 << 30),
        cancelled=counter.job.cancelled,
    )


def csv(result: Similarity) -> str:
    """Return the matrix as comma-separated values: a row a layer of A, a column a layer of B."""
    lines = [["", *(key.path for key in result.columns)]]
    lines += [
        [key.path, *(f"{value:.6g}" for value in row)]
        for key, row in zip(result.rows, result.values.tolist(), strict=True)
    ]
    return "".join(",".join(line) + "\n" for line in lines)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Cka", text)
