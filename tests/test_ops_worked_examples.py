"""The worked examples as they stand in the tutorials: functions in `forward`, no tap that names a tensor."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import hookviewer as hv
from hookviewer import Edit, HookPlan, Key, Kind

T = torch.Tensor
EVERY = frozenset(Kind) - {Kind.ATTRIBUTION}


class MeanSquare(nn.Module):
    def forward(self, x: T) -> Any:
        y = x + 1
        return torch.mean(y * y)


class SquareMean(nn.Module):
    def forward(self, x: T) -> Any:
        return torch.pow(x, 2).mean()


class TwoPaths(nn.Module):
    def forward(self, w: T, x: T) -> Any:
        return torch.mul(torch.add(w, x), torch.add(w, 1))


class Shared(nn.Module):
    def forward(self, w: T, x: T) -> Any:
        return w * 3 + x * 5


class FcReluFc(nn.Module):
    def __init__(self, second: list[float], bias: float) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(3, 4), nn.Linear(4, 1)
        first = [[1.0, 2.0, 3.0], [-4.0, -5.0, -6.0], [7.0, 8.0, 9.0], [-10.0, -11.0, -12.0]]
        self.fc1.weight = nn.Parameter(torch.tensor(first))
        self.fc1.bias = nn.Parameter(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        self.fc2.weight = nn.Parameter(torch.tensor([second]))
        self.fc2.bias = nn.Parameter(torch.tensor([bias]))

    def forward(self, x: T) -> Any:
        return self.fc2(functional.relu(self.fc1(x)))


class ThreeLayers(nn.Module):
    """Three matrices as bare parameters, used by `functional.linear`."""

    def __init__(self) -> None:
        super().__init__()
        sizes = [(5, 10), (3, 5), (1, 3)]
        self.weights = nn.ParameterList(torch.full(size, i + 1.0) for i, size in enumerate(sizes))

    def forward(self, x: T) -> T:
        for weight in self.weights:
            x = functional.linear(x, weight)
        return x


def run(net: nn.Module, *args: T, edits: Any = ()) -> hv.Recording:
    return hv.capture(net, args, HookPlan.of(net, "*", "*:*", kinds=EVERY), target=hv.total(), edits=edits)


def value(recording: hv.Recording, path: str, kind: Kind, leaf: str = "") -> Any:
    return recording[Key(path, kind, 0, leaf)].array().tolist()


def given(recording: hv.Recording, place: int = 0) -> Any:
    """Return the gradient of an input of the model."""
    return value(recording, "", Kind.GRAD_INPUT, f"[{place}]")


def test_the_mean_of_squares() -> None:
    recording = run(MeanSquare(), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert value(recording, ":add#0", Kind.OUTPUT) == [[2.0, 3.0], [4.0, 5.0]]
    assert value(recording, ":add#0", Kind.GRAD_OUTPUT) == [[1.0, 1.5], [2.0, 2.5]]
    assert value(recording, ":mul#0", Kind.GRAD_OUTPUT) == [[0.25, 0.25], [0.25, 0.25]]
    assert value(recording, ":mean#0", Kind.OUTPUT) == 13.5
    assert given(recording) == [[1.0, 1.5], [2.0, 2.5]]


def test_the_mean_of_a_square() -> None:
    recording = run(SquareMean(), torch.full((4,), 2.0))
    assert value(recording, ":pow#0", Kind.GRAD_OUTPUT) == [0.25] * 4
    assert given(recording) == [1.0] * 4


def two_paths(*edits: Edit) -> hv.Recording:
    return run(TwoPaths(), torch.tensor([1.0]), torch.tensor([2.0]), edits=edits)


def test_w_x_a_b_y() -> None:
    recording = two_paths()
    names = (":add#0", ":add#1", ":mul#0")
    assert [value(recording, path, Kind.OUTPUT) for path in names] == [[3.0], [2.0], [6.0]]
    assert value(recording, ":add#0", Kind.GRAD_OUTPUT) == [2.0]
    assert [given(recording, 0), given(recording, 1)] == [[5.0], [2.0]]


def test_the_hook_on_a_changes_both_upstream_gradients() -> None:
    recording = two_paths(Edit(":add#0", lambda g: g.mul_(2) * 3, kind=Kind.GRAD_OUTPUT))
    assert [given(recording, 0), given(recording, 1)] == [[15.0], [12.0]]


def test_doubling_the_gradient_of_a() -> None:
    recording = two_paths(Edit(":add#0", hv.scale(2), kind=Kind.GRAD_OUTPUT))
    assert [given(recording, 0), given(recording, 1)] == [[7.0], [4.0]]


@pytest.mark.parametrize(("path", "expected"), [(":mul#0", [6.0, 5.0]), (":mul#1", [3.0, 10.0])])
def test_an_in_place_edit_of_a_shared_gradient_stays_in_its_branch(path: str, expected: list[float]) -> None:
    edit = Edit(path, lambda g: g.mul_(2), kind=Kind.GRAD_OUTPUT)
    recording = run(Shared(), torch.tensor([1.0]), torch.tensor([2.0]), edits=[edit])
    assert [given(recording, 0)[0], given(recording, 1)[0]] == expected


def test_fc_relu_fc_forward() -> None:
    recording = run(FcReluFc([1.0, 2.0, 3.0, 4.0], 1.0), torch.ones(1, 3))
    assert value(recording, ":relu#0", Kind.INPUT, "[0]") == [[7.0, -13.0, 27.0, -29.0]]
    assert value(recording, ":relu#0", Kind.OUTPUT) == [[7.0, 0.0, 27.0, 0.0]]
    assert recording.output.tolist() == [[89.0]]
    assert given(recording) == [[22.0, 26.0, 30.0]]


@pytest.mark.parametrize("wrap", [lambda row: [row], lambda row: row], ids=["2-D", "1-D"])
def test_fc_relu_fc_backward(wrap: Any) -> None:
    recording = run(FcReluFc([10.0, 20.0, 30.0, 40.0], 2.0), torch.tensor(wrap([1.0, 1.0, 1.0])))
    assert recording.output.flatten().tolist() == [882.0]
    gradients = [key for key in recording if key.kind is Kind.GRAD_OUTPUT and key.path]
    assert [key.path for key in gradients] == ["fc2", ":relu#0", "fc1"]
    assert value(recording, ":relu#0", Kind.GRAD_OUTPUT) == wrap([10.0, 20.0, 30.0, 40.0])
    assert value(recording, ":relu#0", Kind.GRAD_INPUT, "[0]") == wrap([10.0, 0.0, 30.0, 0.0])
    assert value(recording, "fc1", Kind.GRAD_OUTPUT) == wrap([10.0, 0.0, 30.0, 0.0])
    assert given(recording) == wrap([220.0, 260.0, 300.0])


def test_edits_of_the_function_are_those_of_the_module() -> None:
    net, x = FcReluFc([10.0, 20.0, 30.0, 40.0], 2.0), torch.ones(1, 3)
    assert run(net, x, edits=[Edit(":relu#0", hv.zero())]).output.tolist() == [[2.0]]
    assert run(net, x, edits=[Edit(":relu#0", hv.zero(), index=2)]).output.tolist() == [[72.0]]
    assert run(net, x, edits=[Edit("fc1", hv.scale(2), kind=Kind.INPUT)]).output.tolist() == [[1662.0]]


def test_three_matrices_as_parameters() -> None:
    recording = run(ThreeLayers(), torch.ones(10))
    names = [f":linear#{number}" for number in range(3)]
    assert [value(recording, path, Kind.OUTPUT)[0] for path in names] == [10.0, 100.0, 900.0]
    assert [value(recording, path, Kind.GRAD_OUTPUT)[0] for path in names] == [18.0, 3.0, 1.0]
    assert [value(recording, path, Kind.GRAD_INPUT, "[0]")[0] for path in names] == [90.0, 18.0, 3.0]
    assert value(recording, names[1], Kind.GRAD_INPUT, "[1]") == [[30.0] * 5] * 3
