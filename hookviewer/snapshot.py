"""The copy that a hook makes: own CPU memory, in C order, in the true dtype, within a budget."""

from __future__ import annotations

import dataclasses
import math

import torch
from torch import nn

from hookviewer import arrays, torch_private
from hookviewer.kinds import Key
from hookviewer.recording import SUMMARISED, Record, readable

OVER_BUDGET = "Not kept:"
"""How the reason begins why the values of a record are not there: there was no room for them in the run."""

_PLAIN = (torch.Tensor, nn.Parameter)
_COMMON = frozenset({torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool})


class Budget:
    """How many bytes a run may still keep."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.left = total

    def take(self, count: int) -> bool:
        """Take `count` bytes and say whether there was room."""
        if count > self.left:
            return False
        self.left -= count
        return True


def summarised(key: Key, tensor: torch.Tensor) -> Record:
    """Return the record of shape and statistics of `tensor` as it is now, without its values."""
    try:
        why = _unreadable(tensor)
        if why:
            return _without_values(key, tensor, why)
        plain, notes = _strided(tensor.detach())
        found = summary(plain)
        return Record(
            key, tuple(plain.shape), tensor.dtype, tensor.device, notes, missing=SUMMARISED, summary=found
        )
    except Exception as error:  # whatever goes wrong in here must not reach the model
        reason = str(error).partition("\n")[0]
        return _without_values(key, tensor, f"The tensor could not be read: {reason}")


def snapshot(key: Key, tensor: torch.Tensor, budget: Budget) -> Record:
    """Return the record of `tensor` as it is now; it says itself what cannot be kept, and never raises."""
    try:
        return _taken(key, tensor, budget)
    except Exception as error:  # whatever goes wrong in here must not reach the model
        reason = str(error).partition("\n")[0]
        return _without_values(key, tensor, f"The tensor could not be copied: {reason}")


def _taken(key: Key, tensor: torch.Tensor, budget: Budget) -> Record:
    if _is_common(tensor) and budget.take(tensor.nbytes):
        copy = tensor.detach().clone(memory_format=torch.contiguous_format)
        return Record(key, tuple(tensor.shape), tensor.dtype, tensor.device, kept=copy)
    why = _unreadable(tensor)
    if why:
        return _without_values(key, tensor, why)
    plain, notes = _strided(tensor.detach())
    shape, parts = tuple(plain.shape), _parts(tensor)
    if budget.take(plain.nbytes):
        return Record(key, shape, tensor.dtype, tensor.device, notes, kept=own_copy(plain), parts=parts)
    why = (
        f"{OVER_BUDGET} {_size(plain.nbytes)} more than what is left of the budget of {_size(budget.total)} "
        "per run. Tick fewer modules or raise the budget; shape and statistics are exact."
    )
    counted = summary(
        plain if not parts else torch.cat([one.reshape(-1) for one in tensor.detach().unbind()])
    )
    return Record(key, shape, tensor.dtype, tensor.device, notes, missing=why, summary=counted, parts=parts)


def shape_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """Return the sizes of a tensor; of a nested one those that its parts are padded to."""
    if not tensor.is_nested:
        return tuple(tensor.shape)
    parts = _parts(tensor)
    return len(parts), *(max(sizes) for sizes in zip(*parts, strict=True))


def _parts(tensor: torch.Tensor) -> tuple[tuple[int, ...], ...]:
    """Return the sizes of each part of a nested tensor; nothing of any other one."""
    return tuple(tuple(one.shape) for one in tensor.unbind()) if tensor.is_nested else ()


def _is_common(tensor: torch.Tensor) -> bool:
    """Return whether a plain clone is all that it takes, which is so for nearly every tensor."""
    return (
        type(tensor) in _PLAIN
        and tensor.is_cpu
        and tensor.dtype in _COMMON
        and tensor.layout is torch.strided
        and not (tensor.is_nested or tensor.is_neg() or torch_private.in_functorch(tensor))
    )


def _unreadable(tensor: torch.Tensor) -> str:
    if torch_private.in_functorch(tensor):
        return "The values exist only inside a vmap or grad transform: record a module outside of it."
    if tensor.is_meta or type(tensor).__name__ == "FakeTensor":
        return "A tensor on the meta device has a shape but no values: load the weights and run again."
    if tensor.dtype == getattr(torch, "float4_e2m1fn_x2", None):
        return "Packed 4-bit floats cannot be shown."
    return ""


def _without_values(key: Key, tensor: torch.Tensor, why: str) -> Record:
    shape = () if tensor.is_nested else tuple(tensor.shape)
    return Record(key, shape, tensor.dtype, tensor.device, missing=why)


def own_copy(tensor: torch.Tensor) -> torch.Tensor:
    """Return the values of a strided tensor in new C-ordered CPU memory."""
    if tensor.device.type == "cpu":
        copy = tensor.clone(memory_format=torch.contiguous_format)
    else:
        copy = tensor.cpu().contiguous()
    return copy.resolve_conj().resolve_neg() if copy.is_conj() or copy.is_neg() else copy


def _strided(tensor: torch.Tensor) -> tuple[torch.Tensor, tuple[str, ...]]:
    """Return `tensor` in an ordinary layout, and what had to be done for that."""
    if (
        type(tensor) in _PLAIN
        and tensor.layout is torch.strided
        and not tensor.is_quantized
        and not tensor.is_nested
    ):
        return tensor, ()
    if tensor.is_nested:
        padding = math.nan if tensor.is_floating_point() else 0
        return torch.nested.to_padded_tensor(tensor, padding), (f"Nested tensor, padded with {padding}.",)
    if tensor.is_quantized:
        return tensor.dequantize(), (f"Quantized as {tensor.dtype}, shown dequantized.",)
    if tensor.layout is not torch.strided:
        return tensor.to_dense(), (f"Stored as {str(tensor.layout).removeprefix('torch.')}, shown dense.",)
    return tensor, ()


def summary(tensor: torch.Tensor) -> arrays.Statistics:
    """Return the statistics of all values without copying them, nor the repeats of an expanded tensor."""
    repeats = 1
    for axis, (size, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        if stride == 0 and size > 1:
            tensor = tensor.narrow(axis, 0, 1)
            repeats *= size
    values = readable(tensor.cpu().resolve_conj().resolve_neg())
    return _repeated(arrays.statistics(values), repeats)


def _repeated(once: arrays.Statistics, repeats: int) -> arrays.Statistics:
    if repeats == 1:
        return once
    counts = {name: getattr(once, name) * repeats for name in ("count", "zeros", "nan", "pos_inf", "neg_inf")}
    return dataclasses.replace(once, l2=once.l2 * math.sqrt(repeats), **counts)


def _size(nbytes: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if nbytes < 1000:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000
    return f"{nbytes:.3g} TB"
