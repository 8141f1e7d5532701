"""The worked examples that people learn hooks from: what must come out, number by number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from truth_nets import (
    CutFcReluFc,
    FcReluFc,
    MeanSquare,
    Mlp,
    SharedGradient,
    SimpleCnn,
    SquareMean,
    ThreeLayers,
    TwoInputs,
    TwoPaths,
)

import hookviewer as hv
from hookviewer import Key, Kind

EVERY = frozenset(Kind) - {Kind.ATTRIBUTION}


def run(net: nn.Module, *args: torch.Tensor, edits: Any = (), kinds: Any = EVERY) -> hv.Recording:
    plan = hv.HookPlan.of(net, "*", kinds=kinds)
    target = hv.total() if any(kind.needs_target for kind in kinds) else None
    return hv.capture(net, args, plan, target=target, edits=edits)


def value(recording: hv.Recording, path: str, kind: Kind, leaf: str | None = None) -> Any:
    if leaf is None:
        return recording.record(path, kind).array().tolist()
    return recording[Key(path, kind, 0, leaf)].array().tolist()


# ------------------------------------------------------------------ S0-A, S0-L: hooks on tensors


def test_the_mean_of_squares_shows_its_tensor_and_its_gradient() -> None:
    recording = run(MeanSquare(), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert value(recording, "y", Kind.OUTPUT) == [[2.0, 3.0], [4.0, 5.0]]
    assert value(recording, "", Kind.OUTPUT) == 13.5
    assert recording.target_value == 13.5
    assert recording.output.item() == 13.5
    assert value(recording, "y", Kind.GRAD_OUTPUT) == [[1.0, 1.5], [2.0, 2.5]]
    assert value(recording, "", Kind.GRAD_INPUT, "[0]") == [[1.0, 1.5], [2.0, 2.5]]


def test_the_mean_of_a_square_has_a_gradient_of_a_quarter() -> None:
    recording = run(SquareMean(), torch.full((4,), 2.0))
    assert value(recording, "y", Kind.GRAD_OUTPUT) == [0.25] * 4
    assert value(recording, "", Kind.GRAD_INPUT, "[0]") == [1.0] * 4


# ------------------------------------------------------------------ S0-B, S0-C, S0-D, S2: w, x, a, b, y


def test_two_paths_show_their_tensors_and_gradients() -> None:
    recording = run(TwoPaths(), torch.tensor([2.0]))
    assert [value(recording, path, Kind.OUTPUT) for path in "aby"] == [[3.0], [2.0], [6.0]]
    assert value(recording, "", Kind.PARAM, "w") == [1.0]
    assert value(recording, "", Kind.PARAM_GRAD, "w") == [5.0]
    assert value(recording, "", Kind.GRAD_INPUT, "[0]") == [2.0]
    assert value(recording, "a", Kind.GRAD_OUTPUT) == [2.0]
    assert value(recording, "b", Kind.GRAD_OUTPUT) == [3.0]
    assert value(recording, "y", Kind.GRAD_OUTPUT) == [1.0]


def doubled_in_place_then_tripled(gradient: torch.Tensor) -> torch.Tensor:
    gradient *= 2
    return gradient * 3


def test_an_edit_of_a_parameter_gradient_shows_both_sides() -> None:
    net = TwoPaths()
    edit = hv.Edit("", doubled_in_place_then_tripled, kind=Kind.PARAM_GRAD, leaf="w")
    recording = run(net, torch.tensor([2.0]), edits=[edit])
    record = recording[Key("", Kind.PARAM_GRAD, 0, "w")]
    assert record.array().tolist() == [30.0]
    assert record.before_edit is not None
    assert record.before_edit.array().tolist() == [5.0]
    assert value(recording, "", Kind.GRAD_INPUT, "[0]") == [2.0]
    assert net.w.grad is None


def test_an_edit_at_the_tap_of_w_reaches_w_and_not_x() -> None:
    edit = hv.Edit("w", doubled_in_place_then_tripled, kind=Kind.GRAD_OUTPUT)
    recording = run(TwoInputs(), torch.tensor([1.0]), torch.tensor([2.0]), edits=[edit])
    record = recording.record("w", Kind.GRAD_OUTPUT)
    assert record.array().tolist() == [30.0]
    assert record.before_edit is not None
    assert record.before_edit.array().tolist() == [5.0]
    assert value(recording, "", Kind.GRAD_INPUT, "[0]") == [30.0]
    assert value(recording, "", Kind.GRAD_INPUT, "[1]") == [2.0]


def test_the_same_edit_on_a_changes_both_upstream_gradients() -> None:
    edit = hv.Edit("a", doubled_in_place_then_tripled, kind=Kind.GRAD_OUTPUT)
    recording = run(TwoPaths(), torch.tensor([2.0]), edits=[edit])
    assert value(recording, "", Kind.GRAD_INPUT, "[0]") == [12.0]
    assert value(recording, "", Kind.PARAM_GRAD, "w") == [15.0]


def test_several_edits_run_in_order_and_compose() -> None:
    seen: list[tuple[str, float]] = []

    def noted(name: str, factor: float) -> Any:
        def edit(gradient: torch.Tensor) -> torch.Tensor:
            seen.append((name, gradient.item()))
            return gradient * factor

        return edit

    edits = [
        hv.Edit("", noted(name, by), kind=Kind.PARAM_GRAD, leaf="w") for name, by in (("h1", 2), ("h2", 3))
    ]
    recording = run(TwoPaths(), torch.tensor([2.0]), edits=edits)
    assert seen == [("h1", 5.0), ("h2", 10.0)]
    assert value(recording, "", Kind.PARAM_GRAD, "w") == [30.0]


def test_named_operations_compose_in_the_order_given() -> None:
    edits = [hv.Edit("a", operation, kind=Kind.GRAD_OUTPUT) for operation in (hv.add(1.0), hv.scale(2.0))]
    recording = run(TwoPaths(), torch.tensor([2.0]), edits=edits)
    assert value(recording, "", Kind.GRAD_INPUT, "[0]") == [6.0]  # (2 + 1) * 2


def test_doubling_the_gradient_of_a_doubles_the_one_of_x() -> None:
    recording = run(
        TwoPaths(), torch.tensor([2.0]), edits=[hv.Edit("a", hv.scale(2.0), kind=Kind.GRAD_OUTPUT)]
    )
    assert value(recording, "", Kind.GRAD_INPUT, "[0]") == [4.0]
    assert value(recording, "", Kind.PARAM_GRAD, "w") == [7.0]


# ------------------------------------------------------------------ S0-K: one gradient tensor, two branches


@pytest.mark.parametrize(
    "operation", [lambda g: g * 2, lambda g: g.mul_(2), hv.scale(2.0)], ids=["new", "in place", "named"]
)
@pytest.mark.parametrize(("path", "expected"), [("b", [3.0, 10.0]), ("a", [6.0, 5.0])])
def test_an_edit_of_one_branch_never_leaks_into_the_other(
    path: str, expected: list[float], operation: Any
) -> None:
    edit = hv.Edit(path, operation, kind=Kind.GRAD_OUTPUT)
    recording = run(SharedGradient(), torch.tensor([1.0]), torch.tensor([2.0]), edits=[edit])
    got = [value(recording, "", Kind.GRAD_INPUT, leaf)[0] for leaf in ("[0]", "[1]")]
    assert got == expected
    other = "a" if path == "b" else "b"
    assert value(recording, other, Kind.GRAD_OUTPUT) == [1.0]


def test_an_in_place_edit_of_an_expanded_gradient_works() -> None:
    net = nn.Sequential(nn.Identity(), nn.Identity())
    edit = hv.Edit("1", lambda g: g.mul_(2), kind=Kind.GRAD_OUTPUT)
    recording = run(
        net, torch.ones(3), edits=[edit]
    )  # the target is a sum: its gradient is one expanded number
    assert value(recording, "", Kind.GRAD_INPUT, "[0]") == [2.0] * 3


# ------------------------------------------------------------------ S0-E to S0-I: fc, relu, fc


def test_the_small_net_shows_inputs_and_outputs_of_each_layer() -> None:
    recording = run(FcReluFc((1.0, 2.0, 3.0, 4.0), 1.0), torch.ones(1, 3))
    assert value(recording, "fc1", Kind.INPUT) == [[1.0, 1.0, 1.0]]
    assert value(recording, "fc1", Kind.OUTPUT) == [[7.0, -13.0, 27.0, -29.0]]
    assert value(recording, "relu1", Kind.INPUT) == [[7.0, -13.0, 27.0, -29.0]]
    assert value(recording, "relu1", Kind.OUTPUT) == [[7.0, 0.0, 27.0, 0.0]]
    assert value(recording, "fc2", Kind.INPUT) == [[7.0, 0.0, 27.0, 0.0]]
    assert value(recording, "fc2", Kind.OUTPUT) == [[89.0]]
    assert value(recording, "", Kind.GRAD_INPUT, "[0]") == [[22.0, 26.0, 30.0]]


WEIGHT_GRADIENT = [[10.0] * 3, [0.0] * 3, [30.0] * 3, [0.0] * 3]


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: v], ids=["2-D", "1-D"])
def test_the_small_net_shows_every_gradient(wrap: Any) -> None:
    recording = run(FcReluFc(), torch.tensor(wrap([1.0, 1.0, 1.0])))
    assert recording.output.tolist() == wrap([882.0])
    made = [key.path for key in recording if key.kind is Kind.GRAD_OUTPUT and key.path]
    assert made == ["fc2", "relu1", "fc1"]
    assert value(recording, "fc2", Kind.GRAD_OUTPUT) == wrap([1.0])
    assert value(recording, "relu1", Kind.GRAD_OUTPUT) == wrap([10.0, 20.0, 30.0, 40.0])
    assert value(recording, "relu1", Kind.GRAD_INPUT) == wrap([10.0, 0.0, 30.0, 0.0])
    assert value(recording, "fc1", Kind.GRAD_OUTPUT) == wrap([10.0, 0.0, 30.0, 0.0])
    assert [recording.leaves(path, Kind.GRAD_INPUT) for path in ("fc2", "fc1")] == [("[0]",), ("[0]",)]
    assert value(recording, "fc2", Kind.GRAD_INPUT) == wrap([10.0, 20.0, 30.0, 40.0])
    assert value(recording, "fc1", Kind.GRAD_INPUT) == wrap([220.0, 260.0, 300.0])
    assert value(recording, "", Kind.GRAD_INPUT) == wrap([220.0, 260.0, 300.0])
    assert value(recording, "fc2", Kind.PARAM_GRAD, "weight") == [[7.0, 0.0, 27.0, 0.0]]
    assert value(recording, "fc2", Kind.PARAM_GRAD, "bias") == [1.0]
    assert value(recording, "fc1", Kind.PARAM_GRAD, "weight") == WEIGHT_GRADIENT
    assert value(recording, "fc1", Kind.PARAM_GRAD, "bias") == [10.0, 0.0, 30.0, 0.0]
    assert {(key.path, key.kind) for key in recording.absent} == {
        (path, kind) for path in ("", "relu1") for kind in (Kind.PARAM, Kind.PARAM_GRAD)
    }


def test_an_input_that_needs_no_gradient_says_so() -> None:
    recording = run(CutFcReluFc(), torch.ones(1, 3))
    assert value(recording, "fc1", Kind.GRAD_OUTPUT) == [[10.0, 0.0, 30.0, 0.0]]
    reason = recording.reason(Key("fc1", Kind.GRAD_INPUT, 0, "[0]"))
    assert "require" in reason
    with pytest.raises(KeyError, match="require"):
        recording.record("fc1", Kind.GRAD_INPUT)


def test_zeroing_the_relu_leaves_the_bias() -> None:
    recording = run(FcReluFc(), torch.ones(1, 3), edits=[hv.Edit("relu1", hv.zero())])
    assert recording.output.tolist() == [[2.0]]
    assert value(recording, "relu1", Kind.OUTPUT) == [[0.0] * 4]
    assert value(recording, "fc2", Kind.INPUT) == [[0.0] * 4]


def test_zero_times_the_output_is_the_same_edit() -> None:
    recording = run(FcReluFc(), torch.ones(1, 3), edits=[hv.Edit("relu1", lambda out: 0 * out)])
    assert recording.output.tolist() == [[2.0]]


def test_doubling_the_input_before_the_first_layer() -> None:
    recording = run(FcReluFc(), torch.ones(1, 3), edits=[hv.Edit("fc1", hv.scale(2.0), kind=Kind.INPUT)])
    assert value(recording, "fc1", Kind.INPUT) == [[2.0] * 3]
    assert value(recording, "fc1", Kind.OUTPUT) == [[13.0, -28.0, 51.0, -62.0]]
    assert recording.output.tolist() == [[1662.0]]


def test_a_pre_hook_and_a_forward_hook_of_the_user_still_work() -> None:
    net = FcReluFc()
    net.fc1.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    assert run(net, torch.ones(1, 3)).output.tolist() == [[1662.0]]
    net.relu1.register_forward_hook(lambda module, args, output: output * 0)
    recording = run(net, torch.ones(1, 3))
    assert recording.output.tolist() == [[2.0]]
    assert value(recording, "fc1", Kind.INPUT) == [[2.0] * 3]
    assert value(recording, "relu1", Kind.OUTPUT) == [[0.0] * 4]


# ------------------------------------------------------------------ S1, S3, S4


def test_the_simple_cnn_has_its_shapes_and_its_448_parameters() -> None:
    torch.manual_seed(0)
    net, picture = SimpleCnn(), torch.randn(1, 3, 32, 32)
    recording = run(net, picture)
    shapes = [
        recording.record(path, kind).shape for path in ("conv1", "relu") for kind in (Kind.INPUT, Kind.OUTPUT)
    ]
    assert shapes == [(1, 3, 32, 32), (1, 16, 30, 30), (1, 16, 30, 30), (1, 16, 30, 30)]
    conv, relu = recording.record("conv1", Kind.OUTPUT).array(), recording.record("relu", Kind.OUTPUT).array()
    assert np.array_equal(relu, conv.clip(min=0))
    assert np.array_equal(relu, recording.output.numpy())
    assert sum(record.array().size for key, record in recording.items() if key.kind is Kind.PARAM) == 448


def test_the_counting_cnn_shows_k_minus_5_in_channel_k() -> None:
    recording = run(SimpleCnn().counting(), torch.ones(1, 3, 32, 32))
    conv, relu = recording.record("conv1", Kind.OUTPUT).array(), recording.record("relu", Kind.OUTPUT).array()
    channels = np.arange(16.0) - 5
    assert np.array_equal(conv, np.broadcast_to(channels[None, :, None, None], (1, 16, 30, 30)))
    assert np.array_equal(relu, np.broadcast_to(channels.clip(min=0)[None, :, None, None], (1, 16, 30, 30)))


def test_the_hooks_of_the_mlp_keep_filling_their_lists() -> None:
    torch.manual_seed(0)
    net, x = Mlp(), torch.randn(1, 784)
    recording = run(net, x)
    assert [len(net.gradients), tuple(net.gradients[0].shape)] == [1, (1, 10)]
    assert bool((net.gradients[0] == 1).all())
    assert [len(net.conv_outputs), tuple(net.conv_outputs[0].shape)] == [1, (1, 256)]
    hidden = recording.record("fc1", Kind.OUTPUT).tensor()
    torch.testing.assert_close(hidden, (x @ net.fc1.weight.T + net.fc1.bias).detach())
    assert torch.equal(hidden, net.conv_outputs[0].detach())
    assert not hidden.requires_grad
    expected = (net.fc2.weight.sum(0) @ net.fc1.weight)[None].detach()
    torch.testing.assert_close(recording.record("", Kind.GRAD_INPUT).tensor(), expected)
    assert value(recording, "fc2", Kind.GRAD_OUTPUT) == [[1.0] * 10]
    assert sum(record.array().size for key, record in recording.items() if key.kind is Kind.PARAM) == 203530
    run(net, x)
    assert [len(net.conv_outputs), len(net.gradients)] == [2, 2]


def test_three_layers_with_random_weights_follow_the_chain_rule() -> None:
    torch.manual_seed(0)
    net, x = ThreeLayers(), torch.randn(10)
    plan = hv.HookPlan.of(net, "*", kinds=EVERY)
    recording = hv.capture(net, (x,), plan, target=lambda output: output.mean())
    middle = recording.record("layer2", Kind.GRAD_OUTPUT)
    assert torch.equal(middle.tensor(), net.layer3.weight[0].detach())
    torch.testing.assert_close(middle.tensor(), torch.tensor([0.4783632159, 0.5024144053, 0.5094289184]))
    first = recording.record("layer1", Kind.GRAD_INPUT)
    chain = (net.layer3.weight @ net.layer2.weight @ net.layer1.weight).detach()[0]
    torch.testing.assert_close(first.tensor(), chain)
    assert first.array()[[0, 7]] == pytest.approx([-0.0450863801, 0.144777298])
    assert [first.shape, recording.record("layer1", Kind.OUTPUT).shape] == [(10,), (5,)]


def test_three_layers_with_weights_1_2_3() -> None:
    recording = run(ThreeLayers().filled(), torch.ones(10))
    outputs = [value(recording, f"layer{i}", Kind.OUTPUT) for i in (1, 2, 3)]
    assert outputs == [[10.0] * 5, [100.0] * 3, [900.0]]
    gradients = [
        [value(recording, f"layer{i}", kind) for kind in (Kind.GRAD_OUTPUT, Kind.GRAD_INPUT)]
        for i in (3, 2, 1)
    ]
    assert gradients == [[[1.0], [3.0] * 3], [[3.0] * 3, [18.0] * 5], [[18.0] * 5, [90.0] * 10]]


# ------------------------------------------------------------------ the same numbers through the demo models


def demo(spec: str, *values: Any, edits: Any = ()) -> hv.Recording:
    return run(hv.open_model(f"demo:{spec}"), *(torch.tensor(part) for part in values), edits=edits)


def test_the_demo_of_tensor_hooks_shows_the_same_numbers() -> None:
    recording = demo("tensor_hook", [[1.0, 2.0], [3.0, 4.0]])
    assert value(recording, "y", Kind.OUTPUT) == [[2.0, 3.0], [4.0, 5.0]]
    assert [recording.target_value, value(recording, "out", Kind.OUTPUT)] == [13.5, 13.5]
    assert value(recording, "y", Kind.GRAD_OUTPUT) == [[1.0, 1.5], [2.0, 2.5]]
    assert value(recording, "x", Kind.GRAD_OUTPUT) == [[1.0, 1.5], [2.0, 2.5]]
    recording = demo("tensor_hook?example=mean_of_squares", [2.0] * 4)
    assert value(recording, "y", Kind.GRAD_OUTPUT) == [0.25] * 4
    assert value(recording, "x", Kind.GRAD_OUTPUT) == [1.0] * 4


def test_the_demo_of_two_paths_shows_the_same_numbers() -> None:
    spec = "tensor_hook?example=wxaby"
    recording = demo(spec, [2.0])
    assert [value(recording, path, Kind.OUTPUT) for path in "aby"] == [[3.0], [2.0], [6.0]]
    assert [value(recording, path, Kind.GRAD_OUTPUT) for path in "wxaby"] == [
        [5.0],
        [2.0],
        [2.0],
        [3.0],
        [1.0],
    ]
    for path, kind in (("w", Kind.PARAM_GRAD), ("w", Kind.GRAD_OUTPUT)):
        edit = hv.Edit(path, doubled_in_place_then_tripled, kind=kind)
        assert value(demo(spec, [2.0], edits=[edit]), "w", Kind.PARAM_GRAD, "value") == [30.0]
    recording = demo(spec, [2.0], edits=[hv.Edit("a", doubled_in_place_then_tripled, kind=Kind.GRAD_OUTPUT)])
    assert value(recording, "x", Kind.GRAD_OUTPUT) == [12.0]
    assert value(recording, "w", Kind.PARAM_GRAD, "value") == [15.0]


def test_the_demo_of_a_shared_gradient_never_leaks() -> None:
    for path, expected in (("b", [3.0, 10.0]), ("a", [6.0, 5.0])):
        edit = hv.Edit(path, lambda g: g.mul_(2), kind=Kind.GRAD_OUTPUT)
        recording = demo("tensor_hook?example=shared_gradient", [2.0], edits=[edit])
        got = [value(recording, leaf, Kind.GRAD_OUTPUT)[0] for leaf in "wx"]
        assert got == expected


def test_the_demo_nets_show_the_same_numbers() -> None:
    recording = demo("fc_relu_fc", [[1.0, 1.0, 1.0]])
    assert recording.output.tolist() == [[882.0]]
    assert value(recording, "relu1", Kind.GRAD_INPUT) == [[10.0, 0.0, 30.0, 0.0]]
    assert value(recording, "fc1", Kind.GRAD_INPUT) == [[220.0, 260.0, 300.0]]
    assert value(recording, "fc1", Kind.PARAM_GRAD, "weight") == WEIGHT_GRADIENT
    recording = demo("fc_relu_fc?example=forward", [[1.0, 1.0, 1.0]])
    assert [value(recording, path, Kind.OUTPUT) for path in ("fc1", "fc2")] == [
        [[7.0, -13.0, 27.0, -29.0]],
        [[89.0]],
    ]
    recording = demo("simple_cnn", [[[[1.0] * 32] * 32] * 3])
    assert recording.record("conv1", Kind.OUTPUT).array()[0, :, 0, 0].tolist() == [k - 5.0 for k in range(16)]
    recording = demo("three_layers", [1.0] * 10)
    assert value(recording, "layer1", Kind.OUTPUT) == [10.0] * 5
    assert value(recording, "layer1", Kind.GRAD_INPUT) == [90.0] * 10


def test_the_demo_mlp_keeps_its_own_lists() -> None:
    net = hv.open_model("demo:mlp")
    run(net, torch.randn(1, 784))
    assert [len(net.gradients), len(net.conv_outputs)] == [1, 1]
    assert net.gradients[0].tolist() == [[1.0] * 10]
