"""Which calls of torch's functions are functional calls of a model, and what they are called."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from torch import nn
from torch.overrides import TorchFunctionMode

Function = Callable[..., Any]
Handle = Callable[[str, Function, tuple[Any, ...], dict[str, Any]], Any]

_VIEWS = frozenset({"T", "mT", "H", "mH", "real", "imag"})
"""The attributes that are operations on the tensor itself."""

_ASKING = """
    allclose array array_wrap backward can_cast const_data_ptr contains data_ptr deepcopy dense_dim device dim
    dim_order dlpack dlpack_device element_size equal format get_device grad is_coalesced is_complex is_conj
    is_contiguous is_distributed is_floating_point is_inference is_neg is_nonzero is_pinned is_same_size
    is_set_to is_shared is_signed is_storage is_tensor item len module_load ndimension nelement numel numpy
    promote_types q_per_channel_axis q_scale q_zero_point qscheme record_stream reduce_ex register_hook
    register_post_accumulate_grad_hook repr requires_grad_ result_type retain_grad setstate share_memory_ size
    sparse_dim storage storage_offset storage_type stride tolist typename untyped_storage
"""
_QUIET = frozenset(_ASKING.split())
"""Calls that ask a tensor something and make no tensor."""

_NUMBERS = frozenset(
    {"__bool__", "__complex__", "__float__", "__index__", "__int__", "__long__", "__nonzero__"}
)


@functools.lru_cache(maxsize=4096)
def op_name(function: Function) -> str:
    """Return torch's name of a function (`add_` for `+=`), or nothing for one that is never listed."""
    name = getattr(function, "__name__", "")
    if name == "__get__":
        name = getattr(getattr(function, "__self__", None), "__name__", "")
        return name if name in _VIEWS else ""
    if name in _NUMBERS or name in ("__set__", "__delete__"):
        return ""
    plain = name[2:-2] if name.startswith("__") and name.endswith("__") else name
    return "" if plain in _QUIET or plain.startswith("_") or not plain.isidentifier() else plain


class OpMode(TorchFunctionMode):
    """Hands the functional calls that this thread makes to `handle`, with their names; it makes the call."""

    def __init__(self, handle: Handle) -> None:
        super().__init__()
        self.handle = handle

    def __torch_function__(
        self,
        func: Function,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Make the call, or have it made."""
        name = op_name(func)
        return self.handle(name, func, args, kwargs or {}) if name else func(*args, **(kwargs or {}))


def is_whole(module: nn.Module) -> bool:
    """Return whether `module` is one of torch's own layers: what runs inside is its record already.

    A layer with modules inside, such as `nn.MultiheadAttention`, is none: functional calls join its parts.
    """
    home = type(module).__module__
    inner = [name for name, child in module._modules.items() if child is not None]
    return home.startswith(("torch.", "torchvision.ops")) and inner in ([], ["parametrizations"])


def written_by(name: str, args: tuple[Any, ...]) -> Any:
    """Return the value that a call which returns nothing has written into: `x[0] = y` writes into x."""
    return args[0] if name == "setitem" and args else None
