"""The one number of a run that its gradients start from."""

from __future__ import annotations

from typing import Any

import torch

from hookviewer.errors import HookViewerError
from hookviewer.hooks.state import State
from hookviewer.leaves import leaves
from hookviewer.targets import Deferred, Target, unit

NO_TARGET = "There is no target in this run"


def aimed(state: State, target: Target, output: Any) -> torch.Tensor | str:
    """Return the target as a 0-d tensor, or why there is none where it is one that gives way."""
    try:
        return number_of(state, target, output)
    except HookViewerError as mistake:
        if isinstance(target, Deferred) and target.gives_way:
            why = str(mistake)
            return f"{NO_TARGET}: {why[:1].lower()}{why[1:]}"
        raise


def number_of(state: State, target: Target, output: Any) -> torch.Tensor:
    """Return the target as a 0-d tensor; raise `HookViewerError` where it is no number with a gradient."""
    number: Any = _unit_value(state, target) if isinstance(target, unit) else _called(target, output)
    if not isinstance(number, torch.Tensor) or number.numel() != 1:
        tensor = isinstance(number, torch.Tensor)
        what = f"a tensor {list(number.shape)}" if tensor else type(number).__name__
        raise HookViewerError(
            f"The target gave {what}: a gradient starts from one number; sum it or pick one."
        )
    if not number.is_floating_point():
        raise HookViewerError(
            f"The target is {number.dtype}, which has no gradient: pick a real float output."
        )
    if state.gradients is not None and not number.requires_grad:
        raise HookViewerError(
            "The target depends on nothing that requires grad (detach(), no_grad, integers or quantized "
            "layers cut it off): choose another target."
        )
    return number.reshape(())


def _unit_value(state: State, target: unit) -> torch.Tensor:
    if state.unit_value is not None:
        return state.unit_value
    count = len(state.calls.by_path.get(target.path, ()))
    where = target.path or "the model"
    raise HookViewerError(
        f"There is no call {target.call} of {where}: it was called {count} time(s) in this run."
    )


def _called(target: Target, output: Any) -> Any:
    try:
        return target(output)
    except HookViewerError:
        raise
    except Exception as error:
        held = ", ".join(
            f"{leaf or 'one tensor'} {list(tensor.shape)}" for leaf, tensor in leaves(output)[:4]
        )
        raise HookViewerError(
            f"The target raised {type(error).__name__}: {error}. The model returned {held or 'no tensor'}."
        ) from None
