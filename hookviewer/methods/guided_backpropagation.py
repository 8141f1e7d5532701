"""Guided backpropagation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import Node

from hookviewer.edits import Edit, clamp
from hookviewer.kinds import Kind
from hookviewer.leaves import leaves
from hookviewer.methods.of_input import INPUT_PLAN, GradientMethod, strongest
from hookviewer.methods.question import Question
from hookviewer.modules import module_index, unwrapped
from hookviewer.recording import Recording
from hookviewer.targets import Target, unit

RECTIFIERS = (nn.ReLU, nn.ReLU6)
_NODES = ("ReluBackward", "HardtanhBackward", "ThresholdBackward")
NO_RECTIFIER = "The model has no ReLU: this is its plain gradient."
UNREACHED = "Only ReLU modules were guided: with a unit as the target, functional ReLUs are not reached."


class GuidedBackpropagation(GradientMethod):
    """The gradient with only its positive part let through every ReLU, so that no opposing paths cancel.

    ReLU modules are reached by edits of their gradient, functional ReLUs by their place in the graph.
    """

    name = "guided_backpropagation"
    title = "Guided backpropagation"
    paper = "Springenberg et al., Striving for Simplicity: The All Convolutional Net, ICLR workshop 2015"

    def explain(self, values: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """Return max_c |guided gradient_c|."""
        return strongest(gradient)

    def run(self, question: Question) -> tuple[Recording, Sequence[str]]:
        """Return a run with the gradient of every ReLU cut at zero."""
        paths = rectifiers(question.model)
        edits = [Edit(path, clamp(0.0), Kind.GRAD_OUTPUT) for path in paths]
        if isinstance(question.target, unit) or question.target is None:
            return question.run(INPUT_PLAN, edits=edits), (UNREACHED,)
        guided = Guided(question.target)
        recording = question.run(INPUT_PLAN, target=guided, edits=edits)
        calls = sum(len(recording.calls(path)) for path in paths)
        return recording, _said(calls, guided.count)


class Guided:
    """A target that, when it is asked, lets only positive gradients through every ReLU behind it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.count = 0

    def __call__(self, output: Any) -> torch.Tensor:
        number = self.target(output)
        starts = [number.grad_fn, *(tensor.grad_fn for _, tensor in leaves(output))]
        for node in _nodes([start for start in starts if start is not None]):
            if node.name().startswith(_NODES):
                node.register_prehook(_positive)
                self.count += 1
        return number

    def __str__(self) -> str:
        return str(self.target)


def rectifiers(model: nn.Module) -> list[str]:
    """Return the paths of the model's ReLU modules."""
    modules = module_index(unwrapped(model)[0]).modules
    return [path for path, module in modules.items() if isinstance(module, RECTIFIERS)]


def _positive(gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(None if gradient is None else gradient.clamp(min=0) for gradient in gradients)


def _nodes(starts: list[Node]) -> Iterator[Node]:
    seen: set[Node] = set()
    waiting = list(starts)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            yield node
            waiting += [following for following, _ in node.next_functions if following is not None]


def _said(calls: int, nodes: int) -> tuple[str, ...]:
    if not calls and not nodes:
        return (NO_RECTIFIER,)
    if nodes < calls:
        return (f"Of {calls} calls of ReLU modules, {nodes} have a part in the target.",)
    return ()
