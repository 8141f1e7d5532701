from __future__ import annotations

from typing import Any

import pytest
import torch
from models import Chain

import hookviewer as hv
from hookviewer import Edit, HookPlan, HookViewerError, Key, Kind
from hookviewer.edits import edited

X = torch.tensor([[1.0]])
ALL = set(Kind) - {Kind.ATTRIBUTION}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (hv.zero(), [0.0, 0.0, 0.0]),
        (hv.scale(2), [2.0, -4.0, 6.0]),
        (hv.add(1.5), [2.5, -0.5, 4.5]),
        (hv.add(torch.tensor([1, 2, 3])), [2.0, 0.0, 6.0]),
        (hv.clamp(-1, 2), [1.0, -1.0, 2.0]),
        (hv.clamp(low=0), [1.0, 0.0, 3.0]),
        (hv.replace(7), [7.0, 7.0, 7.0]),
        (hv.replace(torch.tensor([3, 2, 1])), [3.0, 2.0, 1.0]),
        (lambda t: t.mul_(3), [3.0, -6.0, 9.0]),
    ],
)
def test_operations_do_what_they_say_and_leave_the_tensor_alone(
    operation: Any, expected: list[float]
) -> None:
    tensor = torch.tensor([1.0, -2.0, 3.0])
    assert edited(tensor, Edit("m", operation)).tolist() == expected
    assert tensor.tolist() == [1.0, -2.0, 3.0]


@pytest.mark.parametrize(
    ("index", "changed"),
    [
        (1, [(0, 1), (1, 1)]),
        ([0, 2], [(0, 0), (0, 2), (1, 0), (1, 2)]),
        ((slice(0, 1), slice(2, 3)), [(0, 2)]),
    ],
)
def test_an_index_is_a_channel_or_a_region(index: Any, changed: list[tuple[int, int]]) -> None:
    result = edited(torch.ones(2, 3), Edit("m", hv.zero(), index=index))
    assert [tuple(place) for place in (result == 0).nonzero().tolist()] == changed


def test_the_channels_of_a_parameter_are_its_rows() -> None:
    result = edited(torch.ones(2, 3), Edit("m", hv.zero(), kind=Kind.PARAM_GRAD, index=1))
    assert result.tolist() == [[1.0] * 3, [0.0] * 3]


def test_a_constant_keeps_its_place_in_the_graph_and_passes_zeros_on() -> None:
    tensor = torch.full((2,), torch.inf, requires_grad=True)
    result = edited(tensor * 1, Edit("m", hv.zero()))
    assert result.tolist() == [0.0, 0.0]
    (gradient,) = torch.autograd.grad(result.sum(), tensor)
    assert gradient.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "edit",
    [
        Edit("m", lambda t: t[:1]),
        Edit("m", lambda t: t.double()),
        Edit("m", lambda t: None),
        Edit("m", hv.zero(), index=9),
        Edit("m", hv.replace(torch.ones(5, 5))),
    ],
)
def test_an_edit_that_does_not_fit_says_so(edit: Edit) -> None:
    with pytest.raises(HookViewerError, match=r"must return|does not fit|cannot replace"):
        edited(torch.ones(2, 3), edit)


def test_an_edit_of_what_cannot_be_edited_is_refused() -> None:
    with pytest.raises(HookViewerError, match="cannot be edited"):
        Edit("m", hv.zero(), kind=Kind.PARAM)
    with pytest.raises(HookViewerError, match="operation"):
        Edit("m", 3)  # type: ignore[arg-type]


def test_an_edit_of_the_output_flows_on() -> None:
    net = Chain()
    plan = HookPlan.of(net, "*")
    recording = hv.capture(
        net, X, plan, edits=[Edit("first", hv.scale(-1)), Edit("first", hv.add(1), index=0)]
    )
    assert recording.record("first", Kind.OUTPUT).array().tolist() == [[0.0, 1.0]]
    assert recording.output.tolist() == [[6.0]]
    assert hv.capture(net, X, plan).output.tolist() == [[3.0]]


def test_an_edit_of_the_input_is_seen_by_the_module_only() -> None:
    net = Chain()
    recording = hv.capture(
        net,
        X,
        HookPlan.of(net, "*", kinds=ALL),
        target=hv.total(),
        edits=[Edit("last", hv.scale(10), kind=Kind.INPUT)],
    )
    assert recording.record("last", Kind.INPUT).array().tolist() == [[10.0, 0.0]]
    assert recording.record("relu", Kind.OUTPUT).array().tolist() == [[1.0, 0.0]]
    assert recording.output.tolist() == [[21.0]]
    assert recording.record("relu", Kind.GRAD_OUTPUT).array().tolist() == [[20.0, 50.0]]


def test_an_edit_of_one_call_leaves_the_others() -> None:
    relu = torch.nn.ReLU()
    net = torch.nn.Sequential(relu, relu)
    recording = hv.capture(net, X, HookPlan.of(net, "0"), edits=[Edit("1", hv.add(1), call=1)])
    assert [recording[Key("0", Kind.OUTPUT, call)].array().item() for call in (0, 1)] == [1.0, 2.0]


def test_edits_that_did_nothing_are_told() -> None:
    net = Chain()
    edits = [Edit("last", hv.clamp(-99, 99)), Edit("last", hv.zero(), call=5)]
    notes = " ".join(hv.capture(net, X, HookPlan.of(net, "*"), edits=edits).notes)
    assert "changed nothing" in notes
    assert "did not run" in notes


def test_a_mistake_in_an_edit_is_not_swallowed_by_the_model() -> None:
    class Swallows(Chain):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            try:
                return super().forward(x)
            except Exception:
                return x

    with pytest.raises(hv.ModelError, match="must return") as caught:
        hv.capture(Swallows(), X, HookPlan.of(Swallows(), "*"), edits=[Edit("relu", lambda t: t[:, :1])])
    assert caught.value.path == "relu"
    assert caught.value.recording.record("first", Kind.OUTPUT).array().tolist() == [[1.0, -1.0]]
