"""What an attribution method is asked: a model, an input, a target, and who wants to know how far it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from hookviewer.edits import Edit
from hookviewer.errors import HookViewerError
from hookviewer.hooks import capture
from hookviewer.kinds import Key, Kind
from hookviewer.leaves import input_leaves, leaves, mapped
from hookviewer.methods.stacked import adds_up_samples, of_sample, settled, stacked
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording
from hookviewer.targets import Target

Inputs = tuple[tuple[Any, ...], Mapping[str, Any]]


class UnsuitedError(HookViewerError):
    """A method does not suit this model or input; what it would have made is absent with this reason."""


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """One input, one target and the layers that are asked about.

    `batch` is the most variants of an input that run at once. `on_progress` gets (runs done, runs in all) of
    the method that is at work, `on_run` the recording of each run. `cancelled` is asked at every module, as
    in `capture`. `edits` are made in every run, before those of a method.
    """

    model: nn.Module
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    target: Target | None
    plan: HookPlan = dataclasses.field(default_factory=HookPlan)
    mode: str = "eval"
    seed: int | None = 0
    device: str | torch.device | None = None
    batch: int = 8
    on_progress: Callable[[int, int], object] | None = None
    cancelled: Callable[[], bool] | None = None
    on_run: Callable[[Recording], object] | None = None
    edits: Sequence[Edit] = ()

    def run(
        self,
        plan: HookPlan,
        *,
        inputs: Inputs | None = None,
        target: Target | None = None,
        edits: Sequence[Edit] = (),
    ) -> Recording:
        """Run the model once, on other inputs or for another target where these are given."""
        args, kwargs = inputs or (self.args, self.kwargs)
        recording = capture(
            self.model,
            args,
            plan,
            kwargs=kwargs,
            target=target or self.target,
            edits=(*self.edits, *edits),
            mode=self.mode,
            seed=self.seed,
            device=self.device,
            cancelled=self.cancelled,
        )
        if self.on_run is not None:
            self.on_run(recording)
        return recording

    def tell(self, done: int, total: int) -> None:
        """Say how far the method is."""
        if self.on_progress is not None:
            self.on_progress(done, total)


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """One sample of the input alone, with its own target; variants of it can run as one batch or not."""

    question: Question
    inputs: Inputs
    target: Target
    stackable: bool
    value: float
    """The target's value of the unchanged sample."""

    @property
    def floats(self) -> dict[str, torch.Tensor]:
        """The tensors of floating point numbers that go in, by their leaf."""
        return {leaf: tensor for leaf, tensor in input_leaves(*self.inputs) if tensor.is_floating_point()}

    def chunks(self, count: int) -> Iterator[range]:
        """Yield the numbers of `count` variants in portions that run at once."""
        step = self.question.batch if self.stackable else 1
        for start in range(0, count, step):
            yield range(start, min(start + step, count))

    def values(self, changed: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return the target's value of each variant: `changed` holds [V, …] for the leaves that differ."""
        return self._run(changed, frozenset())[0]

    def gradients(self, changed: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return the target's value [V], and its gradient by `changed` leaf [V, …], of each variant."""
        return self._run(changed, frozenset({Kind.GRAD_INPUT}))

    def _run(
        self, changed: Mapping[str, torch.Tensor], kinds: frozenset[Kind]
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        count = len(next(iter(changed.values())))
        target = stacked(self.target, count)
        plan = HookPlan(frozenset({""}) if kinds else frozenset(), kinds or frozenset({Kind.OUTPUT}))
        recording = self.question.run(plan, inputs=self._variants(changed, count), target=target)
        gradients = {leaf: _gradient(recording, leaf) for leaf in changed if kinds}
        shaped = {leaf: gradient.reshape(changed[leaf].shape) for leaf, gradient in gradients.items()}
        return torch.tensor(target.values, dtype=torch.float64), shaped

    def _variants(self, changed: Mapping[str, torch.Tensor], count: int) -> Inputs:
        new: dict[int, torch.Tensor] = {}
        for leaf, tensor in input_leaves(*self.inputs):
            values = changed.get(leaf)
            if values is None:
                values = tensor.unsqueeze(0).expand(count, *tensor.shape)
            new[id(tensor)] = (values.flatten(0, 1) if self.stackable else values[0]).to(tensor.dtype)
        variants: Inputs = mapped(self.inputs, lambda tensor: new[id(tensor)])
        return variants


def samples(question: Question) -> list[Sample]:
    """Run the input as it is; return its samples one by one, or one whole where they cannot be told apart."""
    inputs: Inputs = (question.args, question.kwargs)
    if question.target is None:
        raise HookViewerError("Choose a target: an attribution needs one number to speak of.")
    recording = question.run(HookPlan())
    target = settled(question.target, recording.output)
    count = _batch(inputs, recording.output)
    value = recording.target_value if recording.target_value is not None else float("nan")
    if count < 2 or not adds_up_samples(target):
        return [Sample(question, inputs, target, count == 1, value)]
    found = []
    for index in range(count):
        row = _row(inputs, index)
        own = of_sample(target, index, count)
        value = float(question.run(HookPlan(), inputs=row, target=own).target_value or 0.0)
        found.append(Sample(question, row, own, True, value))
    return found


def _row(inputs: Inputs, index: int) -> Inputs:
    row: Inputs = mapped(inputs, lambda tensor: tensor[index : index + 1])
    return row


def _batch(inputs: Inputs, output: Any) -> int:
    """Return how many samples both the input and the output hold, 0 where the first axis is no sample."""
    given = [tensor for _, tensor in input_leaves(*inputs)]
    returned = [tensor for _, tensor in leaves(output) if tensor.is_floating_point()]
    sizes = {len(tensor) if tensor.dim() else 0 for tensor in (*given, *returned)}
    return sizes.pop() if len(sizes) == 1 and given and returned else 0


def _gradient(recording: Recording, leaf: str) -> torch.Tensor:
    key = Key("", Kind.GRAD_INPUT, 0, leaf)
    if key not in recording:
        raise UnsuitedError(recording.reason(key))
    return recording[key].tensor()
