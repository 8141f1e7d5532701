"""The gradient of one unit at the input covers the receptive field that kernels and strides give."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import hookviewer as hv
from hookviewer import HookPlan, Key, Kind

models = pytest.importorskip("torchvision.models")

Step = tuple[int, int, int, int]
"""Kernel, stride, padding, dilation."""

THREE, DOWN, HALF = (3, 1, 1, 1), (3, 2, 1, 1), (2, 2, 0, 1)
STEM = [(7, 2, 3, 1), DOWN]
LAYER1 = [*STEM, THREE, THREE, THREE, THREE]


def computed(steps: list[Step], place: int) -> tuple[int, int]:
    """Return the first and last cell of the input that one cell sees."""
    first, last, jump = 0, 0, 1
    for kernel, stride, padding, dilation in steps:
        first -= padding * jump
        last += ((kernel - 1) * dilation - padding) * jump
        jump *= stride
    return first + place * jump, last + place * jump


def found(net: nn.Module, path: str, place: int, size: int, call: int = 0) -> set[tuple[int, int]]:
    """Return the rows and the columns that the gradient covers, over several inputs: a maximum takes one."""
    reached = torch.zeros(size, size, dtype=torch.bool)
    for seed in range(3):
        x = torch.rand(1, 3, size, size, generator=torch.Generator().manual_seed(seed))
        plan = HookPlan.of(net, "", kinds={Kind.GRAD_INPUT})
        target = hv.unit(path, (slice(None), slice(None), place, place), call)
        recording = hv.capture(net, x, plan, target=target)
        gradient = recording[Key("", Kind.GRAD_INPUT, 0, "[0]")].tensor()
        reached |= gradient[0].ne(0).any(0)
    rows, columns = reached.any(1).nonzero(), reached.any(0).nonzero()
    return {(int(rows[0]), int(rows[-1])), (int(columns[0]), int(columns[-1]))}


def positive(net: nn.Module) -> Any:
    """Return the net with weights that let every gradient through all ReLUs."""
    for module in net.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.constant_(module.weight, 1.0 / module.weight[0].numel())
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    return net.eval()


@pytest.fixture(scope="module")
def resnet() -> Any:
    return positive(models.resnet18(num_classes=2))


@pytest.mark.parametrize(
    ("path", "call", "steps"),
    [
        ("relu", 0, STEM[:1]),
        ("layer1.0:add_#0", 0, [*STEM, THREE, THREE]),
        ("layer1.1:add_#0", 0, LAYER1),
        ("layer1.1.relu", 1, LAYER1),
        ("layer2.0:add_#0", 0, [*LAYER1, DOWN, THREE]),
    ],
)
def test_the_field_of_a_resnet_layer_is_the_computed_one(
    resnet: Any, path: str, call: int, steps: list[Step]
) -> None:
    place = 6 if path.startswith("layer2") else 12
    assert found(resnet, path, place, 112, call) == {computed(steps, place)}


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("0", [THREE]),
        ("2", [THREE, HALF]),
        ("4", [THREE, HALF, THREE]),
        ("9", [THREE, HALF, THREE, HALF, THREE, THREE]),
    ],
)
def test_the_field_of_a_vgg_layer_is_the_computed_one(path: str, steps: list[Step]) -> None:
    net = positive(models.vgg.make_layers(models.vgg.cfgs["A"][:6]))
    assert found(net, path, 7, 56) == {computed(steps, 7)}


class Dilated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 3, 3, 3) / 27)
        self.second = nn.Parameter(torch.ones(2, 2, 5, 5) / 50)

    def forward(self, x: torch.Tensor) -> Any:
        h = functional.relu(functional.conv2d(x, self.weight, dilation=3, padding=2))
        return functional.avg_pool2d(functional.conv2d(h, self.second, stride=2), 3)


def test_the_field_of_functional_calls_counts_dilation() -> None:
    net, steps = Dilated(), [(3, 1, 2, 3), (5, 2, 0, 1), (3, 3, 0, 1)]
    for path, count in ((":relu#0", 1), (":conv2d#1", 2), (":avg_pool2d#0", 3)):
        assert found(net, path, 2, 48) == {computed(steps[:count], 2)}
    assert computed(steps[:1], 2) == (0, 6)
