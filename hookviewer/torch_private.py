"""The few private names of torch that the engine needs; a test fails when one of them goes away."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import GradientEdge, Node

_is_functorch_wrapped: Callable[[torch.Tensor], bool] = torch._C._functorch.is_functorch_wrapped_tensor


def without_torch_function() -> contextlib.AbstractContextManager[Any]:
    """Hide our own operations from `TorchFunctionMode`s and tensor subclasses of the model."""
    return torch._C.DisableTorchFunction()


def alias(tensor: torch.Tensor) -> torch.Tensor:
    """Return another tensor object for the same memory and geometry.

    `view_as` would renormalise the strides of axes of size one, and torch then picks other kernels.
    """
    result: torch.Tensor = torch.ops.aten.alias.default(tensor)
    return result


def in_functorch(tensor: torch.Tensor) -> bool:
    """Return whether `tensor` is a wrapper of vmap or grad, which has no concrete values."""
    return _is_functorch_wrapped(tensor)


def version(tensor: torch.Tensor) -> int:
    """Return how often the memory of `tensor` was written in place; inference tensors do not count it."""
    return -1 if tensor.is_inference() else tensor._version


def base_of(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the tensor that `tensor` is a differentiable view of, if it is one."""
    return tensor._base if tensor._is_view() else None


def root(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor whose memory `tensor` shows."""
    base = base_of(tensor)
    return tensor if base is None else base


def compiled_original(module: nn.Module) -> nn.Module | None:
    """Return the module inside a `torch.compile` wrapper, or `None` for any other module."""
    original = module._modules.get("_orig_mod")
    return original if type(module).__name__ == "OptimizedModule" else None


def foreign_hooks(module: nn.Module) -> int:
    """Return how many hooks the user (not torch itself) has put on `module`."""
    registries = (
        module._forward_pre_hooks,
        module._forward_hooks,
        module._backward_pre_hooks,
        module._backward_hooks,
    )
    return sum(not _is_torch(hook) for registry in registries for hook in registry.values())


def _is_torch(hook: Any) -> bool:
    home = getattr(hook, "__module__", None) or type(hook).__module__
    return home == "torch" or home.startswith("torch.")


def steps_after_gradients(parameters: list[torch.Tensor]) -> bool:
    """Return whether a backward pass would run hooks of the user, such as an optimizer in the backward."""
    return any(getattr(parameter, "_post_accumulate_grad_hooks", None) for parameter in parameters)


def backward_inside(number: torch.Tensor, ends: list[GradientEdge] | None) -> None:
    """Run the backward pass to `ends` (`None`: into `.grad`) inside the `TorchFunctionMode`s that are on.

    `torch.autograd.grad` and `backward` themselves are calls that a mode sees, and that run outside of it.
    """
    torch.autograd.graph._engine_run_backward(
        (number,),
        (torch.ones_like(number),),
        False,  # do not keep the graph
        False,
        () if ends is None else tuple(ends),
        allow_unreachable=True,
        accumulate_grad=ends is None,
    )


@contextlib.contextmanager
def eager() -> Iterator[None]:
    """Run compiled modules uncompiled: hooks do not fire inside compiled code.

    Importing dynamo only for this would cost a second, and without it nothing is compiled.
    """
    if "torch._dynamo" not in sys.modules:
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield


@contextlib.contextmanager
def slow_attention() -> Iterator[None]:
    """Run attention layers module by module: their fast path skips the modules inside."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def operation(node: Node) -> str:
    """Return what a node of the graph differentiates: `Convolution` for `ConvolutionBackward0`."""
    return (
        node.name()
        .rpartition("::")[2]
        .rstrip("0123456789")
        .removesuffix("Backward")
        .removesuffix("Backwards")
    )


def made_shape(node: Node) -> tuple[int, ...]:
    """Return the shape of the first tensor that a node's operation made."""
    metadata: Any = node._input_metadata
    return tuple(int(size) for size in metadata[0].shape)
