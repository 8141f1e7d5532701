"""Why something that was asked for is not there, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set

import torch
from torch import nn

from hookviewer import torch_private
from hookviewer.hooks.calls import Calls, Frame
from hookviewer.hooks.request import Request
from hookviewer.kinds import GRADIENTS, Key, Kind
from hookviewer.modules import ModuleIndex

CONTAINERS = (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)

NOT_REACHED = (
    "No gradient reached it from the target: the target does not depend on it, "
    "or detach() or no_grad cuts the way in between."
)

AFTER = (
    "No gradient reaches it: it was computed after the target, {}, and a gradient runs back from there only."
)


def obstacle(tensor: torch.Tensor) -> str:
    """Return why `tensor` can have no gradient here, or nothing where it can."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        dtype = str(tensor.dtype).removeprefix("torch.")
        return f"A tensor of {dtype} has no gradient, only floating point numbers have."
    if torch_private.in_functorch(tensor):
        return "It exists only inside a vmap or grad transform: record a module outside of it."
    if tensor.is_inference():
        return "It was computed under inference_mode, which allows no gradient."
    if tensor.requires_grad and torch.is_grad_enabled():
        return ""
    if not torch.is_grad_enabled():
        return "It was computed under no_grad, which the model switches on itself."
    return (
        "It does not depend on anything that requires grad: no floating point input and no trainable "
        "parameter leads to it, or detach() cuts it off."
    )


class Absence:
    """Finds the reason for every key that a request asked for and that has no record."""

    def __init__(
        self,
        index: ModuleIndex,
        request: Request,
        calls: Calls,
        *,
        said: Mapping[Key, str],
        used: Set[str],
        stopped: str,
        after_target: Callable[[Frame, Kind], bool] = lambda frame, kind: False,
    ) -> None:
        self.index = index
        self.request = request
        self.calls = calls
        self.said = said
        self.used = used
        """Modules that were not called but whose parameters are in the graph."""
        self.stopped = stopped
        """A sentence on why the run ended early, or nothing."""
        self.after_target = after_target
        """Whether what a call was given or returned came to be after the target."""

    def reasons(self, records: Mapping[Key, object]) -> dict[Key, str]:
        """Return the absent keys, each with its reason."""
        found = {path: self.request.wanted(path) for path in (*self.request.modules, *self.calls.by_path)}
        return {
            key: why
            for path, wanted in found.items()
            for kind in sorted(wanted.kinds)
            for key, why in self._of(path, kind)
            if key not in records
        }

    def never_called(self) -> dict[str, str]:
        """Return the reason for every module that no call reached."""
        return {path: self._not_called(path) for path in self.index.modules if path not in self.calls.by_path}

    def _of(self, path: str, kind: Kind) -> Iterator[tuple[Key, str]]:
        if kind in (Kind.PARAM, Kind.PARAM_GRAD):
            yield from self._of_parameters(path, kind)
            return
        frames = self.calls.by_path.get(path, [])
        if not frames:
            yield Key(path, kind), self._not_called(path)
        for frame in frames:
            yield from self._of_call(frame, kind)

    def _of_call(self, frame: Frame, kind: Kind) -> Iterator[tuple[Key, str]]:
        side = "input" if "input" in kind else "output"
        leaves = frame.input_leaves if side == "input" else frame.output_leaves
        if side == "output" and frame.status != "ok":
            yield Key(frame.path, kind, frame.number), self._no_output(frame)
            return
        if not leaves:
            word = "was given" if side == "input" else "returned"
            yield Key(frame.path, kind, frame.number), f"The module {word} no tensor in this call."
        for leaf in leaves:
            key = Key(frame.path, kind, frame.number, leaf)
            yield key, self.said.get(key) or self.stopped or self._not_reached(frame, kind)

    def _not_reached(self, frame: Frame, kind: Kind) -> str:
        if kind in GRADIENTS and self.after_target(frame, kind):
            return AFTER.format(self.request.target)
        return NOT_REACHED

    def _no_output(self, frame: Frame) -> str:
        if frame.status == "raised":
            return "The call raised an error and returned nothing."
        return self.stopped or "The call did not end."

    def _of_parameters(self, path: str, kind: Kind) -> Iterator[tuple[Key, str]]:
        module = self.index.modules.get(path)
        own = (
            {}
            if module is None
            else {name: value for name, value in module._parameters.items() if value is not None}
        )
        if not own:
            yield Key(path, kind), "The module has no parameters of its own."
        for name, value in own.items():
            frozen = "It is frozen: its requires_grad is False." if not value.requires_grad else ""
            key = Key(path, kind, 0, name)
            yield key, self.said.get(key) or frozen or self.stopped or self._unused(path)

    def _unused(self, path: str) -> str:
        if path in self.calls.by_path:
            return NOT_REACHED
        return "No gradient reached it: its module was not called in this run, nor was it used directly."

    def _not_called(self, path: str) -> str:
        module = self.index.modules.get(path)
        if module is None:
            return "The model did not call such a module in this run."
        if isinstance(module, CONTAINERS):
            return (
                f"A {type(module).__name__} is a container: it is never called itself, only what is inside."
            )
        if self._used_directly(path):
            return (
                "It was not called: another module uses its parameters directly, and no hook sees its output."
            )
        if self.stopped:
            return f"It was not called. {self.stopped}"
        return "It was not called in this run: the model leaves it out, or uses only its parameters."

    def _used_directly(self, path: str) -> bool:
        parent, _, name = path.rpartition(".")
        owner = self.index.modules.get(parent)
        if isinstance(owner, nn.MultiheadAttention) and name == "out_proj":
            return parent in self.calls.by_path
        return path in self.used
