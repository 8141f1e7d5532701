"""An input: what a model is called with, and the picture it stands for."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from torch import nn

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclasses.dataclass(frozen=True, eq=False)
class Input:
    """What a model is called with: `model(*args, **kwargs)`.

    `image` is exactly the picture the net saw before normalisation, or `None`. `notes` are sentences: what
    was done to the picture, and warnings. `spec` opens the same input again where it came from one.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    image: Image | None = None
    notes: tuple[str, ...] = ()
    spec: str = ""


class InputSource(ABC):
    """A kind of place that inputs come from. Sources are asked in the order of `rank`, lowest first."""

    rank: int = 50

    @abstractmethod
    def accepts(self, spec: str) -> bool:
        """Whether this source is the one to open `spec`."""

    @abstractmethod
    def open(self, spec: str, model: nn.Module | None) -> Input:
        """Make the input that `spec` names, fit for `model`."""
