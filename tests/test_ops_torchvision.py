"""Functional calls of real models: equal to those of a traced twin without in-place operations."""

from __future__ import annotations

import operator
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import fx, nn

import hookviewer as hv
from hookviewer import Key, Kind
from hookviewer.leaves import leaves

models = pytest.importorskip("torchvision.models")

GRADIENTS = {Kind.OUTPUT, Kind.GRAD_OUTPUT}


def vit() -> Any:
    return models.VisionTransformer(
        image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=32, num_classes=7
    )


BUILDERS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "resnet18": (lambda: models.resnet18(num_classes=7), 48),
    "densenet121": (lambda: models.densenet121(num_classes=7), 64),
    "googlenet": (
        lambda: models.googlenet(num_classes=7, aux_logits=False, init_weights=False, transform_input=True),
        64,
    ),
    "vit": (vit, 32),
}


class Twin(fx.Interpreter):
    """Runs a traced model node by node, without in-place operations, and keeps what its functions return."""

    def __init__(self, net: nn.Module) -> None:
        graph = fx.symbolic_trace(net)
        for module in graph.modules():
            if getattr(module, "inplace", False):
                setattr(module, "inplace", False)  # noqa: B010
        super().__init__(graph)
        self.found: list[tuple[str, list[tuple[str, torch.Tensor]]]] = []

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if n.op not in ("call_function", "call_method") or not leaves(value):
            return value
        if n.target is operator.getitem and not isinstance(self.env.get(n.all_input_nodes[0]), torch.Tensor):
            return value  # of a tuple
        name = n.target if isinstance(n.target, str) else n.target.__name__
        for _, tensor in leaves(value):
            if tensor.requires_grad:
                tensor.retain_grad()
        self.found.append((name, leaves(value)))
        return value


@pytest.mark.parametrize("name", BUILDERS)
def test_functional_calls_have_the_values_and_gradients_of_a_traced_twin(name: str) -> None:
    build, size = BUILDERS[name]
    torch.manual_seed(0)
    net, x = build().eval(), torch.rand(1, 3, size, size)
    twin = Twin(deepcopy(net))
    twin.run(x.clone().requires_grad_()).sum().backward()

    plan = hv.HookPlan.of(net, "*:*", kinds=GRADIENTS)
    recording = hv.capture(net, x, plan, target=hv.total())
    inner = {path for path, one in net.named_modules() if isinstance(one, nn.MultiheadAttention)}
    calls = [call for call in recording.op_calls if call.path.rpartition(":")[0] not in inner]
    ops = [call.path.rpartition(":")[2].partition("#")[0] for call in calls]
    assert [op.rstrip("_") for op in ops] == [op for op, _ in twin.found]  # a trace knows no in-place form
    for call, (_, found) in zip(calls, twin.found, strict=True):
        for leaf, tensor in found:
            value = recording[Key(call.path, Kind.OUTPUT, call.number, leaf)].tensor()
            assert torch.equal(value, tensor.detach()), call.path
            key = Key(call.path, Kind.GRAD_OUTPUT, call.number, leaf)
            if tensor.grad is None:
                assert key in recording.absent
            else:
                scale = float(tensor.grad.abs().max()) or 1.0
                assert torch.allclose(recording[key].tensor(), tensor.grad, rtol=1e-4, atol=1e-5 * scale), key


def test_a_residual_block_lists_its_add_after_what_it_adds() -> None:
    net = models.resnet18(num_classes=3)
    recording = hv.capture(net, torch.rand(1, 3, 32, 32), hv.HookPlan.of(net, "layer1.0:add_#0"))
    inside = [call.path for call in recording.in_order() if call.path.startswith("layer1.0")]
    names = [path.removeprefix("layer1.0") for path in inside]
    assert names == ["", ".conv1", ".bn1", ".relu", ".conv2", ".bn2", ":add_#0", ".relu"]
    assert list(recording) == [Key("layer1.0:add_#0", Kind.OUTPUT)]


def test_what_the_sum_of_a_residual_block_overwrites_is_told() -> None:
    net = models.resnet18(num_classes=3)
    plan = hv.HookPlan.of(net, "layer1.0.bn2", "layer1.0:add_#0", kinds={Kind.OUTPUT, Kind.INPUT})
    recording = hv.capture(net, torch.rand(1, 3, 32, 32), plan)
    batch_norm = recording.record("layer1.0.bn2", Kind.OUTPUT)
    added = recording.record("layer1.0:add_#0", Kind.OUTPUT)
    assert batch_norm.overwritten_by == "layer1.0:add_#0"
    assert added.overwritten_by == "layer1.0.relu"
    first, second = (
        recording[Key("layer1.0:add_#0", Kind.INPUT, 0, leaf)].tensor() for leaf in ("[0]", "[1]")
    )
    assert torch.equal(first, batch_norm.tensor())
    assert torch.equal(first + second, added.tensor())
    assert not torch.equal(first, added.tensor())
