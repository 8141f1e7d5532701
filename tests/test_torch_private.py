from __future__ import annotations

import pytest
import torch
import torch.utils.checkpoint
from torch import nn
from torch.overrides import TorchFunctionMode

from hookviewer import torch_private


def test_an_alias_is_another_object_with_the_same_memory_and_strides() -> None:
    tensor = torch.arange(6.0).as_strided((1, 3), (77, 2))
    alias = torch_private.alias(tensor)
    assert alias is not tensor
    assert (alias.data_ptr(), alias.stride()) == (tensor.data_ptr(), (77, 2))
    tensor.add_(1)
    assert torch_private.version(alias) == torch_private.version(tensor)
    assert torch_private.root(alias) is torch_private.root(tensor)


def test_versions_count_writes_and_inference_tensors_have_none() -> None:
    tensor = torch.zeros(1)
    assert [torch_private.version(tensor), torch_private.version(tensor.add_(1))] == [0, 1]
    with torch.inference_mode():
        assert torch_private.version(torch.zeros(1)) == -1


def test_our_operations_are_hidden_from_the_models_modes() -> None:
    seen: list[str] = []

    class Spy(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with Spy():
        with torch_private.without_torch_function():
            torch.ones(1).clone()
        assert seen == []
        torch.ones(1).clone()
    assert "clone" in seen


def test_wrapped_tensors_of_vmap_are_recognised() -> None:
    seen: list[bool] = []
    torch.vmap(lambda t: seen.append(torch_private.in_functorch(t)) or t)(torch.ones(2))
    assert seen == [True]
    assert not torch_private.in_functorch(torch.ones(2))


def test_an_optimizer_in_the_backward_pass_is_seen() -> None:
    weight = nn.Parameter(torch.ones(1))
    assert not torch_private.steps_after_gradients([weight])
    weight.register_post_accumulate_grad_hook(lambda parameter: None)
    assert torch_private.steps_after_gradients([weight])


@pytest.mark.parametrize("before", [True, False])
def test_the_fast_attention_path_is_off_and_comes_back(before: bool) -> None:
    own = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(before)
    try:
        with torch_private.slow_attention():
            assert not torch.backends.mha.get_fastpath_enabled()
        assert torch.backends.mha.get_fastpath_enabled() == before
    finally:
        torch.backends.mha.set_fastpath_enabled(own)


def test_a_compiled_model_runs_module_by_module() -> None:
    net = nn.Sequential(nn.Linear(1, 1))
    compiled = torch.compile(net, backend="eager")
    assert torch_private.compiled_original(compiled) is net
    assert torch_private.compiled_original(net) is None
    calls: list[int] = []
    compiled(torch.ones(1, 1))
    net[0].register_forward_hook(lambda module, args, output: calls.append(1))
    with torch_private.eager():
        compiled(torch.ones(1, 1))
    assert calls == [1]


def test_the_graph_tells_what_was_done_and_what_came_of_it() -> None:
    x = torch.zeros(1, 3, 5, 5, requires_grad=True)
    made = {
        "Convolution": nn.Conv2d(3, 2, 3)(x),
        "Add": x + 1,
        "Clone": x.clone(),
        "MaxPool2DWithIndices": nn.MaxPool2d(2)(x),
    }
    for name, tensor in made.items():
        node = tensor.grad_fn
        assert node is not None
        assert torch_private.operation(node) == name
        assert torch_private.made_shape(node) == tuple(tensor.shape)


def test_a_backward_pass_inside_a_mode_shows_it_what_runs_again() -> None:
    seen: list[str] = []

    class Spy(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(lambda t: t.sin().cos(), x, use_reentrant=False).sum()
    with Spy():
        torch_private.backward_inside(y, None)
    assert {"sin", "cos"} <= set(seen)
    assert x.grad is not None
    twin = x.detach().requires_grad_()
    (expected,) = torch.autograd.grad(twin.sin().cos().sum(), twin)
    assert torch.equal(x.grad, expected)
