"""Several targets of one input at once: it stands in a batch once for each, so that they share one run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key
from hookviewer.leaves import input_leaves, leaves, mapped
from hookviewer.methods.method import Answer, LayerMethod
from hookviewer.methods.places import hints_of
from hookviewer.methods.question import Question
from hookviewer.methods.recorded import answer, calls_in_order
from hookviewer.methods.stacked import settled
from hookviewer.recording import Record, Recording
from hookviewer.targets import Target, unit


class Together:
    """The sum of several targets, each of its own `samples` rows of a batch; it keeps the value of each."""

    def __init__(self, targets: Sequence[Target], samples: int) -> None:
        self.targets, self.samples = tuple(targets), samples
        self.values: list[float] = []

    def __call__(self, output: Any) -> torch.Tensor:
        each = [self._value(place, output) for place in range(len(self.targets))]
        self.values = [float(value.detach()) for value in each]
        return torch.stack([value.reshape(()) for value in each]).sum()

    def _value(self, place: int, output: Any) -> torch.Tensor:
        first, count = place * self.samples, self.samples * len(self.targets)
        rows = slice(first, first + self.samples)
        own = mapped(output, lambda one: one[rows] if one.dim() and len(one) == count else one)
        return settled(self.targets[place], own)(own)

    def __str__(self) -> str:
        return ", ".join(map(str, self.targets))


def answers_together(
    methods: Sequence[LayerMethod], asked: Question, targets: Sequence[Target], alone: Recording
) -> Iterator[tuple[int, Answer]] | None:
    """Return the place of a target with each answer to it, from one run of the layers for all targets.

    `alone` is a run of the same input: its shapes tell where the samples of a batch lie. None where the
    targets need runs of their own: of a unit inside the model, in training, with edits, or where the samples
    of a batch cannot be told apart.
    """
    samples = _samples(asked, alone.output)
    apart = asked.edits or asked.mode != "eval" or any(isinstance(one, unit) for one in targets)
    if apart or not samples:
        return None
    plan = asked.plan.with_kinds(frozenset().union(*(method.kinds for method in methods)))
    inputs = mapped((asked.args, asked.kwargs), lambda one: one.repeat(len(targets), *[1] * (one.dim() - 1)))
    asked.tell(0, 2)
    try:
        run = asked.run(plan, inputs=inputs, target=Together(targets, samples))
        own = [_own(run, alone, place, len(targets)) for place in range(len(targets))]
    except HookViewerError:  # a model made for so many samples, or one that mixes them
        return None
    asked.tell(2, 2)
    return _answers(methods, asked, own)


def _answers(
    methods: Sequence[LayerMethod], asked: Question, runs: Sequence[Recording]
) -> Iterator[tuple[int, Answer]]:
    for place, run in enumerate(runs):
        hints_for = hints_of(run, asked.model)
        for path, call in calls_in_order(run):
            for method in methods:
                yield place, answer(run, method, path, call, hints_for)


def _samples(asked: Question, output: Any) -> int:
    """Return how many samples input and output hold; 0 where that cannot be told."""
    given = [tensor for _, tensor in input_leaves(asked.args, asked.kwargs)]
    returned = [tensor for _, tensor in leaves(output) if tensor.is_floating_point()]
    sizes = {len(tensor) if tensor.dim() else 0 for tensor in (*given, *returned)}
    return sizes.pop() if len(sizes) == 1 and given and returned else 0


def _own(run: Recording, alone: Recording, place: int, count: int) -> Recording:
    """Return the part of a run that belongs to one of `count` targets."""
    records = {key: _part(record, _shape(alone, key), place, count) for key, record in run.items()}
    return dataclasses.replace(run, records=records, module_calls=alone.module_calls)


def _shape(alone: Recording, key: Key) -> tuple[int, ...]:
    """Return the shape of a layer's output in the run of the input alone."""
    calls = alone.calls(key.path)
    call = calls[key.call] if key.call < len(calls) else None
    if call is None or key.leaf not in call.output_leaves:
        raise HookViewerError(f"{key.path} was not called so in the run of the input alone.")
    return call.output_shapes[call.output_leaves.index(key.leaf)]


def _part(record: Record, shape: tuple[int, ...], place: int, count: int) -> Record:
    """Return the part of a record that is one target's; raise `HookViewerError` where that cannot be told."""
    wholes = [
        tuple(size * (count if axis == at else 1) for at, size in enumerate(shape))
        for axis in range(len(shape))
    ]
    axes = [axis for axis, whole in enumerate(wholes) if whole == record.shape]
    if len(axes) != 1 or record.kept is None:
        raise HookViewerError(f"The samples of {record.key.path} cannot be told apart.")
    kept = record.kept.narrow(axes[0], place * shape[axes[0]], shape[axes[0]]).contiguous()
    return dataclasses.replace(record, shape=tuple(kept.shape), kept=kept)
