"""Small nets with a known truth, and the plain-torch side of the comparisons: no engine here."""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

T = torch.Tensor
Nodes = dict[tuple[str, int, str], T]
"""The graph node that stands for a tensor, by path, call and leaf."""


def lin(width: int = 4) -> nn.Linear:
    return nn.Linear(width, width)


# ------------------------------------------------------------------ nets of the worked examples


class MeanSquare(nn.Module):
    """y = x + 1, out = mean(y * y), with a tap where the example names a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.y = nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.y(x + 1)
        return torch.mean(y * y)


class SquareMean(nn.Module):
    """y = x ** 2, z = mean(y)."""

    def __init__(self) -> None:
        super().__init__()
        self.y = nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.mean(self.y(torch.pow(x, 2)))


class TwoPaths(nn.Module):
    """a = w + x, b = w + 1, y = a * b; w is a parameter (1), x the input."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.tensor([1.0]))
        self.a, self.b, self.y = nn.Identity(), nn.Identity(), nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.a(torch.add(self.w, x))
        b = self.b(torch.add(self.w, 1))
        return self.y(torch.mul(a, b))


class TwoInputs(nn.Module):
    """The same with w and x both inputs, each behind a tap."""

    def __init__(self) -> None:
        super().__init__()
        self.w, self.x, self.a, self.b, self.y = (nn.Identity() for _ in range(5))

    def forward(self, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        w, x = self.w(w), self.x(x)
        a, b = self.a(torch.add(w, x)), self.b(torch.add(w, 1))
        return self.y(torch.mul(a, b))


class SharedGradient(nn.Module):
    """y = 3 w + 5 x: the addition hands one gradient tensor to both branches."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Identity(), nn.Identity()

    def forward(self, w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return self.a(w * 3) + self.b(x * 5)


class FcReluFc(nn.Module):
    """3 → 4 → ReLU → 1 with the weights of the example."""

    def __init__(self, second: tuple[float, ...] = (10.0, 20.0, 30.0, 40.0), bias: float = 2.0) -> None:
        super().__init__()
        self.fc1, self.relu1, self.fc2 = nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)
        first = [[1.0, 2.0, 3.0], [-4.0, -5.0, -6.0], [7.0, 8.0, 9.0], [-10.0, -11.0, -12.0]]
        with torch.no_grad():
            self.fc1.weight.copy_(torch.tensor(first))
            self.fc1.bias.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
            self.fc2.weight.copy_(torch.tensor([second]))
            self.fc2.bias.copy_(torch.tensor([bias]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(self.relu1(self.fc1(x)))


class CutFcReluFc(FcReluFc):
    """The same net, whose first layer gets an input that does not require a gradient."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.detach())


class SimpleCnn(nn.Module):
    """One convolution (3 → 16, 3×3) and a ReLU."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.relu = nn.Conv2d(3, 16, kernel_size=3), nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.relu(self.conv1(x))

    def counting(self) -> SimpleCnn:
        """Set the weights so that channel k of a picture of ones is the constant k − 5."""
        with torch.no_grad():
            self.conv1.weight.fill_(0)
            self.conv1.weight[:, :, 1, 1] = 1
            self.conv1.bias.copy_(torch.arange(16.0) - 8)
        return self


class Mlp(nn.Module):
    """784 → 256 → 10 with the author's own hooks, which fill two lists."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(784, 256), nn.Linear(256, 10)
        self.gradients: list[torch.Tensor] = []
        self.conv_outputs: list[torch.Tensor] = []
        self.fc1.register_forward_hook(self.forward_hook)
        self.fc2.register_full_backward_hook(self.backward_hook)

    def forward_hook(self, module: nn.Module, args: Any, output: torch.Tensor) -> None:
        self.conv_outputs.append(output)

    def backward_hook(self, module: nn.Module, grad_input: Any, grad_output: Any) -> None:
        self.gradients.append(grad_output[0])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(self.fc1(x))


class ThreeLayers(nn.Module):
    """10 → 5 → 3 → 1, for a 1-D input."""

    def __init__(self) -> None:
        super().__init__()
        self.layer1, self.layer2, self.layer3 = nn.Linear(10, 5), nn.Linear(5, 3), nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer3(self.layer2(self.layer1(x)))

    def filled(self) -> ThreeLayers:
        """Set the weights to 1, 2, 3 and the biases to 0."""
        with torch.no_grad():
            for value, layer in enumerate((self.layer1, self.layer2, self.layer3), 1):
                layer.weight.fill_(float(value))
                layer.bias.zero_()
        return self


# ------------------------------------------------------------------ the plain side of comparisons


class OutOfPlace(TorchFunctionMode):
    """Turns `a += b`, `relu(x, inplace=True)` and their like into the operation that makes a new tensor.

    torch announces `a += b` as `add_`; what is returned here is what Python binds to `a`.
    """

    augmented = ("add_", "sub_", "mul_", "div_")

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name in self.augmented:
            func = getattr(torch, name.rstrip("_"))
        kwargs = {key: False if key == "inplace" else value for key, value in (kwargs or {}).items()}
        return func(*args, **kwargs)


def without_inplace(model: nn.Module) -> nn.Module:
    """Switch every module of `model` to its out-of-place form."""
    for module in model.modules():
        if getattr(module, "inplace", None) is True:
            module.inplace = False  # type: ignore[assignment]
    return model


class Plain:
    """What plain hooks see in a net without in-place operations: values, gradients, in order of call.

    Keys are `(path, call, leaf)`. `separate=True` gives every module its own copy of its inputs, so that the
    gradient at an input counts what flows through this module only.
    """

    def __init__(self, model: nn.Module, *, separate: bool = False) -> None:
        self.separate = separate
        self.outputs: dict[tuple[str, int, str], torch.Tensor] = {}
        self.inputs: dict[tuple[str, int, str], torch.Tensor] = {}
        self.output_gradients: dict[tuple[str, int, str], torch.Tensor] = {}
        self.input_gradients: dict[tuple[str, int, str], torch.Tensor] = {}
        self.live: list[tuple[torch.Tensor, int]] = []
        self.passed: set[tuple[str, int, str]] = set()
        """Inputs that a module hands on as the same object."""
        self.started: dict[str, int] = {}
        self.open: dict[str, list[int]] = {}
        for path, module in model.named_modules():
            self._watch(path, module)

    def _watch(self, path: str, module: nn.Module) -> None:
        def before(module: nn.Module, args: Any, kwargs: Any) -> Any:
            call = self.started[path] = self.started.get(path, -1) + 1
            self.open.setdefault(path, []).append(call)
            fresh: dict[int, torch.Tensor] = {}

            def one(leaf: str, value: Any) -> Any:
                if isinstance(value, (tuple, list)):
                    return type(value)(one(f"{leaf}[{i}]", part) for i, part in enumerate(value))
                if not isinstance(value, torch.Tensor):
                    return value
                if self.separate:
                    value = fresh.setdefault(id(value), value.clone() if value.requires_grad else value)
                self._keep(self.inputs, self.input_gradients, (path, call, leaf), value)
                return value

            return one("", args), {name: one(f"['{name}']", value) for name, value in kwargs.items()}

        def after(module: nn.Module, args: Any, output: Any) -> None:
            call = self.open[path].pop()
            returned = {id(value) for _, value in tuple_leaves(output)}
            given = tuple_leaves(tuple(args))
            self.passed |= {(path, call, leaf) for leaf, value in given if id(value) in returned}
            for leaf, value in tuple_leaves(output):
                self._keep(self.outputs, self.output_gradients, (path, call, leaf), value)

        module.register_forward_pre_hook(before, with_kwargs=True)
        module.register_forward_hook(after)

    def _keep(self, values: Any, gradients: Any, key: tuple[str, int, str], tensor: torch.Tensor) -> None:
        values[key] = tensor.detach().clone()
        if tensor.requires_grad:
            self.live.append((tensor, tensor._version))
            tensor.register_hook(lambda g: gradients.__setitem__(key, g.detach().clone()))

    def never_overwritten(self) -> bool:
        """Whether the comparison itself is sound: no tensor that was hooked was changed in place."""
        return all(tensor._version == version for tensor, version in self.live)


def tuple_leaves(value: Any, leaf: str = "") -> list[tuple[str, torch.Tensor]]:
    """Return the tensors of nested tuples, lists and dicts with their leaf names."""
    if isinstance(value, torch.Tensor):
        return [(leaf, value)]
    if isinstance(value, (tuple, list)):
        return [pair for i, part in enumerate(value) for pair in tuple_leaves(part, f"{leaf}[{i}]")]
    if isinstance(value, dict):
        return [pair for name, part in value.items() for pair in tuple_leaves(part, f"{leaf}[{name!r}]")]
    return []


def never_zero(model: nn.Module, seed: int = 0) -> nn.Module:
    """Give every parameter that starts at a constant (zero heads, gammas, scales) random values."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.numel() > 1 and bool((parameter == parameter.flatten()[0]).all()):
                around = 1.0 if parameter.flatten()[0] == 1 else 0.0
                parameter.copy_(around + 0.1 * torch.randn(parameter.shape, generator=generator))
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(0.1 * torch.randn(buffer.shape, generator=generator))
            if name.endswith("running_var"):
                buffer.copy_(0.5 + torch.rand(buffer.shape, generator=generator))
    return model


# ------------------------------------------------------------------ the state of a model and of the process

HOOK_DICTS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
    "_state_dict_hooks",
    "_load_state_dict_pre_hooks",
    "_forward_hooks_always_called",
    "_forward_hooks_with_kwargs",
    "_forward_pre_hooks_with_kwargs",
)


def frozen_bits(tensor: torch.Tensor | None) -> Any:
    """Return the identity, version-independent bits and type of a tensor."""
    if tensor is None:
        return None
    own = tensor.detach().cpu().clone().contiguous()
    bits = own.reshape(-1).view(torch.uint8).numpy().tobytes() if own.numel() else b""
    return id(tensor), tuple(tensor.shape), tensor.dtype, tensor.requires_grad, bits


def state_of(model: nn.Module) -> dict[str, Any]:
    """Return everything that a run must leave bit for bit as it found it."""
    state: dict[str, Any] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        state[f"parameter {name}"] = frozen_bits(parameter)
        state[f"grad {name}"] = frozen_bits(parameter.grad)
        state[f"tensor hooks {name}"] = list(parameter._backward_hooks or ())
    for name, buffer in model.named_buffers(remove_duplicate=False):
        state[f"buffer {name}"] = frozen_bits(buffer)
    for name, module in model.named_modules():
        state[f"module {name}"] = (id(module), type(module), module.training, sorted(module.__dict__))
        state[f"hooks {name}"] = {kind: list(getattr(module, kind, ())) for kind in HOOK_DICTS}
    return state | process_state()


def process_state() -> dict[str, Any]:
    """Return the global state of torch, numpy and Python that a run must leave alone."""
    everywhere = torch.nn.modules.module
    return {
        "global hooks": {
            name: list(value)
            for name, value in vars(everywhere).items()
            if name.startswith("_global_") and isinstance(value, dict)
        },
        "rng torch": torch.get_rng_state().numpy().tobytes(),
        "rng numpy": repr(np.random.get_state()),
        "rng python": random.getstate(),
        "mha fast path": torch.backends.mha.get_fastpath_enabled(),
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "default dtype": torch.get_default_dtype(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }
