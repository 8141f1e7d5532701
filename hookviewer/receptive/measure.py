"""Running a model once to learn its geometry, or to measure what one cell sees; nothing of it is changed."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import Node, saved_tensors_hooks

from hookviewer.errors import HookViewerError
from hookviewer.hooks.prepare import own_inputs
from hookviewer.kinds import Key, Kind
from hookviewer.leaves import mapped
from hookviewer.modules import module_index, unwrapped
from hookviewer.preserve import chosen_device, device_of, on_device, preserved
from hookviewer.receptive.field import Box, Field, picture_field
from hookviewer.receptive.graph import Uncomputed, Walk
from hookviewer.receptive.watch import OnOutput, Watch

TRIES = 3
"""Inputs on which the support of a gradient is looked for: the given one and random ones like it."""


@dataclasses.dataclass(frozen=True, eq=False)
class Fields:
    """The fields of all modules' outputs on inputs of one shape.

    `known` holds a `Field`, or the operation that has no rule, by key; what does not depend on the picture at
    all is in neither. `size` is the picture's, in pixels of the tensor.
    """

    known: Mapping[Key, Field | Uncomputed]
    size: tuple[int, int]
    aliases: Mapping[str, str]

    def of(self, key: Key) -> Field | Uncomputed | None:
        """Return the field of the module call that a record of any kind is of."""
        return self.known.get(self.key_of(key))

    def key_of(self, key: Key) -> Key:
        """Return the key of the output that a record is of or was made of: of its own leaf, or the first."""
        path = self.aliases.get(key.path, key.path)
        own = Key(path, Kind.OUTPUT, key.call, key.leaf)
        if own in self.known:
            return own
        return next((one for one in self.known if one[:3] == own[:3]), own)


class _Reached(BaseException):
    """The layer that is looked for was called; a `BaseException`, so that the model cannot swallow it."""


def fields(
    model: nn.Module,
    args: Any,
    *,
    kwargs: Mapping[str, Any] | None = None,
    mode: str = "eval",
    seed: int | None = 0,
    device: str | torch.device | None = None,
    cancelled: Callable[[], bool] | None = None,
    ops: bool = False,
) -> Fields:
    """Return the field of every module's output with respect to the first picture among the inputs.

    With `ops`, that of every functional call's too. Runs the model once without keeping any activation: the
    fields come from the kernels, strides, dilations and paddings of the operations that ran. Raises
    `HookViewerError` where there is no picture or the model raises, `Cancelled`.
    """
    nodes: dict[Key, Node | None] = {}
    with _run(model, args, kwargs, mode=mode, seed=seed, device=device) as run, _forgetting():
        picture = _picture(run.origins)
        run.go(lambda key, tensor: nodes.setdefault(key, tensor.grad_fn), cancelled, ops=ops)
        height, width = picture.shape[-2:]
        walk = Walk(_leaf_node(picture), picture_field(height, width, picture.ndim))
        found = {key: walk.field_of(node) for key, node in nodes.items()}
    known = {key: one for key, one in found.items() if one is not None}
    return Fields(known, (int(height), int(width)), run.aliases)


def support(
    model: nn.Module,
    args: Any,
    key: Key,
    index: tuple[Any, ...],
    *,
    kwargs: Mapping[str, Any] | None = None,
    mode: str = "eval",
    seed: int | None = 0,
    device: str | torch.device | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Box | None:
    """Return the rectangle around all pixels with a gradient from `index` of what a module or call returns.

    The values at `index` are weighed at random, so that they do not cancel, on the input and on random ones
    of its mean and deviation: what a cell sees only for certain inputs may still be missed. None where no
    pixel has a gradient. Raises `HookViewerError` and `Cancelled`.
    """
    seen: torch.Tensor | None = None
    for attempt in range(TRIES):
        with _run(model, args, kwargs, mode=mode, seed=seed, device=device, attempt=attempt) as run:
            picture = _picture(run.origins)
            reached: list[torch.Tensor] = []
            wanted = key._replace(path=run.aliases.get(key.path, key.path), kind=Kind.OUTPUT)
            run.go(_until(wanted, reached), cancelled, ops=wanted.path not in run.modules)
            gradient = _gradient(reached, index, picture)
        if gradient is not None:
            here = (gradient != 0).reshape(-1, *gradient.shape[-2:]).any(0).cpu()
            seen = here if seen is None else seen | here
    return None if seen is None or not seen.any() else _around(seen)


@dataclasses.dataclass(eq=False)
class _Run:
    """A model that is ready to be called once, and the graph's leaves behind its inputs."""

    model: nn.Module
    modules: Mapping[str, nn.Module]
    aliases: Mapping[str, str]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    origins: Sequence[torch.Tensor]

    def go(self, on_output: OnOutput, cancelled: Callable[[], bool] | None, *, ops: bool) -> None:
        """Call the model and tell of every tensor that a module returns; a `_Reached` ends it.

        With `ops`, also of those that functional calls return.
        """
        watch = Watch(on_output, cancelled)
        with contextlib.ExitStack() as stack:
            for path, module in self.modules.items():
                stack.enter_context(watch.on(module, path))
            if ops:
                stack.enter_context(watch.functions())
            try:
                self.model(*self.args, **self.kwargs)
            except _Reached:
                return
            except HookViewerError:
                raise
            except Exception as error:
                told = f"the model raised {type(error).__name__}"
                raise HookViewerError(f"The receptive field is not known: {told}.") from error


@contextlib.contextmanager
def _run(
    model: nn.Module,
    args: Any,
    kwargs: Mapping[str, Any] | None,
    *,
    mode: str,
    seed: int | None,
    device: str | torch.device | None,
    attempt: int = 0,
) -> Iterator[_Run]:
    index = module_index(unwrapped(model)[0])
    modules = list(index.modules.values())
    where = device_of(modules) if device is None else chosen_device(device)
    given = (args if isinstance(args, tuple) else (args,), dict(kwargs or {}))
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.set_grad_enabled(True))
        stack.enter_context(preserved(modules, mode=mode, seed=seed))
        stack.enter_context(on_device(modules, where))
        if attempt:
            given = mapped(given, lambda tensor: _like(tensor, attempt))
        (own, keywords), origins = own_inputs(given, where, differentiable=True)
        yield _Run(index.root, index.modules, index.aliases, own, keywords, list(origins.values()))


def _until(wanted: Key, reached: list[torch.Tensor]) -> OnOutput:
    def on_output(key: Key, tensor: torch.Tensor) -> None:
        if key == wanted:
            reached.append(tensor)
            raise _Reached

    return on_output


def _picture(origins: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the first input that is a picture: floating point, [C, H, W] or [N, C, H, W]."""
    for tensor in origins:
        if tensor.is_floating_point() and tensor.ndim in (3, 4) and tensor.requires_grad:
            return tensor
    raise HookViewerError("The receptive field is not known: no input is a picture.")


def _like(tensor: torch.Tensor, attempt: int) -> torch.Tensor:
    """Return random values of a tensor's mean and deviation; whole numbers stay as they are."""
    if not tensor.is_floating_point() or tensor.numel() < 2:
        return tensor
    source = torch.Generator().manual_seed(attempt)
    noise = torch.randn(tensor.shape, generator=source)
    deviation, mean = torch.std_mean(tensor.detach().float().cpu())
    return (noise * max(float(deviation), 1e-3) + mean).to(tensor.device, tensor.dtype)


def _gradient(
    reached: Sequence[torch.Tensor], index: tuple[Any, ...], picture: torch.Tensor
) -> torch.Tensor | None:
    if not reached or not reached[0].requires_grad:
        return None
    part = reached[0][index]
    weights = torch.randn(part.shape, generator=torch.Generator().manual_seed(7))
    try:
        return torch.autograd.grad((part * weights.to(part)).sum(), picture, allow_unused=True)[0]
    except RuntimeError as error:
        raise HookViewerError("The receptive field is not known: the backward pass failed.") from error


def _around(seen: torch.Tensor) -> Box:
    rows, columns = seen.any(1).nonzero(), seen.any(0).nonzero()
    return Box(int(rows.min()), int(columns.min()), int(rows.max()) + 1, int(columns.max()) + 1)


def _leaf_node(leaf: torch.Tensor) -> Node:
    return torch.autograd.graph.get_gradient_edge(leaf).node


def _forgetting() -> contextlib.AbstractContextManager[Any]:
    """Keep no values for a backward pass, which will not come: only their shapes."""
    return saved_tensors_hooks(lambda tensor: tensor.shape, lambda shape: torch.empty(shape, device="meta"))
