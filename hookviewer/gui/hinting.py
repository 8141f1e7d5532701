"""What the model and the inputs say about the axes of its tensors, beside their shapes."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from hookviewer.arrays import Hints
from hookviewer.inputs import Input
from hookviewer.leaves import input_leaves
from hookviewer.modules import ModuleNode

if TYPE_CHECKING:
    from hookviewer.gui.session import Session

_LEADING = re.compile(
    "^(cls|class|reg|register|registers|dist|distillation|storage)_(token|tokens|embedding)$"
)
_CONVOLUTION = re.compile(r"Conv\w*([123])d")


@dataclasses.dataclass(frozen=True)
class AxisHints:
    """Types and settings of modules by path, tokens before a grid, sizes of pictures, convolutions' rank."""

    modules: Mapping[str, tuple[str, str]] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    leading: int | None = None
    pictures: tuple[tuple[int, int], ...] | None = None
    rank: int | None = None

    def of(self, path: str, leaf: str = "", *, weight: bool = False) -> Hints:
        """Return the hints for one tensor of a module, or of a functional call."""
        _, call, operation = path.rpartition(":")
        name = operation.partition("#")[0] if call else ""
        module, details = self.modules.get(path, (name, ""))
        return Hints(module, details, leaf, weight, self.leading, self.pictures, self.rank)


def hints_of(tree: ModuleNode | None, inputs: Iterable[Input]) -> AxisHints:
    """Return what a model's modules and its inputs say."""
    given = tuple(inputs)
    if tree is None:
        return AxisHints(pictures=_pictures(given))
    nodes = tuple(tree.walk())
    return AxisHints(
        MappingProxyType({node.path: (node.type, node.details) for node in nodes}),
        _leading(nodes),
        _pictures(given),
        max((int(found.group(1)) for node in nodes if (found := _CONVOLUTION.match(node.type))), default=0),
    )


def _leading(nodes: Iterable[ModuleNode]) -> int | None:
    """Return how many tokens the model's own parameters put before the grid; None where none is named so."""
    shapes = [shape for node in nodes for name, shape in node.own if _LEADING.match(name) and shape]
    return sum(math.prod(shape[:-1]) for shape in shapes) if shapes else None


def _pictures(inputs: tuple[Input, ...]) -> tuple[tuple[int, int], ...] | None:
    """Return heights and widths of the pictures among the inputs, None without any input."""
    if not inputs:
        return None
    tensors = [tensor for one in inputs for _, tensor in input_leaves(one.args, one.kwargs)]
    sizes = [tuple(tensor.shape) for tensor in tensors if tensor.is_floating_point() and tensor.ndim >= 4]
    return tuple(dict.fromkeys((shape[-2], shape[-1]) for shape in sizes if min(shape[-2:]) > 1))


class Hinting:
    """Keeps the session's hints those of its model and inputs."""

    def __init__(self, session: Session) -> None:
        self._session = session
        session.model_changed.connect(self.refresh)
        session.inputs_changed.connect(self.refresh)

    def refresh(self) -> None:
        """Look at model and inputs again."""
        session = self._session
        session.set_look(hints=hints_of(session.tree, (item.input for item in session.inputs)))
