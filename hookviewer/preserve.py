"""The model, and the process around it, as they were found: whatever happens in between."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from hookviewer import torch_private
from hookviewer.errors import HookViewerError
from hookviewer.leaves import leaves

MODES = ("eval", "train", "as is")


@contextlib.contextmanager
def preserved(
    modules: list[nn.Module], *, mode: str, seed: int | None
) -> Iterator[Callable[[nn.Module], None]]:
    """Run the body in `mode` and from `seed`, and put everything back, also after an error or a stop.

    That is: training flags one by one, buffers, plain attributes that hold tensors, `.grad`, `requires_grad`,
    the random state of torch (all devices), numpy and Python, and the switch of the fast attention path.
    Yields a function for modules that are found on the way: it makes them be put back, too.
    """
    if mode not in MODES:
        raise HookViewerError(f"There is no mode {mode!r}: choose one of {', '.join(map(repr, MODES))}.")
    with contextlib.ExitStack() as stack:

        def keep(*found: nn.Module) -> None:
            for restore in (_flags, _buffers, _attributes, _gradients):
                stack.callback(restore(list(found)))

        keep(*modules)
        stack.callback(_random_state())
        stack.enter_context(torch_private.slow_attention())
        stack.enter_context(torch_private.eager())
        if mode != "as is":
            for module in modules:  # the flag itself: a user's own train() may do more
                _set_training(module, mode == "train")
        if seed is not None:
            _seed(seed)
        yield keep


Restore = Callable[[], None]


def _flags(modules: list[nn.Module]) -> Restore:
    before = [(module, module.training) for module in modules]

    def restore() -> None:
        for module, training in before:
            _set_training(module, training)

    return restore


def _set_training(module: nn.Module, training: bool) -> None:
    if module.training != training:  # setting an attribute of a module is slow
        module.training = training


def _buffers(modules: list[nn.Module]) -> Restore:
    before = [
        (values, name, value, _copy(value.detach()))
        for module in modules
        for values in (module._buffers, *_written_parameters(module))
        for name, value in values.items()
        if value is not None and not is_lazy(value) and not value.is_meta
    ]

    def restore() -> None:
        for values, name, value, copy in before:
            if values.get(name) is not value:
                values[name] = value
            _write_back(value, copy)

    return restore


def _written_parameters(module: nn.Module) -> list[dict[str, Any]]:
    """Return the parameters that a module itself writes in its forward: an embedding with `max_norm`."""
    return [module._parameters] if getattr(module, "max_norm", None) is not None else []


_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _copy(values: torch.Tensor) -> torch.Tensor:
    """Return a copy that is expanded where `values` are: a small tensor may stand for terabytes."""
    return _memory(values).clone().expand(values.shape) if _expanded(values) else values.clone()


def _expanded(values: torch.Tensor) -> tuple[int, ...]:
    """Return the axes along which a tensor repeats the same memory."""
    if not _is_plain(values) or 0 not in values.stride():
        return ()
    return tuple(axis for axis, size in enumerate(values.shape) if size > 1 and values.stride(axis) == 0)


def _is_plain(values: torch.Tensor) -> bool:
    return (
        type(values) in (torch.Tensor, nn.Parameter)
        and values.layout is torch.strided
        and not values.is_quantized
    )


def _memory(values: torch.Tensor) -> torch.Tensor:
    """Return the part of an expanded tensor that has memory of its own."""
    for axis in _expanded(values):
        values = values.narrow(axis, 0, 1)
    return values


def _write_back(buffer: torch.Tensor, values: torch.Tensor) -> None:
    """Give `buffer` its values again, compared bit by bit: batch norm does not count its writes.

    Through `.data`, which does not count either: a graph that the user still holds stays usable.
    """
    if _same(buffer.detach(), values):
        return
    with torch.no_grad(), torch.inference_mode(buffer.is_inference()):
        if _alike(buffer, values):
            _memory(buffer.data).copy_(_memory(values))
        else:
            buffer.data = values


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are equal, bit by bit where their bits can be seen."""
    if not _alike(one, other):
        return False
    if not (_is_plain(one) and _is_plain(other)):
        return one.layout is torch.strided and torch.equal(one, other)
    return torch.equal(*(_bits(_memory(each)) for each in (one, other)))


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    same = (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)
    return same and _expanded(one) == _expanded(other)


def _bits(values: torch.Tensor) -> torch.Tensor:
    real = torch.view_as_real(values.resolve_conj()) if values.is_complex() else values
    return real.resolve_neg().view(_INTEGERS[real.element_size()])


_OF_EVERY_MODULE = frozenset(vars(nn.Module()))


def _attributes(modules: list[nn.Module]) -> Restore:
    """Plain attributes that hold tensors: a weight that weight norm computed, a cache, a memory.

    What is no tensor, nor a container of tensors, is the model's own business.
    """
    before = [(module, _plain_attributes(module)) for module in modules]
    written = [
        (value, _copy(value))
        for _, values in before
        for value in values.values()
        if isinstance(value, torch.Tensor) and not value.requires_grad and not value.is_meta
    ]

    def restore() -> None:
        for module, values in before:
            now = _plain_attributes(module)
            for name in values.keys() | now.keys():
                _put_back(module, name, values.get(name, _ABSENT), now.get(name, _ABSENT))
        for value, copy in written:
            _write_back(value, copy)

    return restore


_ABSENT = object()


def _plain_attributes(module: nn.Module) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if name not in _OF_EVERY_MODULE}


def _put_back(module: nn.Module, name: str, before: Any, now: Any) -> None:
    if before is now or not (leaves(before) or leaves(now)):
        return
    if before is _ABSENT:
        del vars(module)[name]
    else:
        vars(module)[name] = before


def _gradients(modules: list[nn.Module]) -> Restore:
    """A model may itself run a backward pass, which adds into `.grad`: meanwhile there is none."""
    parameters = {
        id(value): value for module in modules for value in module._parameters.values() if value is not None
    }
    before = [(value, value.grad, value.requires_grad) for value in parameters.values() if not is_lazy(value)]
    for value, gradient, _ in before:
        if gradient is not None:
            value.grad = None

    def restore() -> None:
        for value, gradient, wanted in before:
            if gradient is not None or value.grad is not None:
                value.grad = gradient
            if value.requires_grad != wanted:
                value.requires_grad_(wanted)

    return restore


def _random_state() -> Restore:
    numpy: Any = sys.modules.get("numpy")
    torch_state, python_state = torch.get_rng_state(), random.getstate()
    numpy_state = numpy.random.get_state() if numpy else None
    cuda_states = torch.cuda.get_rng_state_all() if cuda_in_use() else None
    mps_state = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None

    def restore() -> None:
        torch.set_rng_state(torch_state)
        random.setstate(python_state)
        if numpy:
            numpy.random.set_state(numpy_state)
        if cuda_states is not None:
            torch.cuda.set_rng_state_all(cuda_states)
        if mps_state is not None:
            torch.mps.set_rng_state(mps_state)

    return restore


def _seed(seed: int) -> None:
    torch.default_generator.manual_seed(seed)
    if cuda_in_use():  # else torch would seed the devices later, when the run is over
        torch.cuda.manual_seed_all(seed)
    if torch.backends.mps.is_available():
        torch.mps.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def cuda_in_use() -> bool:
    """Return whether this process has used CUDA already."""
    return bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]


def device_of(modules: list[nn.Module]) -> torch.device:
    """Return the device of the first parameter or buffer, the CPU for a model that has neither."""
    for module in modules:
        for value in (*module._parameters.values(), *module._buffers.values()):
            if value is not None:
                return value.device
    return torch.device("cpu")


def chosen_device(name: str | torch.device) -> torch.device:
    """Return the device that `name` means; raise `HookViewerError` where this machine has none such."""
    try:
        device = torch.empty(0, device=name).device  # "cuda" is "cuda:0", as parameters have it
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise HookViewerError(f"This machine has no device {name!s} ({reason}): choose cpu.") from None
    return device


@contextlib.contextmanager
def on_device(modules: list[nn.Module], device: torch.device) -> Iterator[None]:
    """Run the body with all parameters and buffers on `device`, then point them at their old memory again.

    Parameters keep their identity and ties, and nothing is copied back. Enter it inside `preserved`.
    """
    values = {
        id(value): value
        for module in modules
        for value in (*module._parameters.values(), *module._buffers.values())
        if value is not None and value.device != device
    }
    before = [(value, value.data) for value in values.values() if not is_lazy(value)]
    try:
        _move(before, device)
        for module in modules:
            if before and isinstance(module, nn.RNNBase):
                module.flatten_parameters()
        yield
    finally:
        for value, data in before:
            value.data = data


def _move(values: list[tuple[torch.Tensor, torch.Tensor]], device: torch.device) -> None:
    try:
        for value, data in values:
            value.data = data.to(device)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise HookViewerError(
            f"The model cannot be moved to {device} ({reason}): choose another device."
        ) from None
