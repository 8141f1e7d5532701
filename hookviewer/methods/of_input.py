"""Maps of the input: which of its places the target hangs on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import torch

from hookviewer.edits import Edit
from hookviewer.errors import Cancelled
from hookviewer.kinds import Key, Kind
from hookviewer.leaves import input_leaves
from hookviewer.methods.method import Answer, Method, Needs
from hookviewer.methods.notes import notes_on
from hookviewer.methods.question import Question, Sample, UnsuitedError, samples
from hookviewer.methods.recorded import attributed
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording


def added_up(values: torch.Tensor) -> torch.Tensor:
    """Return maps [N, 1, …] of a picture or volume [N, C, …]: its channels added up; else `values`."""
    return values.sum(1, keepdim=True) if values.dim() in (4, 5) else values


def strongest(values: torch.Tensor) -> torch.Tensor:
    """Return maps [N, 1, …] of a picture or volume: the largest magnitude of its channels; else |values|."""
    return values.abs().amax(1, keepdim=True) if values.dim() in (4, 5) else values.abs()


def input_key(name: str, leaf: str, floats: Sequence[str]) -> Key:
    """Return the key of the map of one input; that of the first bears the method's name alone."""
    return Key("", Kind.ATTRIBUTION, 0, name if leaf == floats[0] else f"{name}{leaf}")


def no_floats(method: Method, question: Question) -> Answer:
    """Return the answer for a model whose inputs are no floating point numbers."""
    kinds = ", ".join(str(tensor.dtype) for _, tensor in input_leaves(question.args, question.kwargs))
    return Key("", Kind.ATTRIBUTION, 0, method.name), (
        f"{method.title} needs an input of floating point numbers; this one is {kinds or 'no tensor'}: "
        "use a method for layers, on the output of the embedding."
    )


def float_leaves(question: Question) -> dict[str, torch.Tensor]:
    """Return the floating point tensors that go in, by leaf."""
    found = input_leaves(question.args, question.kwargs)
    return {leaf: tensor for leaf, tensor in found if tensor.is_floating_point()}


class GradientMethod(Method):
    """A method that reads the gradient at the input, from one run."""

    needs = Needs.INPUT_GRADIENT
    of_layers = False

    @abstractmethod
    def explain(self, values: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """Return the map of an input [N, …] from its values and its gradient."""

    def run(self, question: Question) -> tuple[Recording, Sequence[str]]:
        """Return a run that has recorded the gradient at the input, and what has to be said about it."""
        return question.run(INPUT_PLAN), ()

    def answers(self, question: Question) -> Iterator[Answer]:
        """Yield one map for each input of floating point numbers."""
        floats = float_leaves(question)
        if not floats:
            yield no_floats(self, question)
            return
        question.tell(0, 1)
        recording, said = self.run(question)
        question.tell(1, 1)
        for leaf in floats:
            key = input_key(self.name, leaf, list(floats))
            source = Key("", Kind.GRAD_INPUT, 0, leaf)
            if source not in recording:
                yield key, recording.reason(source)
                continue
            gradient = wide(recording[source].tensor())
            values = self.explain(wide(floats[leaf].detach().cpu()), gradient)
            notes = (*said, *notes_on(values, gradient))
            yield key, attributed("", 0, key.leaf, values, notes, recording[source].device)


INPUT_PLAN = HookPlan(frozenset({""}), frozenset({Kind.GRAD_INPUT}))


def edited_run(question: Question, edits: Sequence[Edit]) -> Recording:
    """Return a run with edits that has recorded the gradient at the input."""
    return question.run(INPUT_PLAN, edits=edits)


class SampledMethod(Method):
    """A method that runs the model on many variants of each sample of the input."""

    of_layers = False

    @abstractmethod
    def explain(self, sample: Sample, steps: Steps) -> Mapping[str, Part]:
        """Return the values of one sample's map by the input's leaf."""

    @abstractmethod
    def count(self, sample: Sample) -> int:
        """Return how many runs of the model one sample takes."""

    @abstractmethod
    def reduced(self, values: torch.Tensor) -> torch.Tensor:
        """Return the map [N, 1, …] of the values [N, C, …]."""

    def answers(self, question: Question) -> Iterator[Answer]:
        """Yield one map for each input of floating point numbers, over all samples."""
        floats = list(float_leaves(question))
        if not floats:
            yield no_floats(self, question)
            return
        each = samples(question)
        try:
            steps = Steps(question, sum(self.count(sample) for sample in each))
            found = self._explained(each, steps)
        except UnsuitedError as error:
            yield Key("", Kind.ATTRIBUTION, 0, self.name), str(error)
            return
        for leaf in [leaf for leaf in floats if leaf in found[0]]:
            key = input_key(self.name, leaf, floats)
            values = self.reduced(torch.cat([wide(one[leaf].values) for one in found]))
            said = [
                _numbered(note, at, len(each)) for at, one in enumerate(found) for note in one[leaf].notes
            ]
            yield key, attributed("", 0, key.leaf, values, (*said, *notes_on(values)))
        if steps.stopped is not None:
            raise steps.stopped

    def _explained(self, each: Sequence[Sample], steps: Steps) -> list[Mapping[str, Part]]:
        found: list[Mapping[str, Part]] = []
        for sample in each:
            if steps.stopped is None:
                found.append(self.explain(sample, steps))
        return found


def _numbered(note: str, index: int, count: int) -> str:
    return f"Sample {index}: {note}" if count > 1 else note


class Part(NamedTuple):
    """The values of one sample, as large as the input, and what has to be said about them."""

    values: torch.Tensor
    notes: tuple[str, ...] = ()


class Steps:
    """Counts the variants that have run, and tells who wants to know.

    A method that can use what is done already when it is stopped keeps the `Cancelled` here; it is raised
    when the unfinished map has been handed over.
    """

    def __init__(self, question: Question, total: int) -> None:
        self.question = question
        self.total = total
        self.done = 0
        self.stopped: Cancelled | None = None
        question.tell(0, total)

    def portions(self, sample: Sample, count: int) -> Iterator[range]:
        """Yield the numbers of `count` variants in portions that run at once, and count them."""
        for portion in sample.chunks(count):
            yield portion
            self.done += len(portion)
            self.question.tell(self.done, self.total)


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor in single precision, or double where it is."""
    return tensor if tensor.dtype == torch.float64 else tensor.to(torch.float32)
