"""A model whose forward runs in automatic mixed precision."""

from __future__ import annotations

import copy
import functools
from typing import Any

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.modules import unwrapped
from hookviewer.preserve import device_of

TYPES = (torch.bfloat16, torch.float16)


def in_mixed_precision(model: nn.Module, dtype: torch.dtype) -> nn.Module:
    """Return a view of `model` whose forward runs under `torch.autocast`, on the device of the run.

    It shares all modules, parameters and hooks with the model; only its own `forward` is another one, so that
    the backward pass runs outside. Raises `HookViewerError` for a type that autocast does not know.
    """
    if dtype not in TYPES:
        raise HookViewerError(f"Automatic mixed precision runs in bfloat16 or float16, not in {dtype}.")
    inner = unwrapped(model)[0]
    view = copy.copy(inner)
    if isinstance(inner, torch.jit.ScriptModule) or view is inner:
        raise HookViewerError("A compiled program cannot run in automatic mixed precision: open its code.")

    own = vars(view).get("forward") or functools.partial(type(view).forward, view)

    def forward(*args: Any, **kwargs: Any) -> Any:
        device = device_of(list(view.modules()))
        with torch.autocast(device.type, dtype=dtype):
            return own(*args, **kwargs)

    vars(view)["forward"] = forward
    return view
