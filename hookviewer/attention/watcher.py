"""Watching a run for attention: which module computes it, and from what."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from hookviewer import torch_private
from hookviewer.attention.rebuilt import by_head, multi_head, scaled_dot_product
from hookviewer.attention.windows import Windows, given_to, windows_of
from hookviewer.modules import ModuleIndex

_PRODUCTS = frozenset({"matmul", "__matmul__", "bmm", "einsum"})
_PASSING = frozenset(
    {"dropout", "to", "type_as", "contiguous", "float", "half", "bfloat16", "clone", "view", "reshape"}
)
_HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "heads", "nhead")


@dataclasses.dataclass(frozen=True, eq=False)
class Seen:
    """One attention as it was seen: weights [N, heads, L, S], who computed it and how well it was rebuilt."""

    path: str
    call: int
    number: int
    weights: torch.Tensor
    deviation: float
    windows: Windows | None


@dataclasses.dataclass(eq=False)
class _Running:
    path: str
    call: int
    module: nn.Module
    given: tuple[int, ...]
    seen: int = 0


class Watcher(TorchFunctionMode):
    """Sees the functions that modules call, and takes the attention weights out of three forms of it.

    `multi_head_attention_forward` (torch's own layers), `scaled_dot_product_attention` (fused), and a softmax
    over the last axis that is then multiplied with values. What the model computes is not touched.
    """

    def __init__(self, on_seen: Callable[[Seen], object]) -> None:
        super().__init__()
        self.on_seen = on_seen
        self.running: list[_Running] = []
        self.calls: dict[str, int] = {}
        self.softmaxes: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        """Softmaxes that wait for their values, by the `id` of what became of them (which is kept alive)."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call the function as the model would, and look at what went in and came out."""
        kwargs = kwargs or {}
        output = func(*args, **kwargs)
        if self.running:
            with torch_private.without_torch_function(), torch.no_grad():
                self._look(func, args, kwargs, output)
        return output

    def _look(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        name = getattr(func, "__name__", "")
        if func is functional.multi_head_attention_forward:
            weights, again = multi_head(args, kwargs)
            self._saw(weights, again, output[0])
        elif func is functional.scaled_dot_product_attention:
            weights, again = scaled_dot_product(*args, **kwargs)
            self._saw(weights, again, output)
        elif name == "softmax":
            if output.dim() > 2 and _axis(args, kwargs) in (-1, output.dim() - 1):
                self.softmaxes[id(output)] = (output, output)
        elif self.softmaxes and name in _PASSING and args and id(args[0]) in self.softmaxes:
            self.softmaxes[id(output)] = (output, self.softmaxes[id(args[0])][1])
        elif self.softmaxes and name in _PRODUCTS:
            self._multiplied(args, output)

    def _multiplied(self, args: tuple[Any, ...], output: torch.Tensor) -> None:
        equation = args[0] if isinstance(args[0], str) else None
        operands = args if equation is None else args[1:]
        if not operands or id(operands[0]) not in self.softmaxes:
            return
        used, weights = self.softmaxes.pop(id(operands[0]))
        shaped = weights.reshape(used.shape).to(used.dtype)
        again = shaped @ operands[1] if equation is None else torch.einsum(equation, shaped, *operands[1:])
        self._saw(used, again, output)

    def _saw(self, weights: torch.Tensor, again: torch.Tensor, output: torch.Tensor) -> None:
        running = self.running[-1]
        heads = next(
            (getattr(running.module, name) for name in _HEADS if _counts(running.module, name)), None
        )
        deviation = float((again.to(output.dtype) - output).abs().max()) if output.numel() else 0.0
        found = by_head(weights.detach(), heads)
        windows = self._windows(tuple(found.shape))
        self.on_seen(Seen(running.path, running.call, running.seen, found, deviation, windows))
        running.seen += 1

    def _windows(self, shape: tuple[int, ...]) -> Windows | None:
        """Return the windows of the running module; what it is given may be cut by the block around it."""
        inner = self.running[-1]
        for outer in self.running[-3:]:
            found = windows_of(inner.module, outer.module, outer.given, shape)
            if found is not None:
                return found
        return None

    def enter(self, module: nn.Module, path: str, args: tuple[Any, ...]) -> None:
        """Note that a call of a module starts."""
        number = self.calls.get(path, 0)
        self.calls[path] = number + 1
        self.running.append(_Running(path, number, module, given_to(args)))

    def leave(self, module: nn.Module) -> None:
        """Note that a call of a module has ended, also when it raised."""
        while self.running and self.running[-1].module is not module:
            self.running.pop()
        if self.running:
            self.running.pop()
        if not self.running:
            self.softmaxes.clear()


@contextlib.contextmanager
def watched(index: ModuleIndex, watcher: Watcher) -> Iterator[None]:
    """Let the watcher know which module runs, for as long as the body runs; then take every hook off."""
    handles = []
    try:
        for path, module in index.modules.items():

            def before(module: nn.Module, args: Any, path: str = path) -> None:
                watcher.enter(module, path, args)

            def after(module: nn.Module, args: Any, output: Any) -> None:
                watcher.leave(module)

            handles.append(module.register_forward_pre_hook(before))
            handles.append(module.register_forward_hook(after, always_call=True))
        with watcher:
            yield
    finally:
        for handle in handles:
            handle.remove()


def _axis(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return kwargs.get("dim", args[1] if len(args) > 1 else None)


def _counts(module: nn.Module, name: str) -> bool:
    return isinstance(getattr(module, name, None), int)
