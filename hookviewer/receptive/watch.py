"""Seeing every tensor that modules and functional calls return, as it stands in the graph."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from hookviewer import torch_private
from hookviewer.errors import Cancelled
from hookviewer.kinds import Functional, Key, Kind
from hookviewer.leaves import leaves
from hookviewer.ops import Function, OpMode, is_whole, written_by

OnOutput = Callable[[Key, torch.Tensor], object]


@dataclasses.dataclass(eq=False)
class _Running:
    """A call of a module that has begun; `made` counts the functional calls of each name in it."""

    path: str
    call: int
    whole: bool
    made: Counter[str] = dataclasses.field(default_factory=Counter)


class Watch:
    """Tells `on_output` of every tensor with its key; names and numbers are those of a recording."""

    def __init__(self, on_output: OnOutput, cancelled: Callable[[], bool] | None) -> None:
        self._on_output, self._cancelled = on_output, cancelled
        self._calls: Counter[str] = Counter()
        self._running: list[_Running] = []

    @contextlib.contextmanager
    def on(self, module: nn.Module, path: str) -> Iterator[None]:
        """Watch the calls of a module."""
        handles = (
            module.register_forward_pre_hook(lambda one, args: self._begin(one, path)),
            module.register_forward_hook(lambda one, args, output: self._end(output)),
        )
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def functions(self) -> OpMode:
        """Watch the functional calls of modules that are watched."""
        return OpMode(self._called)

    def _begin(self, module: nn.Module, path: str) -> None:
        if self._cancelled is not None and self._cancelled():
            raise Cancelled
        self._running.append(_Running(path, self._calls[path], is_whole(module)))
        self._calls[path] += 1

    def _end(self, output: Any) -> None:
        ended = self._running.pop()
        self._tell(ended.path, ended.call, output)

    def _called(self, name: str, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = function(*args, **kwargs)
        if self._running and not self._running[-1].whole:
            caller = self._running[-1]
            path = Functional(caller.path, name, caller.made[name]).path
            caller.made[name] += 1
            with torch_private.without_torch_function():
                self._tell(path, caller.call, written_by(name, args) if result is None else result)
        return result

    def _tell(self, path: str, call: int, output: Any) -> None:
        for leaf, tensor in leaves(output):
            self._on_output(Key(path, Kind.OUTPUT, call, leaf), tensor)
