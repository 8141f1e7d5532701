"""Which module is running, and its number of call, counted when the call starts."""

from __future__ import annotations

import dataclasses
import sys

import torch
from torch import nn
from torch.autograd.graph import GradientEdge

from hookviewer import torch_private
from hookviewer.edits import Edit
from hookviewer.kinds import Functional, Key
from hookviewer.leaves import Loan, take_back
from hookviewer.recording import Call
from hookviewer.snapshot import shape_of

Shapes = tuple[tuple[int, ...], ...]
Leaves = list[tuple[str, torch.Tensor]]


@dataclasses.dataclass(slots=True, eq=False)
class Lent:
    """A second tensor object for an input: what flows into its gradient came through this module."""

    alias: torch.Tensor
    original: torch.Tensor
    version: int
    base_edge: GradientEdge | None
    keys: list[Key] = dataclasses.field(default_factory=list)
    edits: list[Edit] = dataclasses.field(default_factory=list)

    @property
    def written(self) -> bool:
        """Whether its memory was written in place since it was lent."""
        return torch_private.version(self.alias) != self.version


class Frame:
    """One call of one module while it runs; a functional call has no `module`."""

    __slots__ = (
        "begins",
        "fingerprint",
        "handling",
        "input_leaves",
        "input_shapes",
        "inputs",
        "lent",
        "loans",
        "module",
        "number",
        "opened",
        "order",
        "output_leaves",
        "output_shapes",
        "path",
        "repeated",
        "status",
        "versions",
    )

    def __init__(self, module: nn.Module | None, path: str, number: int, order: int) -> None:
        self.module = module
        self.path = path
        self.number = number
        self.order = order
        self.handling = sys.exc_info()[1]
        """The exception that the model is handling already: it is not this call's failure."""
        self.status = "running"
        self.opened: dict[str, int] = {}
        """How often each function, and each module that has no name, was called right inside."""
        self.begins = 0
        """How many tensors were recorded before the module itself ran."""
        self.inputs: Leaves = []
        self.versions: list[tuple[torch.Tensor, int]] = []
        self.lent: list[Lent] = []
        self.loans: list[Loan] = []
        self.repeated = False
        """Whether this is, or has had, the second run of a checkpointed block."""
        self.fingerprint: tuple[object, ...] = ()
        self.input_shapes: Shapes = ()
        self.input_leaves: tuple[str, ...] = ()
        self.output_shapes: Shapes = ()
        self.output_leaves: tuple[str, ...] = ()

    def close(self, status: str) -> None:
        """End the call and let go of the model's tensors."""
        self.status = status
        if self.loans:
            take_back(self.loans)
        self.inputs = []
        self.versions = []
        self.lent = []

    def finished(self) -> Call:
        """Return what is remembered of the call."""
        return Call(
            self.path,
            self.number,
            self.order,
            self.status,
            self.input_shapes,
            self.input_leaves,
            self.output_shapes,
            self.output_leaves,
            self.module is None,
            "" if self.module is None else type(self.module).__name__,
        )

    def next(self, name: str) -> str:
        """Return the path of the next thing called `name` that this call runs itself."""
        number = self.opened.get(name, 0)
        self.opened[name] = number + 1
        return Functional(self.path, name, number).path


class Calls:
    """All calls of a run in order of start, and the stack of those that are running."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.by_path: dict[str, list[Frame]] = {}
        self.stack: list[Frame] = []

    def start(self, module: nn.Module, path: str) -> Frame:
        """Count a new call of `module`."""
        calls = self.by_path.setdefault(path, [])
        frame = Frame(module, path, len(calls), len(self.frames))
        calls.append(frame)
        self.frames.append(frame)
        self.stack.append(frame)
        return frame

    def made(self, caller: Frame, name: str) -> Frame:
        """Count a functional call that `caller` makes; its number is that of the caller's call."""
        path = caller.next(name)
        if caller.repeated:
            frame = Frame(None, path, caller.number, -1)
            frame.repeated = True
            return frame
        frame = Frame(None, path, caller.number, len(self.frames))
        self.by_path.setdefault(path, []).append(frame)
        self.frames.append(frame)
        return frame

    def repeat(self, module: nn.Module, path: str) -> Frame:
        """Push a call of a checkpointed block's second run, which is not counted."""
        number = 0 if len(self.by_path.get(path, ())) == 1 else -1
        frame = Frame(module, path, number, -1)
        frame.repeated = True
        self.stack.append(frame)
        return frame

    def end(self, module: nn.Module) -> Frame | None:
        """Pop the running call of `module`, and those inside it that an exception has skipped."""
        if self.stack and self.stack[-1].module is module:
            return self.stack.pop()
        if not any(frame.module is module for frame in self.stack):
            return None
        while True:
            frame = self.stack.pop()
            if frame.module is module:
                return frame
            frame.close("raised")

    def log(self) -> dict[str, tuple[Call, ...]]:
        """Return the calls of every module."""
        return {path: tuple(frame.finished() for frame in frames) for path, frames in self.by_path.items()}


def shapes(leaves: Leaves) -> Shapes:
    """Return the shapes of tensors; of a nested one that which its parts are padded to."""
    return tuple([shape_of(tensor) if tensor.is_nested else tuple(tensor.shape) for _, tensor in leaves])
