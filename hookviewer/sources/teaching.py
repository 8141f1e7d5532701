"""The small models that tutorials on hooks use, with weights that make every number easy to check by hand.

Where a tutorial names a tensor that no module returns, an `nn.Identity` of that name stands in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.sources import tensor_hooks
from hookviewer.sources.cards import ModelCard
from hookviewer.sources.nearby import nearby
from hookviewer.sources.source import Opened


class FcReluFc(nn.Module):
    """fc1 (3 → 4), relu1, fc2 (4 → 1); the weights are those of the tutorials."""

    def __init__(self, second: tuple[float, ...], bias: float, *, in_place: bool = False) -> None:
        super().__init__()
        self.fc1, self.relu1, self.fc2 = nn.Linear(3, 4), nn.ReLU(in_place), nn.Linear(4, 1)
        first = [[1.0, 2.0, 3.0], [-4.0, -5.0, -6.0], [7.0, 8.0, 9.0], [-10.0, -11.0, -12.0]]
        self.fc1.weight = nn.Parameter(torch.tensor(first))
        self.fc1.bias = nn.Parameter(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        self.fc2.weight = nn.Parameter(torch.tensor([second]))
        self.fc2.bias = nn.Parameter(torch.tensor([bias]))

    def forward(self, x: torch.Tensor) -> Any:
        return self.fc2(self.relu1(self.fc1(x)))


class SimpleCNN(nn.Module):
    """conv1 (3 → 16, 3 × 3) and relu."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.relu = nn.Conv2d(3, 16, kernel_size=3), nn.ReLU()

    def forward(self, x: torch.Tensor) -> Any:
        return self.relu(self.conv1(x))


class MLP(nn.Module):
    """fc1 (784 → 256) and fc2 (256 → 10), with the hooks that a tutorial puts on them, lists and all."""

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

    def forward(self, x: torch.Tensor) -> Any:
        return self.fc2(self.fc1(x))


class ThreeLayers(nn.Module):
    """layer1 (10 → 5), layer2 (5 → 3), layer3 (3 → 1), nothing between them."""

    def __init__(self) -> None:
        super().__init__()
        self.layer1, self.layer2, self.layer3 = nn.Linear(10, 5), nn.Linear(5, 3), nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer3(self.layer2(self.layer1(x)))


def tensor_hook(example: str = "plus_one") -> Opened:
    """A few tensors and no layer; `example` is plus_one, wxaby, shared_gradient or mean_of_squares."""
    build = _chosen(example, tensor_hooks.EXAMPLES)
    return _opened(build(), "tensor_hook", example, build.shape, build.example)


def fc_relu_fc(example: str = "backward") -> Opened:
    """fc1, relu1, fc2. `backward`: fc2 has weights 10, 20, 30, 40 and bias 2; `forward`: 1, 2, 3, 4 and 1.

    `in_place` is `backward` with a relu1 that overwrites what fc1 has returned.
    """
    backward = ((10.0, 20.0, 30.0, 40.0), 2.0)
    weights = {"backward": backward, "forward": ((1.0, 2.0, 3.0, 4.0), 1.0), "in_place": backward}
    model = FcReluFc(*_chosen(example, weights), in_place=example == "in_place")
    return _opened(model, "fc_relu_fc", example, (1, 3))


def simple_cnn(example: str = "counted") -> Opened:
    """conv1 and relu. `counted`: channel k of conv1 is the sum of the colours + k − 8; `random`: seed 0."""
    model = _chosen(example, {"counted": _counted_cnn, "random": lambda: _seeded(SimpleCNN)})()
    return _opened(model, "simple_cnn", example, (1, 3, 32, 32))


def mlp() -> Opened:
    """An MLP with random weights (seed 0) that carries the tutorial's own hooks."""
    return _opened(_seeded(MLP), "mlp", "", (1, 784), "random:1x784?seed=0")


def three_layers(example: str = "counted") -> Opened:
    """Three linear layers. `counted`: all weights of layer n are n, biases 0; `random`: seed 0."""
    model = _chosen(example, {"counted": _counted_layers, "random": lambda: _seeded(ThreeLayers)})()
    return _opened(model, "three_layers", example, (10,))


def _counted_cnn() -> SimpleCNN:
    model = SimpleCNN()
    with torch.no_grad():
        model.conv1.weight.zero_()
        model.conv1.weight[:, :, 1, 1] = 1
        assert model.conv1.bias is not None
        model.conv1.bias.copy_(torch.arange(16.0) - 8)
    return model


def _counted_layers() -> ThreeLayers:
    model = ThreeLayers()
    with torch.no_grad():
        for number, layer in enumerate((model.layer1, model.layer2, model.layer3), start=1):
            layer.weight.fill_(number)
            layer.bias.zero_()
    return model


def _seeded(build: Callable[[], nn.Module]) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build()


def _chosen(example: str, known: Mapping[str, Any]) -> Any:
    if example not in known:
        raise HookViewerError(
            f"There is no example {example!r} of this demo model: {nearby(example, known)}."
        )
    return known[example]


def _opened(
    model: nn.Module, name: str, example: str, shape: tuple[int, ...], example_input: str = "demo:ones"
) -> Opened:
    spec = f"demo:{name}" + (f"?example={example}" if example else "")
    return Opened(model, ModelCard(spec=spec, name=name, input_shape=shape, example=example_input))
