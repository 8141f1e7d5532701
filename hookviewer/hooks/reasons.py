"""Why something that was asked for is not there, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set

import torch
from torch import nn

from hookviewer import torch_private
from hookviewer.hooks.calls import Calls, Frame
from hookviewer.hooks.request import Request, Wanted
from hookviewer.kinds import GRADIENTS, Functional, Key, Kind
from hookviewer.modules import ModuleIndex
from hookviewer.ops import is_whole

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
        used_by: Mapping[str, str],
        stopped: str,
        aimless: str = "",
        after_target: Callable[[Frame, Kind], bool] = lambda frame, kind: False,
    ) -> None:
        self.index = index
        self.request = request
        self.calls = calls
        self.said = said
        self.used = used
        """Modules that were not called but whose parameters are in the graph."""
        self.used_by = used_by
        """The functional call that uses the parameters of a module, where functional calls are listed."""
        self.stopped = stopped
        """A sentence on why the run ended early, or nothing."""
        self.aimless = aimless
        """A sentence on why there was no target, or nothing."""
        self.after_target = after_target
        """Whether what a call was given or returned came to be after the target."""

    def reasons(self, records: Mapping[Key, object]) -> dict[Key, str]:
        """Return the absent keys, each with its reason."""
        found = {path: self._wanted(path) for path in (*self.request.modules, *self.calls.by_path)}
        return {
            key: why
            for path, wanted in found.items()
            for kind in sorted(wanted.kinds)
            for key, why in self._of(path, kind)
            if key not in records
        }

    def _wanted(self, path: str) -> Wanted:
        functional = any(frame.module is None for frame in self.calls.by_path.get(path, ())[:1])
        return self.request.wanted_call(path) if functional else self.request.wanted(path)

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
            what = "The function" if frame.module is None else "The module"
            yield Key(frame.path, kind, frame.number), f"{what} {word} no tensor in this call."
        for leaf in leaves:
            key = Key(frame.path, kind, frame.number, leaf)
            yield key, self.said.get(key) or self.stopped or self._not_reached(frame, kind)

    def _not_reached(self, frame: Frame, kind: Kind) -> str:
        if kind in GRADIENTS and self.after_target(frame, kind):
            return AFTER.format(self.request.target)
        return self._unreached(kind)

    def _unreached(self, kind: Kind) -> str:
        return (kind in GRADIENTS and self.aimless) or NOT_REACHED

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
            what = "A functional call" if self._is_call(path) else "The module"
            yield Key(path, kind), f"{what} has no parameters of its own."
        for name, value in own.items():
            frozen = "It is frozen: its requires_grad is False." if not value.requires_grad else ""
            key = Key(path, kind, 0, name)
            yield key, self.said.get(key) or frozen or self.stopped or self._unused(path, kind)

    def _unused(self, path: str, kind: Kind) -> str:
        if path in self.calls.by_path:
            return self._unreached(kind)
        return "No gradient reached it: its module was not called in this run, nor was it used directly."

    def _not_called(self, path: str) -> str:
        module = self.index.modules.get(path)
        if module is None and self._is_call(path):
            return self._no_such_call(path)
        if module is None:
            return "The model did not call such a module in this run."
        if isinstance(module, CONTAINERS):
            return (
                f"A {type(module).__name__} is a container: it is never called itself, only what is inside."
            )
        if path in self.used_by:
            return f"It was not called: its weights are used directly by {self.used_by[path]}."
        if self._used_directly(path):
            return (
                "It was not called: another module uses its parameters directly, and no hook sees its output."
            )
        if self.stopped:
            return f"It was not called. {self.stopped}"
        return "It was not called in this run: the model leaves it out, or uses only its parameters."

    def _is_call(self, path: str) -> bool:
        return path not in self.index.modules and Functional.of(path) is not None

    def _no_such_call(self, path: str) -> str:
        wished = Functional.of(path)
        owner = "" if wished is None else wished.module
        module = self.index.modules.get(owner)
        if module is not None and is_whole(module):
            return f"What runs inside of a {type(module).__name__} is not listed: the module is its record."
        if owner not in self.calls.by_path:
            return f"No such call was made: {owner or 'the model'} was not called in this run."
        calls = map(Functional.of, self.calls.by_path)
        made = [f"{call.op}#{call.number}" for call in calls if call is not None and call.module == owner]
        return (
            f"{owner or 'The model'} made no such call in this run; it made {', '.join(made[:12]) or 'none'}."
        )

    def _used_directly(self, path: str) -> bool:
        parent, _, name = path.rpartition(".")
        owner = self.index.modules.get(parent)
        if isinstance(owner, nn.MultiheadAttention) and name == "out_proj":
            return parent in self.calls.by_path
        return path in self.used
