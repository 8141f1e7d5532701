"""Planted faults are found at the layer where they are, and what only passes them on is told apart."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn

import hookviewer as hv
from hookviewer.arrays import statistics
from hookviewer.differences import Verdict, divergence_plan, first_divergence, tolerance_of
from hookviewer.differences.distances import distance, lower_bound
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Kind
from hookviewer.recording import Record, Recording


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.inner = nn.BatchNorm1d(width), nn.Linear(width, width)
        self.act, self.outer = nn.GELU(), nn.Linear(width, width)
        self.rounds = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.act(self.inner(self.norm(x)))
        if self.rounds:
            y = y.bfloat16().float()
        return x + self.outer(y)


def net(width: int = 12) -> nn.Sequential:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, width), *(Block(width) for _ in range(4)), nn.Linear(width, 3)).eval()
    with torch.no_grad():
        for block in model[1:5]:
            block.norm.running_mean.uniform_(-0.5, 0.5)
            block.norm.running_var.uniform_(0.5, 2)
    return model


def run(model: nn.Module, **options: object) -> Recording:
    given = torch.randn(16, 6, generator=torch.Generator().manual_seed(1))
    plan = options.pop("plan", None) or divergence_plan(model)
    return hv.capture(model, given, plan, **{"mode": "as is", **options})


def train_batch_norm(model: nn.Sequential) -> str:
    model[2].norm.train()
    return "2.norm"


def transpose_weight(model: nn.Sequential) -> str:
    model[3].outer.weight.data = model[3].outer.weight.data.T.clone()
    return "3.outer"


def round_in_block(model: nn.Sequential) -> str:
    model[2].rounds = True
    return "2"


@pytest.mark.parametrize("fault", [train_batch_norm, transpose_weight])
def test_a_planted_fault_is_found_at_its_layer(fault):
    right = net()
    wrong = copy.deepcopy(right)
    path = fault(wrong)
    found = first_divergence(run(right), run(wrong))
    assert found.first.key.path == path
    assert found.first.verdict is Verdict.PRODUCER
    assert found.first.input_distance == 0
    assert found.certain
    assert f"{path} is the producer: its inputs agree (0 apart)" in found.sentence
    later = {step.key.path: step.verdict for step in found.steps}
    assert later["4.norm"] is Verdict.PASSES_ON
    assert later["1.outer"] is Verdict.AGREES
    assert found.first in found.producers


def test_rounding_in_the_code_of_a_block_is_found_in_the_block():
    right = net()
    wrong = copy.deepcopy(right)
    path = round_in_block(wrong)
    found = first_divergence(run(right), run(wrong))
    assert (found.first.key.path, found.first.verdict) == (path, Verdict.PRODUCER)
    assert 1e-4 < found.first.distance < 1e-2
    assert (found.shows_at.key.path, found.shows_at.verdict) == ("2.outer", Verdict.PASSES_ON)
    assert "The code of 2 itself makes the difference, before 2.outer" in found.notes[0]


def test_rounding_inside_a_module_is_found_in_it():
    class Rounded(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x).bfloat16().float()

    right = net()
    wrong = copy.deepcopy(right)
    wrong[3].inner.__class__ = Rounded
    found = first_divergence(run(right), run(wrong))
    assert (found.first.key.path, found.first.verdict) == ("3.inner", Verdict.PRODUCER)


def test_a_block_in_bfloat16_is_named_where_the_type_changes():
    class Half(nn.Module):
        def __init__(self, inner: nn.Module) -> None:
            super().__init__()
            self.inner = inner.bfloat16()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x.bfloat16()).float()

    right = net()
    wrong = copy.deepcopy(right)
    right[2].inner = nn.Sequential()
    right[2].inner.inner = copy.deepcopy(wrong[2].inner)
    wrong[2].inner = Half(wrong[2].inner)
    found = first_divergence(run(right), run(wrong))
    assert found.retyped.key.path == "2.inner.inner"
    assert "From 2.inner.inner on, A computes in float32 and B in bfloat16" in " ".join(found.notes)
    strict = first_divergence(run(right), run(wrong), tolerance=1e-4)
    assert strict.first.key.path == "2.inner"
    assert strict.shows_at.key.path == "2.inner.inner"


def test_two_checkpoints_of_the_digits_net_that_differ_in_one_layer(tmp_path):
    model = hv.open_model("demo:digits")
    state = {name: value.clone() for name, value in model.state_dict().items()}
    state["5.weight"] += 0.01 * torch.randn(state["5.weight"].shape)
    torch.save(state, tmp_path / "later.pt")
    other = hv.open_model("demo:digits", weights=tmp_path / "later.pt")
    x = hv.open_input("demo:digit", model)
    plan = divergence_plan(model)
    found = first_divergence(hv.capture(model, x.args, plan), hv.capture(other, x.args, plan))
    assert (found.first.key.path, found.first.verdict) == ("5", Verdict.PRODUCER)
    assert [step.key.path for step in found.producers] == ["5", ""]


def test_equal_runs_agree_to_the_bit():
    found = first_divergence(run(net()), run(net()), tolerance=0)
    assert found.first is None
    assert found.certain
    assert all(step.verdict is Verdict.AGREES for step in found.steps)
    assert found.sentence == f"No layer is apart: {len(found.steps)} of {len(found.steps)} compared agree."


def test_without_a_tolerance_one_bit_is_found():
    right = net()
    wrong = copy.deepcopy(right)
    with torch.no_grad():
        bias = wrong[2].outer.bias
        bias[0] = torch.nextafter(bias[0], torch.tensor(9.0))
    assert first_divergence(run(right), run(wrong)).first is None
    assert first_divergence(run(right), run(wrong), tolerance=0).first.key.path == "2.outer"


def test_a_difference_that_only_grows_says_so():
    model = net()
    given = torch.randn(16, 6, generator=torch.Generator().manual_seed(1))
    plan = divergence_plan(model)
    a, b = (hv.capture(model, given * factor, plan) for factor in (1.0, 1.001))
    found = first_divergence(a, b, tolerance=0.00100001)
    grown = found.first
    assert grown.verdict is Verdict.PRODUCER
    times = f"{grown.distance / grown.input_distance:.2g}"
    assert f"It makes what comes in {times} times larger: perhaps rounding" in grown.sentence


def test_differences_whose_squares_vanish_or_overflow_are_seen():
    for value in (1e-200, 1e200):
        one = torch.full((3,), value, dtype=torch.float64)
        key = hv.Key("layer", Kind.OUTPUT)
        a, b = (Record(key, (3,), torch.float64, kept=values) for values in (one, one * 1.5))
        assert distance(a, b).value > 0
        assert distance(a, a).value == 0


def test_nan_in_one_run_only_is_apart():
    right = net()
    wrong = copy.deepcopy(right)
    wrong[1].inner.bias.data[2] = math.nan
    found = first_divergence(run(right), run(wrong))
    assert (found.first.key.path, found.first.distance) == ("1.inner", math.inf)
    assert "16 values are finite in one of both only" in found.sentence
    assert first_divergence(run(wrong), run(wrong)).first is None


def test_other_inputs_are_passed_on_from_the_start():
    model = net()
    plan = divergence_plan(model)
    a, b = (hv.capture(model, torch.full((2, 6), value), plan) for value in (1.0, 2.0))
    found = first_divergence(a, b)
    assert (found.first.key.path, found.first.verdict) == ("0", Verdict.PASSES_ON)
    assert "What goes into the model differs already: it is 1 apart." in found.notes
    assert "0 passes it on: its inputs are already 1 apart" in found.sentence


def test_statistics_alone_show_a_difference_but_never_that_there_is_none():
    right = net()
    wrong = copy.deepcopy(right)
    wrong[3].outer.weight.data *= 3
    a, b = run(right), run(wrong, budget=0)
    found = first_divergence(a, b)
    assert found.first.key.path == "3.outer"
    assert found.first.verdict is Verdict.APART
    assert not found.first.exact
    assert not found.certain
    assert "at least" in found.sentence
    assert "Whether its inputs agree is not known" in found.sentence
    exact = next(step for step in first_divergence(a, run(wrong)).steps if step.key == found.first.key)
    assert found.first.distance <= exact.distance
    assert "could not be compared" in found.notes[0]
    assert "budget" in found.notes[0]


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_from_statistics_is_never_above_the_distance(seed):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(rng.integers(1, 400)).astype(np.float32) * 10.0 ** rng.integers(-3, 4)
    b = a + rng.standard_normal(a.shape).astype(np.float32) * np.abs(a).max() * 10.0 ** -rng.integers(0, 6)
    true = np.linalg.norm(a.astype(float) - b) / np.linalg.norm(a.astype(float))
    assert lower_bound(statistics(a), statistics(b)) <= true
    assert lower_bound(statistics(a), statistics(a)) == 0
    assert lower_bound(statistics(a), statistics(3 * a)) == pytest.approx(2, rel=1e-3)


def test_inputs_that_were_not_recorded_are_not_guessed():
    right = net()
    wrong = copy.deepcopy(right)
    path = transpose_weight(wrong)
    plan = hv.HookPlan.of(right, "*", kinds={Kind.OUTPUT})
    found = first_divergence(run(right, plan=plan), run(wrong, plan=plan))
    assert (found.first.key.path, found.first.verdict) == (path, Verdict.APART)


def test_layers_of_two_models_are_compared_by_a_matching():
    right = net()
    wrong = copy.deepcopy(right)
    transpose_weight(wrong)
    moved = nn.Sequential()
    for name, layer in wrong.named_children():
        moved.add_module(f"block{name}", layer)
    matching = {path: f"block{path}" for path, _ in right.named_modules() if path}
    found = first_divergence(run(right), run(moved), matching={"": "", **matching})
    assert (found.first.key.path, found.first.path_b) == ("3.outer", "block3.outer")
    with pytest.raises(HookViewerError, match="No output was recorded in both runs"):
        first_divergence(run(right), run(moved), matching={"0": "nothing"})


def test_layers_without_a_partner_are_counted():
    one, two = net(), net()[:3]
    found = first_divergence(run(one), run(two))
    assert "layers of A have no partner in B" in found.notes[-1]


def test_the_tolerance_is_that_of_the_coarsest_type():
    assert tolerance_of(torch.float32, torch.int64) == 1e-4
    assert tolerance_of(torch.float32, torch.bfloat16) == 3e-2
    assert tolerance_of(torch.float8_e4m3fn) > tolerance_of(torch.float16) > tolerance_of(torch.float64)
    assert tolerance_of(torch.bool) == 0


def test_a_model_in_bfloat16_agrees_with_itself_in_float32_but_for_a_fault():
    right = net()
    half = copy.deepcopy(right).bfloat16()
    given = torch.randn(16, 6, generator=torch.Generator().manual_seed(1))
    plan = divergence_plan(right)
    a, b = hv.capture(right, given, plan), hv.capture(half, given.bfloat16(), plan)
    assert first_divergence(a, b).first is None
    path = transpose_weight(half)
    assert first_divergence(a, hv.capture(half, given.bfloat16(), plan)).first.key.path == path
