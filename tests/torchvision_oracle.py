"""Any network of torchvision in plain torch, without in-place operations: what each module must show.

Tensors are compared by a digest of their bits, so that a large network need not be held twice.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from truth_nets import HOOK_DICTS, OutOfPlace, process_state, without_inplace

import hookviewer as hv
from hookviewer import Key, Kind

Inputs = tuple[Any, ...]


def digest(tensor: torch.Tensor) -> str:
    """Return a short text that two tensors share when they are equal in type, shape and every bit."""
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    own = tensor.detach().contiguous()
    bits = own.reshape(-1).view(torch.uint8).numpy() if own.numel() else b""
    found = hashlib.blake2b(f"{own.dtype} {tuple(own.shape)} ".encode(), digest_size=16)
    found.update(bits)
    return found.hexdigest()


def tensors_in(value: Any, leaf: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors of what torchvision's modules take and return, with their leaves."""
    if isinstance(value, torch.Tensor):
        yield leaf, value
        return
    children: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        children = [(f"[{name!r}]", part) for name, part in value.items()]
    elif hasattr(value, "_fields"):
        children = [(f".{name}", getattr(value, name)) for name in value._fields]
    elif isinstance(value, (tuple, list)):
        children = [(f"[{i}]", part) for i, part in enumerate(value)]
    elif hasattr(value, "image_sizes"):
        children = [(".tensors", value.tensors)]
    for name, part in children:
        yield from tensors_in(part, leaf + name)


def weighted(output: Any) -> torch.Tensor:
    """Return one number in which every element of every differentiable output counts, each differently."""
    generator = torch.Generator().manual_seed(7)
    number = torch.zeros(())
    for _, tensor in tensors_in(output):
        if tensor.requires_grad:
            number = number + (tensor * torch.randn(tensor.shape, generator=generator)).sum()
    return number


class Substituted(OutOfPlace):
    """As `OutOfPlace`, but only for tensors in the graph: a mask of random numbers may be scaled in place."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in self.augmented and not args[0].requires_grad:
            return func(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)


@dataclasses.dataclass
class Truth:
    """The digests of what every module returned and of the gradients there, by path, call and leaf."""

    values: dict[tuple[str, int, str], str] = dataclasses.field(default_factory=dict)
    gradients: dict[tuple[str, int, str], str] = dataclasses.field(default_factory=dict)
    output: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    finite: bool = True
    sound: bool = True
    """Whether no hooked tensor was changed in place."""


def truth(model: nn.Module, args: Inputs, *, mode: str, gradients: bool = True) -> Truth:
    """Run a copy of `model` without in-place operations under plain hooks (seed 0)."""
    twin = without_inplace(copy.deepcopy(model)).train(mode == "train")
    seen, live = Truth(), []
    for path, module in twin.named_modules():
        module.register_forward_hook(_watch(path, seen, live))
    given = _own(args, gradients)
    state = torch.get_rng_state()
    torch.manual_seed(0)
    with Substituted(), torch.set_grad_enabled(gradients):
        output = twin(*given)
    torch.set_rng_state(state)
    seen.output = [(leaf, digest(tensor)) for leaf, tensor in tensors_in(output)]
    seen.finite = all(bool(torch.isfinite(t).all()) for _, t in tensors_in(output) if not t.is_quantized)
    if gradients:
        leaves = [tensor for _, tensor in tensors_in(given) if tensor.requires_grad]
        wanted = [*leaves, *(p for p in twin.parameters() if p.requires_grad)]
        torch.autograd.grad(weighted(output), wanted, allow_unused=True)
    seen.sound = all(tensor._version == version for tensor, version in live)
    return seen


def _own(args: Inputs, gradients: bool) -> Any:
    def own(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.clone().requires_grad_(gradients and value.is_floating_point())
        if isinstance(value, (tuple, list)):
            return type(value)(own(part) for part in value)
        return {name: own(part) for name, part in value.items()}

    return own(args)


def _watch(path: str, seen: Truth, live: list[tuple[torch.Tensor, int]]) -> Callable[..., None]:
    calls: list[int] = []

    def after(module: nn.Module, args: Any, output: Any) -> None:
        calls.append(len(calls))
        for leaf, tensor in tensors_in(output):
            key = (path, calls[-1], leaf)
            seen.values[key] = digest(tensor)
            if tensor.requires_grad:
                live.append((tensor, tensor._version))
                tensor.register_hook(lambda g, key=key: seen.gradients.__setitem__(key, digest(g)))

    return after


@dataclasses.dataclass
class Verdict:
    """How one run of a network compares with its truth; `wrong` holds a line for every fault."""

    records: int = 0
    absent: int = 0
    values: int = 0
    gradients: int = 0
    compared: dict[str, int] = dataclasses.field(default_factory=dict)
    """How many tensors plain torch has, by kind, without those that were not kept."""
    not_kept: int = 0
    reasons: dict[str, int] = dataclasses.field(default_factory=dict)
    """Why tensors are absent, and how many for each reason."""
    wrong: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)


def verdict(
    model: nn.Module,
    args: Inputs,
    expected: Truth,
    *,
    mode: str,
    gradients: bool = True,
    budget: int = 1 << 40,
) -> Verdict:
    """Run `model` with every module ticked, and compare all that was recorded with plain torch."""
    kinds = {Kind.OUTPUT, Kind.GRAD_OUTPUT} if gradients else {Kind.OUTPUT}
    plan = hv.HookPlan.of(model, "*", kinds=kinds)
    before = state_digests(model)
    target = weighted if gradients else None
    recording = hv.capture(model, args, plan, target=target, mode=mode, budget=budget)
    found = Verdict(len(recording), len(recording.absent))
    found.reasons = dict(collections.Counter(recording.absent.values()))
    if state_digests(model) != before:
        found.wrong.append("the state of the model or of the process changed")
    if not expected.sound:
        found.wrong.append("the comparison itself is unsound: a hooked tensor was changed in place")
    if [(leaf, digest(tensor)) for leaf, tensor in tensors_in(recording.output)] != expected.output:
        found.wrong.append("the output differs")
    if not expected.finite:
        found.notes.append("the output is not finite")
    found.values = _compare(found, recording, Kind.OUTPUT, expected.values)
    found.gradients = _compare(found, recording, Kind.GRAD_OUTPUT, expected.gradients)
    found.wrong += _silent(model, recording, kinds)
    return found


def _compare(
    found: Verdict, recording: hv.Recording, kind: Kind, expected: dict[tuple[str, int, str], str]
) -> int:
    """Return how many tensors of `kind` are the expected ones, and note all that are not."""
    right, kept = 0, len(expected)
    for (path, call, leaf), bits in expected.items():
        key = Key(path, kind, call, leaf)
        record = recording.records.get(key)
        if record is None:
            found.wrong.append(f"{key}: {recording.reason(key)}")
        elif record.kept is None:
            found.not_kept += 1
            kept -= 1
        elif digest(record.tensor()) != bits:
            found.wrong.append(f"{key}: differs")
        else:
            right += 1
    extra = {key for key in recording if key.kind is kind and (key.path, key.call, key.leaf) not in expected}
    found.wrong += [f"{key}: recorded, but plain torch has none" for key in sorted(extra)]
    found.compared[str(kind)] = kept
    return right


def _silent(model: nn.Module, recording: hv.Recording, kinds: set[Kind]) -> list[str]:
    """Name the modules that have neither a record nor a reason."""
    recorded = {(key.path, key.kind) for key in recording}
    told = {(key.path, key.kind) for key, why in recording.absent.items() if why.strip()}
    return [
        f"{path}: neither a record of {kind} nor a reason"
        for path, _ in model.named_modules()
        for kind in sorted(kinds)
        if (path, kind) not in recorded | told
    ]


def state_digests(model: nn.Module) -> dict[str, Any]:
    """Return everything that a run must leave bit for bit as it found it, tensors as digests."""
    state: dict[str, Any] = process_state()
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        gradient = None if tensor.grad is None else digest(tensor.grad)
        state[name] = (id(tensor), digest(tensor), tensor.requires_grad, gradient)
        state[f"tensor hooks {name}"] = list(tensor._backward_hooks or ())
    for name, module in model.named_modules():
        state[f"module {name}"] = (id(module), module.training, sorted(module.__dict__))
        state[f"hooks {name}"] = {kind: list(getattr(module, kind, ())) for kind in HOOK_DICTS}
    return state
