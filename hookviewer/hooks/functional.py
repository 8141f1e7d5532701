"""Functional calls of a run: recorded and edited like calls of modules, under the module that runs them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from torch import nn

from hookviewer import torch_private
from hookviewer.errors import HookViewerError
from hookviewer.hooks.calls import Frame
from hookviewer.hooks.entering import edited_inputs, entered
from hookviewer.hooks.leaving import left, repeated
from hookviewer.hooks.request import NOTHING
from hookviewer.hooks.state import Halt, State
from hookviewer.kinds import Functional, Kind
from hookviewer.modules import ModuleIndex
from hookviewer.ops import Function, OpMode, is_whole, written_by

NOTHING_RETURNED = "The edit {} has no effect: {} returns nothing; edit its input instead."
SECOND_RUN = (
    "An edit of the functional call {} cannot be made again in the second run of a checkpointed function: "
    "edit the output of a module instead."
)


class FunctionalCalls:
    """Sees every functional call of one run."""

    def __init__(self, index: ModuleIndex, state: State, check_cancelled: Callable[[], None]) -> None:
        self.state = state
        self.check_cancelled = check_cancelled
        self.repeating = False
        """Whether this is the backward pass, in which checkpointed blocks run again."""
        self.used: dict[str, str] = {}
        """The functional call that uses the parameters of a module without calling it."""
        self.owners = {
            id(value): path
            for path, module in index.modules.items()
            for value in module._parameters.values()
            if value is not None
        }
        self.whole: dict[int, bool] = {}
        self.edited = {
            call.op for call in (Functional.of(edit.path) for edit in state.request.edits) if call is not None
        }

    def seen(self, *, repeating: bool) -> contextlib.AbstractContextManager[Any]:
        """Return a context in which the functional calls of this thread are seen."""
        self.repeating = repeating
        return OpMode(self._called)

    def recorded(self) -> bool:
        """Return whether any functional call that came by is recorded or edited."""
        return any(wanted is not NOTHING for wanted in self.state.request.matched.values())

    def _called(self, name: str, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        caller = self._caller(name)
        if caller is None:
            return function(*args, **kwargs)
        with torch_private.without_torch_function():
            self.check_cancelled()
            frame = self.state.calls.made(caller, name)
            args, kwargs = self._entered(frame, args, kwargs)
        try:
            result = function(*args, **kwargs)
        except BaseException:
            frame.close("raised")
            raise
        with torch_private.without_torch_function():
            new = self._left(frame, name, args, result)
            frame.close("ok")
        return new

    def _caller(self, name: str) -> Frame | None:
        """Return the running call that makes this functional call, `None` where nobody asks for it."""
        stack = self.state.calls.stack
        if not stack:
            self._check_second_run(name)
            return None
        module = stack[-1].module
        if module is None or self._is_whole(module):
            return None
        return stack[-1]

    def _is_whole(self, module: nn.Module) -> bool:
        known = self.whole.get(id(module))
        if known is None:
            known = self.whole[id(module)] = is_whole(module)
        return known

    def _check_second_run(self, name: str) -> None:
        if not self.repeating or name not in self.edited:
            return
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if frame.f_code.co_filename.replace("\\", "/").endswith("torch/utils/checkpoint.py"):
                raise Halt(HookViewerError(SECOND_RUN.format(name)), "")
            frame = frame.f_back

    def _entered(
        self, frame: Frame, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        wanted = self.state.request.wanted_call(frame.path)
        if frame.repeated:
            return edited_inputs(self.state, frame, wanted, (args, kwargs)) or (args, kwargs)
        self._find_used(frame, args, kwargs)
        return entered(self.state, frame, wanted, (args, kwargs)) or (args, kwargs)

    def _find_used(self, frame: Frame, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note whose parameters are given to the call."""
        for value in (*args, *kwargs.values()):
            owner = self.owners.get(id(value)) if isinstance(value, nn.Parameter) else None
            if owner is not None:
                self.used.setdefault(owner, frame.path)

    def _left(self, frame: Frame, name: str, args: tuple[Any, ...], result: Any) -> Any:
        wanted = self.state.request.wanted_call(frame.path)
        output = written_by(name, args) if result is None else result
        new = (repeated if frame.repeated else left)(self.state, frame, wanted, output)
        if result is not None:
            return new
        for edit in wanted.edits_of(Kind.OUTPUT):
            self.state.journal.note(NOTHING_RETURNED.format(edit, frame.path))
        return None
