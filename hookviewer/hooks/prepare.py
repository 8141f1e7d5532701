"""What a run gets ready before the model runs: own inputs, and the parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from hookviewer import torch_private
from hookviewer.hooks.gradients import Gradients
from hookviewer.hooks.journal import Journal
from hookviewer.hooks.request import Request
from hookviewer.kinds import Key, Kind
from hookviewer.leaves import leaves, mapped
from hookviewer.modules import ModuleIndex, joined


def own_inputs(
    inputs: Any, device: torch.device, *, differentiable: bool
) -> tuple[Any, dict[int, torch.Tensor]]:
    """Return `inputs` with own copies of all tensors, on `device`; floats in the graph where asked for.

    They are no leaves of the graph, so that a first layer may work in place; the leaves behind them are the
    second result, by the `id` of the copy. One tensor stays one tensor.
    """
    copies: dict[int, torch.Tensor] = {}
    origins: dict[int, torch.Tensor] = {}
    on_cpu = {id(tensor) for leaf, tensor in leaves(inputs) if leaf.endswith(".batch_sizes")}

    def own(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in copies:
            place = tensor.device if id(tensor) in on_cpu else device
            origin = _own(tensor, place, differentiable)
            copies[id(tensor)] = origin.clone() if origin.requires_grad else origin
            origins[id(copies[id(tensor)])] = origin
        return copies[id(tensor)]

    return mapped(inputs, own), origins


def _own(tensor: torch.Tensor, device: torch.device, differentiable: bool) -> torch.Tensor:
    if differentiable and (tensor.is_floating_point() or tensor.is_complex()):
        copy = tensor.detach().to(device, copy=tensor.is_inference())
        return copy.detach().requires_grad_()
    return tensor.detach().to(device, copy=True)


def own_parameters(index: ModuleIndex, path: str) -> Iterator[tuple[str, nn.Parameter]]:
    """Yield the parameters of one module itself; those of a lazy module only when they exist."""
    module = index.modules.get(path)
    for name, value in module._parameters.items() if module is not None else ():
        if value is not None and not is_lazy(value):
            yield name, value


def all_parameters(index: ModuleIndex) -> dict[str, nn.Parameter]:
    """Return every parameter by its full name, a tied one under each of its names."""
    return {
        joined(path, name): value for path in index.modules for name, value in own_parameters(index, path)
    }


def uninitialised(index: ModuleIndex) -> list[str]:
    """Return the modules whose parameters do not exist before their first run."""
    return [
        path
        for path, module in index.modules.items()
        if any(value is not None and is_lazy(value) for value in module._parameters.values())
    ]


def parameter_versions(index: ModuleIndex) -> list[tuple[nn.Parameter, int]]:
    """Return every parameter with how often it has been written in place."""
    return [
        (value, torch_private.version(value))
        for module in index.modules.values()
        for value in module._parameters.values()
        if value is not None and not is_lazy(value)
    ]


def take_parameters(
    index: ModuleIndex, paths: Iterable[str], request: Request, journal: Journal, gradients: Gradients | None
) -> None:
    """Record the parameters of the modules at `paths` as they are now, and watch their gradients."""
    for path in paths:
        wanted = request.wanted(path)
        for name, value in own_parameters(index, path):
            if Kind.PARAM in wanted.kinds:
                journal.take(Key(path, Kind.PARAM, 0, name), value)
            if gradients is None or not value.requires_grad:
                continue
            edits = [edit for edit in wanted.edits_of(Kind.PARAM_GRAD) if edit.leaf in (None, name)]
            key = Key(path, Kind.PARAM_GRAD, 0, name)
            if Kind.PARAM_GRAD in wanted.kinds:
                gradients.watch_object(key, value, edits)
            else:
                gradients.edit(key, value, edits)
