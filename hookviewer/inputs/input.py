"""An input: what a model is called with, and the picture it stands for."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from PIL.Image import Image

    from hookviewer.inputs.pixels import Picture


@dataclasses.dataclass(frozen=True, eq=False)
class Input:
    """What a model is called with: `model(*args, **kwargs)`.

    `image` is exactly the picture the net saw before normalisation, or `None`. `notes` are sentences: what
    was done to the picture, and warnings. `spec` opens the same input again where it came from one; else
    `source` keeps the pictures it was made of. `frame` is the number of its picture among the `frames` in
    the file, from 0. `batch` is the number of samples that it holds; by itself, the rows of its first tensor.
    `words` are what the tokens of its first sample are called, such as a tokenizer's pieces of a sentence.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    image: Image | None = None
    notes: tuple[str, ...] = ()
    spec: str = ""
    frame: int = 0
    frames: int = 1
    batch: int = 0
    source: tuple[Picture, ...] | None = dataclasses.field(default=None, repr=False)
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.batch < 1:
            object.__setattr__(self, "batch", samples((*self.args, *self.kwargs.values())))


def samples(arguments: Sequence[Any]) -> int:
    """Return how many samples arguments hold: the rows of the first tensor, or the length of a list."""
    for one in arguments:
        if isinstance(one, torch.Tensor):
            return max(one.shape[0], 1) if one.ndim > 1 else 1
        if isinstance(one, list) and one and isinstance(one[0], torch.Tensor):
            return len(one)
    return 1


class InputSource(ABC):
    """A kind of place that inputs come from. Sources are asked in the order of `rank`, lowest first."""

    rank: int = 50

    @abstractmethod
    def accepts(self, spec: str) -> bool:
        """Whether this source is the one to open `spec`."""

    @abstractmethod
    def open(self, spec: str, model: nn.Module | None) -> Input:
        """Make the input that `spec` names, fit for `model`."""
