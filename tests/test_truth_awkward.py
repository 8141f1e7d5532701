"""Nets with awkward habits, in float64, against a twin without in-place operations written by hand."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from truth_awkward_nets import NETS
from truth_nets import state_of

import hookviewer as hv
from hookviewer import Key, Kind


@pytest.fixture(autouse=True)
def _double() -> Any:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def near(tensor: torch.Tensor) -> Any:
    return pytest.approx(tensor.detach().numpy(), rel=1e-10, abs=1e-12)


OUTPUTS = frozenset({Kind.OUTPUT, Kind.GRAD_OUTPUT})
EVERY = frozenset(Kind) - {Kind.ATTRIBUTION}


@pytest.mark.parametrize("kinds", [OUTPUTS, EVERY], ids=["outputs", "everything"])
@pytest.mark.parametrize("name", NETS)
def test_an_awkward_net_shows_what_its_twin_computes(name: str, kinds: frozenset[Kind]) -> None:
    net = NETS[name]().eval()
    x, weights = torch.randn(2, 4), torch.randn(2, 4)
    given = x.clone()
    leaf = x.clone().requires_grad_()
    output, nodes = net.twin(leaf)
    named = dict(net.named_parameters())
    wanted = [leaf, *nodes.values(), *named.values()]
    gradients = torch.autograd.grad((output * weights).sum(), wanted, allow_unused=True)
    before = state_of(net)
    recording = hv.capture(
        net, (x,), hv.HookPlan.of(net, "*", kinds=kinds), target=lambda out: (out * weights).sum()
    )
    assert state_of(net) == before
    assert torch.equal(x, given)
    assert recording[Key("", Kind.OUTPUT)].array() == near(output)

    for (path, call, place), node, gradient in zip(nodes, nodes.values(), gradients[1:], strict=False):
        shown = recording[Key(path, Kind.OUTPUT, call, place)]
        assert shown.array() == near(node), (path, call, place)
        key = Key(path, Kind.GRAD_OUTPUT, call, place)
        if gradient is None:
            assert recording.absent[key].strip()
        else:
            assert recording[key].array() == near(gradient), key
    if Kind.PARAM_GRAD in kinds:
        assert recording.record("", Kind.GRAD_INPUT_TOTAL).array() == near(gradients[0])
        for parameter, gradient in zip(named, gradients[1 + len(nodes) :], strict=True):
            home, _, own = parameter.rpartition(".")
            assert recording[Key(home, Kind.PARAM_GRAD, 0, own)].array() == near(gradient)


OVERWRITTEN = {
    "InPlaceChain": {"a": "triple", "triple": "relu", "relu": None},
    "ViewOverwritten": {"a": "relu", "flat": "relu", "relu": None},
    "IgnoredReturn": {"a": "relu", "relu": None, "b": None},
    "EatsItsInput": {"a": "eat", "eat": None},
}


@pytest.mark.parametrize("name", OVERWRITTEN)
def test_a_record_names_the_module_that_overwrote_its_tensor(name: str) -> None:
    net = NETS[name]().eval()
    recording = hv.capture(net, torch.randn(2, 4), hv.HookPlan.of(net, "*", kinds={Kind.OUTPUT}))
    for path, by in OVERWRITTEN[name].items():
        assert recording.record(path, Kind.OUTPUT).overwritten_by == by, path


def test_the_two_readings_of_an_input_gradient() -> None:
    class FanOut(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tap, self.l = nn.Identity(), nn.Linear(1, 1, bias=False)
            nn.init.constant_(self.l.weight, 3.0)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            h = self.tap(x * 1)
            return self.l(h) + 10 * h

    recording = hv.capture(
        FanOut(), torch.ones(1, 1), hv.HookPlan.of(FanOut(), "*", kinds=EVERY), target=hv.total()
    )
    assert recording.record("l", Kind.GRAD_INPUT).array().item() == 3.0
    assert recording.record("l", Kind.GRAD_INPUT_TOTAL).array().item() == 13.0
    assert recording.record("tap", Kind.GRAD_OUTPUT).array().item() == 13.0


def test_the_two_edits_of_a_gradient_differ_in_the_weight() -> None:
    net = nn.Sequential(nn.Linear(1, 1, bias=False))
    nn.init.constant_(net[0].weight, 3.0)
    plan = hv.HookPlan.of(net, "*", kinds=EVERY)
    for kind, weight in ((Kind.GRAD_INPUT, 1.0), (Kind.GRAD_OUTPUT, 10.0)):
        edit = hv.Edit("0", hv.scale(10.0), kind=kind)
        recording = hv.capture(net, torch.ones(1, 1), plan, target=hv.total(), edits=[edit])
        assert recording.record("", Kind.GRAD_INPUT_TOTAL).array().item() == 30.0
        assert recording[Key("0", Kind.PARAM_GRAD, 0, "weight")].array().item() == weight


def test_a_second_name_of_a_shared_module_means_the_first() -> None:
    net = NETS["Reused"]()
    x = torch.randn(2, 4)
    plan = hv.HookPlan.of(net, "again", kinds=OUTPUTS)
    assert plan.paths == frozenset({"relu"})
    for shown in (plan, hv.HookPlan(frozenset({"again"}), OUTPUTS)):
        recording = hv.capture(net, x, shown, target=hv.total())
        assert {key.path for key in recording} == {"relu"}
        assert len(recording.calls("again")) == len(recording.calls("relu")) == 6
        assert recording.record("again", Kind.OUTPUT, 5) is recording.record("relu", Kind.OUTPUT, 5)
    (node,) = [node for node in hv.module_tree(net).walk() if node.alias_of]
    assert (node.path, node.alias_of) == ("again", "relu")


def test_calls_are_listed_in_their_order_also_of_modules_that_are_not_ticked() -> None:
    net = NETS["Recursive"]()
    recording = hv.capture(net, torch.randn(2, 4), hv.HookPlan())
    assert len(recording) == 0
    calls = [*recording.calls(""), *recording.calls("inner")]
    started = sorted(calls, key=lambda call: call.order)
    assert [(call.path, call.number) for call in started] == [(p, i) for i in range(3) for p in ("", "inner")]
    assert all(call.output_shapes == ((2, 4),) for call in calls)
