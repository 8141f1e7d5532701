"""The hooks themselves: one pair on every module, which see each call start and end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from torch import nn
from torch.utils.hooks import RemovableHandle

from hookviewer import torch_private
from hookviewer.hooks.calls import Frame
from hookviewer.hooks.entering import Inputs, edited_inputs, entered
from hookviewer.hooks.leaving import left, repeated
from hookviewer.hooks.state import State
from hookviewer.modules import ModuleIndex, joined, place_in

BUILT = "{} is a {} that no module holds: {} built it in forward, or got it from elsewhere."


class Observer:
    """Registers the hooks of one run, and takes every one of them off again."""

    def __init__(
        self,
        index: ModuleIndex,
        state: State,
        *,
        on_module: Callable[[str], object] | None,
        on_found: Callable[[str, nn.Module], object],
        check_cancelled: Callable[[], None],
    ) -> None:
        self.index = index
        self.paths = {id(module): path for path, module in index.modules.items()}
        self.state = state
        self.on_module = on_module
        self.on_found = on_found
        self.check_cancelled = check_cancelled
        self.phase = "idle"
        self.failure: tuple[BaseException, Frame] | None = None
        self.strangers: list[nn.Module] = []
        """Modules that were found on the way; while they are held no other object gets their `id`."""
        self.thread = threading.get_ident()
        self.handles: list[RemovableHandle] = []

    def attach(self) -> None:
        """Put one pair of hooks on every module object, behind the user's own."""
        for module in self.index.modules.values():
            self._hook(module)
        self.handles.append(nn.modules.module.register_module_forward_pre_hook(self._discover))

    def detach(self) -> None:
        """Take every hook off and let go of the model's tensors."""
        self.phase = "idle"
        for handle in self.handles:
            handle.remove()
        self.handles.clear()
        for frame in self.state.calls.stack:
            frame.close(frame.status)
        self.state.calls.stack.clear()
        self.failure = None

    def _hook(self, module: nn.Module) -> None:
        self.handles.append(module.register_forward_pre_hook(self._before, with_kwargs=True))
        self.handles.append(module.register_forward_hook(self._after, with_kwargs=True, always_call=True))

    def _listening(self) -> bool:
        """Return whether a call belongs to this run; the backward pass may use threads of its own."""
        return self.phase == "backward" or (self.phase == "forward" and threading.get_ident() == self.thread)

    def _discover(self, module: nn.Module, args: tuple[Any, ...]) -> Any:
        """Hook a module that is no submodule: built in `forward`, or kept in a plain list."""
        if id(module) in self.paths or self.phase != "forward" or not self._listening():
            return None
        with torch_private.without_torch_function():
            path = self._found(module)
            self.paths[id(module)] = path
            self.strangers.append(module)
            if path not in self.index.modules:
                self.index.modules[path] = module
                self.on_found(path, module)
            self._hook(module)
        result = self._before(module, args, {})  # the list of this call's pre-hooks was made before
        return None if result is None else result[0]

    def _found(self, module: nn.Module) -> str:
        """Return a path for a module that is no submodule: where the calling modules hold it, if they do."""
        running = self.state.calls.stack
        for frame in reversed(running):
            place = None if frame.module is None else place_in(frame.module, module)
            if place is not None:
                return joined(frame.path, place)
        caller = running[-1] if running else Frame(None, "", 0, 0)
        path = caller.next(type(module).__name__)
        self.state.journal.note(BUILT.format(path, type(module).__name__, caller.path or "the model"))
        return path

    def _before(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Inputs | None:
        if not self._listening():
            return None
        with torch_private.without_torch_function():
            self.check_cancelled()
            path = self.paths[id(module)]
            wanted = self.state.request.wanted(path)
            if self.phase == "backward":
                return edited_inputs(
                    self.state, self.state.calls.repeat(module, path), wanted, (args, kwargs)
                )
            if self.state.calls.stack:
                running = self.state.calls.stack[-1]
                self.state.overwrites.check(running.path, running.begins)
            frame = self.state.calls.start(module, path)
            if self.on_module is not None:
                self.on_module(path)
            return entered(self.state, frame, wanted, (args, kwargs))

    def _after(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        if not self._listening():
            return None
        with torch_private.without_torch_function():
            frame = self.state.calls.end(module)
            if frame is None:
                return None
            error = sys.exc_info()[1]
            if output is None and error is not None and error is not frame.handling:
                self._failed(frame, error)
                return None
            wanted = self.state.request.wanted(frame.path)
            finish = repeated if self.phase == "backward" else left
            result = finish(self.state, frame, wanted, output)
            frame.close("ok")
            return None if result is output else result

    def _failed(self, frame: Frame, error: BaseException) -> None:
        """Remember the innermost call that an exception has left; it is told first."""
        frame.close("raised")
        if self.failure is None or self.failure[0] is not error:
            self.failure = (error, frame)
