"""What a person can do wrong ends in a sentence, with everything recorded until then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from truth_nets import FcReluFc, state_of

import hookviewer as hv
from hookviewer import Key, Kind

EVERY = frozenset(Kind) - {Kind.ATTRIBUTION}
X = torch.ones(1, 3)


class Deep(nn.Module):
    def __init__(self, middle: nn.Module) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.ReLU(), middle), nn.Linear(3, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(self.first(x))


class Raises(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("a crooked number")


class Huge(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.empty(1 << 50) + x.sum()


class Fickle(nn.Module):
    """Catches what its part raises, and goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.bad, self.good = Raises(), nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            return self.bad(x)
        except ValueError:
            return self.good(x)


def one_sentence(error: BaseException) -> str:
    text = str(error).strip()
    assert text
    assert text.endswith((".", "?", "!", "”", '"', "'", ")"))
    assert "Traceback" not in text
    return text


@pytest.mark.parametrize(
    ("middle", "words"),
    [(Raises(), "a crooked number"), (nn.Linear(4, 2), "shapes"), (Huge(), "memory")],
    ids=["raises", "shapes", "memory"],
)
def test_a_failure_names_its_innermost_module_and_keeps_what_was_recorded(
    middle: nn.Module, words: str
) -> None:
    net = Deep(middle)
    before = state_of(net)
    with pytest.raises(hv.ModelError, match=words) as caught:
        hv.capture(net, X, hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.total())
    assert state_of(net) == before
    assert caught.value.path == "layers.1.1"
    assert "layers.1.1" in str(caught.value)
    recording = caught.value.recording
    first = net.first(X)
    assert torch.equal(recording.record("first", Kind.OUTPUT).tensor(), first.detach())
    assert torch.equal(
        recording.record("layers.1.0", Kind.OUTPUT).tensor(), net.layers[0](first).relu().detach()
    )
    assert torch.equal(
        recording.record("layers.1.1", Kind.INPUT).tensor(), net.layers[0](first).relu().detach()
    )
    for path in ("layers.1.1", "layers.2", "layers", ""):
        with pytest.raises(KeyError):
            recording.record(path, Kind.OUTPUT)
        assert recording.absent[Key(path, Kind.OUTPUT)].strip()
    assert recording.calls("layers.1.1")[0].status == "raised"
    assert recording.calls("layers.1.0")[0].output_shapes == ((1, 3),)
    assert recording.calls("layers.2") == ()
    good = Deep(nn.Linear(3, 3))
    assert hv.capture(good, X, hv.HookPlan.of(good, "*")).output.shape == (1, 3)


def test_a_failure_that_the_model_catches_is_no_failure() -> None:
    net = Fickle()
    recording = hv.capture(net, X, hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.total())
    assert torch.equal(recording.output, net.good(X))
    assert recording.record("good", Kind.GRAD_OUTPUT).array().tolist() == [[1.0] * 3]
    assert (
        "crooked" in recording.absent[Key("bad", Kind.OUTPUT)]
        or "raised" in recording.absent[Key("bad", Kind.OUTPUT)]
    )


def test_wrong_arguments_of_the_model_itself() -> None:
    with pytest.raises(hv.ModelError) as caught:
        hv.capture(FcReluFc(), (X, X), hv.HookPlan.of(FcReluFc(), "*"))
    assert caught.value.path == ""


def test_an_unknown_layer_names_what_is_near() -> None:
    net = Deep(nn.ReLU())
    with pytest.raises(hv.HookViewerError, match="layers") as caught:
        hv.HookPlan.of(net, "layer")
    one_sentence(caught.value)
    with pytest.raises(hv.HookViewerError, match=r"first"):
        hv.HookPlan.of(net, "frist")
    with pytest.raises(hv.HookViewerError, match="Linear"):
        hv.HookPlan.of(net, "type:Liner")
    with pytest.raises(hv.HookViewerError):
        hv.HookPlan.of(net, "*", "nothing.*")


def test_an_unknown_layer_in_a_plan_or_an_edit_is_refused_before_the_run() -> None:
    net, calls = FcReluFc(), []
    net.register_forward_pre_hook(lambda module, args: calls.append(1))
    with pytest.raises(hv.HookViewerError, match="fc1"):
        hv.capture(net, X, hv.HookPlan(frozenset({"fc11"}), frozenset({Kind.OUTPUT})))
    with pytest.raises(hv.HookViewerError, match="fc1"):
        hv.capture(net, X, hv.HookPlan.of(net, "*"), edits=[hv.Edit("fc11", hv.zero())])
    assert calls == []


def test_gradients_without_a_target_are_refused_before_the_run() -> None:
    net, calls = FcReluFc(), []
    net.register_forward_pre_hook(lambda module, args: calls.append(1))
    for kind in (Kind.GRAD_OUTPUT, Kind.GRAD_INPUT, Kind.GRAD_INPUT_TOTAL, Kind.PARAM_GRAD):
        with pytest.raises(hv.HookViewerError, match=r"[Tt]arget") as caught:
            hv.capture(net, X, hv.HookPlan.of(net, "*", kinds={kind}))
        assert not isinstance(caught.value, hv.ModelError)
        one_sentence(caught.value)
    assert calls == []


@pytest.mark.parametrize(
    "target",
    [
        lambda out: out.repeat(1, 2),
        lambda out: out.argmax(),
        lambda out: 3.0,
        lambda out: out.detach().sum(),
        hv.class_score(7),
        hv.total("['logits']"),
        hv.dot(torch.ones(2, 2)),
        hv.unit("fc1", 99),
        hv.unit("fc9", 0),
        hv.unit("fc1", 0, call=3),
    ],
    ids=["vector", "integer", "python", "detached", "class", "leaf", "shape", "index", "path", "call"],
)
def test_a_target_that_is_no_single_number_ends_in_a_sentence(target: Any) -> None:
    net = FcReluFc()
    before = state_of(net)
    with pytest.raises(hv.HookViewerError) as caught:
        hv.capture(net, X, hv.HookPlan.of(net, "*", kinds=EVERY), target=target)
    one_sentence(caught.value)
    assert state_of(net) == before


@pytest.mark.parametrize(
    "target", [hv.total(), hv.class_score(0), hv.top_class(), hv.unit("fc2", 0), hv.dot(torch.ones(1, 1))]
)
def test_every_target_of_one_number_is_the_same_here(target: Any) -> None:
    recording = hv.capture(FcReluFc(), X, hv.HookPlan.of(FcReluFc(), "*", kinds=EVERY), target=target)
    assert recording.record("", Kind.GRAD_INPUT).array().tolist() == [[220.0, 260.0, 300.0]]
    assert recording.target_value == 882.0


def test_a_unit_inside_the_net_is_a_target() -> None:
    recording = hv.capture(
        FcReluFc(), X, hv.HookPlan.of(FcReluFc(), "*", kinds=EVERY), target=hv.unit("fc1", 2)
    )
    assert recording.target_value == 27.0
    assert recording.record("", Kind.GRAD_INPUT).array().tolist() == [[7.0, 8.0, 9.0]]
    assert recording.absent[Key("fc2", Kind.GRAD_OUTPUT)].strip()


def test_the_loss_target_is_cross_entropy() -> None:
    net, x = nn.Linear(3, 5), torch.randn(2, 3)
    label = torch.tensor([4, 1])
    out = net(x)
    (gradient,) = torch.autograd.grad(nn.functional.cross_entropy(out, label), out)
    recording = hv.capture(
        net, x, hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.loss("cross_entropy", label)
    )
    assert recording.record("", Kind.GRAD_OUTPUT).array() == pytest.approx(gradient.numpy(), rel=1e-5)


def test_a_hostile_module_name_is_a_path_like_any_other() -> None:
    net = nn.Sequential(nn.Linear(3, 3))
    for name in ("../../x", "a/b\\c", "=1+1", "<b>", "[0]", "type:x"):
        net._modules[name] = nn.Linear(3, 3)
    plan = hv.HookPlan.of(net, "*", kinds=EVERY)
    recording = hv.capture(net, X, plan, target=hv.total())
    value = X
    for name, module in net._modules.items():
        value = module(value)
        assert torch.equal(recording.record(name, Kind.OUTPUT).tensor(), value.detach())
        assert recording.record(name, Kind.GRAD_OUTPUT).shape == (1, 3)
    exact = hv.HookPlan.of(net, "../../x")
    assert exact.paths == frozenset({"../../x"})
    assert hv.HookPlan.of(net, "[0]").paths == frozenset({"[0]"})


def test_over_budget_the_statistics_are_kept_and_the_values_have_a_reason() -> None:
    net = nn.Sequential(nn.Linear(3, 100), nn.ReLU(inplace=True), nn.Linear(100, 2))
    x = torch.randn(4, 3)
    recording = hv.capture(net, x, hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.total(), budget=500)
    first = net[0](x).detach().numpy()
    record = recording.record("0", Kind.OUTPUT)
    assert record.shape == (4, 100)
    assert record.dtype == torch.float32
    found = hv.statistics(record)
    assert [found.min, found.max, found.mean, found.std] == pytest.approx(
        [first.min(), first.max(), first.mean(), first.std()], rel=1e-4, abs=1e-6
    )
    with pytest.raises(hv.HookViewerError, match="budget"):
        record.array()
    assert recording.nbytes <= 500
    assert recording.record("", Kind.GRAD_OUTPUT).shape == (4, 2)
    assert np.array_equal(recording.output.numpy(), net(x).detach().numpy())
    within = hv.capture(net, x, hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.total())
    assert np.array_equal(within.record("0", Kind.OUTPUT).array(), first)


def test_a_giant_view_is_never_copied() -> None:
    class Giant(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x[:, :1].expand(1 << 20, 1 << 20)

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.giant = Giant()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.giant(x)[:1, :1] * 2

    recording = hv.capture(Net(), X, hv.HookPlan.of(Net(), "giant"))
    record = recording.record("giant", Kind.OUTPUT)
    assert record.shape == (1 << 20, 1 << 20)
    with pytest.raises(hv.HookViewerError):
        record.array()


@pytest.mark.parametrize(
    "operation",
    [hv.replace(torch.zeros(2, 2)), lambda out: out[:, :1], lambda out: "words", lambda out: out.double()],
    ids=["replace", "shape", "text", "dtype"],
)
@pytest.mark.parametrize("kind", [Kind.OUTPUT, Kind.GRAD_OUTPUT])
def test_an_edit_that_does_not_fit_ends_in_a_sentence(operation: Any, kind: Kind) -> None:
    net = FcReluFc()
    before = state_of(net)
    with pytest.raises(hv.HookViewerError, match=r"relu1|cannot replace"):
        hv.capture(
            net,
            X,
            hv.HookPlan.of(net, "*", kinds=EVERY),
            target=hv.total(),
            edits=[hv.Edit("relu1", operation, kind=kind)],
        )
    assert state_of(net) == before
