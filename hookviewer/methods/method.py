"""What an attribution method is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from enum import StrEnum

import torch

from hookviewer.arrays import Hints
from hookviewer.arrays.roles import NOTHING
from hookviewer.kinds import Key, Kind
from hookviewer.methods.places import obstacle
from hookviewer.methods.question import Question
from hookviewer.methods.recorded import answers_from_records
from hookviewer.recording import Record


class Needs(StrEnum):
    """What a method has to do with the model."""

    RECORDS = "records"
    """One run, whose records are enough: for all layers at once, and beside other such methods."""
    INPUT_GRADIENT = "input gradient"
    """Runs with a backward pass down to the input."""
    FORWARDS = "forwards"
    """Many forward passes of changed inputs."""


Answer = tuple[Key, Record | str]
"""The record of one key, or why there is none."""


class Method(ABC):
    """A way to say where the evidence for a target lies: in a layer's maps, or in the input."""

    name: str
    title: str
    paper: str
    needs: Needs
    of_layers: bool
    """Whether it makes a map of each ticked layer; else it makes one of the input, under the path `""`."""
    signed: bool = False
    """Whether its maps hold what speaks against the target too, below zero."""

    def unsuited(self, shape: Sequence[int], hints: Hints = NOTHING) -> str:
        """Return why a layer's output of this shape has no such map, or nothing."""
        return obstacle(shape, hints)

    @abstractmethod
    def answers(self, question: Question) -> Iterator[Answer]:
        """Yield what was asked for, each as soon as it is there; `Cancelled` passes through."""


class LayerMethod(Method):
    """A method that needs no more than a layer's output and gradient, as any run records them."""

    needs = Needs.RECORDS
    of_layers = True
    kinds: frozenset[Kind] = frozenset({Kind.OUTPUT, Kind.GRAD_OUTPUT})
    """What has to be recorded."""

    @abstractmethod
    def compute(self, output: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """Return one map per sample, [N, …], from output and gradient [N, C, …]; not normalised.

        The rest are the places: rows and columns, or slices, rows and columns. `gradient` is empty where
        `kinds` does not ask for it.
        """

    def answers(self, question: Question) -> Iterator[Answer]:
        """Yield the map of every call of every layer, from one run."""
        yield from answers_from_records((self,), question)
