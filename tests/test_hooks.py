from __future__ import annotations

import contextlib
import gc
import random
import threading
import weakref
from typing import Any

import numpy as np
import pytest
import torch
from models import Appends, Chain, Fails, Nested, Norm, Shared, Tied
from torch import nn
from torch.utils.checkpoint import checkpoint

import hookviewer as hv
from hookviewer import HookPlan, Key, Kind

X = torch.tensor([[1.0]])
ALL = set(Kind) - {Kind.ATTRIBUTION}


def run(net: nn.Module, *args: Any, kinds: Any = ALL, **more: Any) -> hv.Recording:
    more.setdefault("target", hv.total())
    return hv.capture(net, args, HookPlan.of(net, "*", kinds=kinds), **more)


def values(recording: hv.Recording, path: str, kind: Kind) -> Any:
    return recording.record(path, kind).array().tolist()


# -- values and gradients


def test_values_and_gradients_survive_in_place_operations() -> None:
    recording = run(Chain(), X)
    assert values(recording, "first", Kind.OUTPUT) == [[1.0, -1.0]]
    assert values(recording, "relu", Kind.INPUT) == [[1.0, -1.0]]
    assert values(recording, "relu", Kind.OUTPUT) == [[1.0, 0.0]]
    assert values(recording, "relu", Kind.GRAD_OUTPUT) == [[2.0, 5.0]]
    assert values(recording, "first", Kind.GRAD_OUTPUT) == [[2.0, 0.0]]
    assert values(recording, "relu", Kind.GRAD_INPUT) == [[2.0, 0.0]]
    assert values(recording, "", Kind.GRAD_INPUT) == [[2.0]]
    assert recording[Key("first", Kind.PARAM_GRAD, 0, "weight")].array().tolist() == [[2.0], [0.0]]
    assert recording.record("first", Kind.OUTPUT).overwritten_by == "relu"
    assert recording.record("relu", Kind.INPUT).overwritten_by == "relu"
    assert recording.record("relu", Kind.OUTPUT).overwritten_by is None


def test_gradients_come_last_layer_first() -> None:
    recording = run(Chain(), X, kinds={Kind.GRAD_OUTPUT})
    assert [key.path for key in recording if key.path] == ["last", "relu", "first"]


def test_without_gradients_the_model_runs_without_a_graph() -> None:
    class Asks(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + float(torch.is_grad_enabled())

    assert run(Asks(), X, kinds={Kind.OUTPUT}).output.item() == 1.0
    assert run(Asks(), X, kinds={Kind.GRAD_OUTPUT}).output.item() == 2.0


def test_a_module_called_three_times_gives_three_records() -> None:
    recording = run(Shared(), torch.tensor([[1.0, -1.0]]))
    assert [key.call for key in recording if key[:2] == ("relu", Kind.OUTPUT)] == [0, 1, 2]
    assert recording[Key("again", Kind.OUTPUT, 2)].array().tolist() == [[1.0, 0.0]]


def test_every_part_of_a_nested_output_and_a_keyword_input_is_recorded() -> None:
    net = Nested()
    recording = run(
        net, torch.ones(1, 2), kwargs={"mask": torch.tensor([[1.0, 0.0]])}, target=hv.total(".scores")
    )
    assert recording.leaves("", Kind.OUTPUT) == (".scores", ".extra['pair'][0]", ".extra['pair'][1]")
    assert recording.leaves("", Kind.INPUT) == ("[0]", "['mask']")
    assert "int64" in recording.absent[Key("", Kind.GRAD_OUTPUT, 0, ".extra['pair'][1]")]
    assert "No gradient reached" in recording.absent[Key("", Kind.GRAD_OUTPUT, 0, ".extra['pair'][0]")]
    assert recording.output.extra["none"] is None
    assert not recording.output.scores.requires_grad


def test_a_module_that_appends_to_its_list_still_can() -> None:
    net, x = Appends(), torch.ones(1, 2)
    recording = run(net, x)
    assert recording.output.tolist() == net(x).tolist() == [[1.0, 1.0, 2.0, 2.0, 3.0, 3.0]]
    assert recording[Key("layer", Kind.GRAD_INPUT, 0, "[0][1]")].array().tolist() == [[1.0, 1.0]]
    assert recording[Key("layer", Kind.GRAD_INPUT_TOTAL, 0, "[0][1]")].array().tolist() == [[2.0, 2.0]]
    assert "returned no tensor" in recording.absent[Key("layer", Kind.OUTPUT)]


def test_a_frozen_model_on_integers_has_gradients_from_its_embedding_on() -> None:
    net = Tied().requires_grad_(False)
    recording = run(net, torch.tensor([1, 2]))
    expected = net.embedding.weight.sum(0).tolist()
    assert recording.record("embedding", Kind.GRAD_OUTPUT).array().tolist() == [
        pytest.approx(expected, rel=1e-4),
        pytest.approx(expected, rel=1e-4),
    ]
    assert "int64" in recording.absent[Key("", Kind.GRAD_INPUT, 0, "[0]")]
    assert "frozen" in recording.absent[Key("head", Kind.PARAM_GRAD, 0, "weight")]


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointed_blocks_are_one_call_with_their_gradients(reentrant: bool) -> None:
    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.chain = Chain()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return checkpoint(self.chain, x * 1, use_reentrant=reentrant)

    net = Checkpointed()
    net.chain.last.weight.grad = torch.full((1, 2), 9.0)
    recording = run(net, X)
    assert len(recording.calls("chain.relu")) == 1
    assert values(recording, "chain.first", Kind.GRAD_OUTPUT) == [[2.0, 0.0]]
    assert recording[Key("chain.last", Kind.PARAM_GRAD, 0, "weight")].array().tolist() == [[1.0, 0.0]]
    assert net.chain.last.weight.grad.tolist() == [[9.0, 9.0]]


def test_a_reentrant_checkpoint_never_steps_the_users_optimizer() -> None:
    class Checkpointed(Chain):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return checkpoint(super().forward, x * 1, use_reentrant=True)

    net, steps = Checkpointed(), []
    net.last.weight.register_post_accumulate_grad_hook(steps.append)
    with pytest.raises(hv.HookViewerError, match="use_reentrant=False"):
        run(net, X)
    assert not steps


def test_random_layers_give_the_same_for_the_same_seed() -> None:
    net, x = Norm(), torch.randn(4, 1, 6, 6)
    first, same, other = (run(net, x, mode="train", seed=seed).output for seed in (1, 1, 2))
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_the_users_input_is_never_changed() -> None:
    net, x = nn.Sequential(nn.ReLU(inplace=True)), torch.tensor([-1.0])
    run(net, x)
    run(net, x, kinds={Kind.OUTPUT})
    assert x.tolist() == [-1.0]
    assert not x.requires_grad


# -- what every run leaves behind


def stop_after(count: int) -> Any:
    asked = iter(range(10**6))
    return lambda: next(asked) >= count


@pytest.mark.parametrize("ending", ["fine", "raises", "stopped forward", "stopped backward", "bad target"])
def test_no_hook_survives_and_the_model_is_bit_for_bit_as_it_was(ending: str) -> None:
    net = Norm().train()
    net.norm.eval()
    net.conv.weight.grad = torch.ones_like(net.conv.weight)
    net.conv.register_forward_hook(lambda module, args, output: None)
    before = [(name, value.clone(), value) for name, value in net.state_dict(keep_vars=True).items()]
    hooks = [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in net.modules()]
    flags = [m.training for m in net.modules()]
    x = torch.randn(1, 1, 3, 3) if ending == "raises" else torch.randn(4, 1, 6, 6)
    rng, python = torch.get_rng_state(), random.getstate()
    stop = {"stopped forward": 2, "stopped backward": 6}.get(ending)
    ends_in = {"fine": contextlib.nullcontext(), "raises": pytest.raises(hv.ModelError)}
    ends_in |= {"bad target": pytest.raises(hv.ModelError)}
    with ends_in.get(ending) or pytest.raises(hv.Cancelled):
        run(
            net,
            x,
            mode="train",
            target=hv.class_score(99) if ending == "bad target" else hv.total(),
            cancelled=None if stop is None else stop_after(stop),
        )
    assert [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in net.modules()] == hooks
    assert not nn.modules.module._global_forward_pre_hooks
    assert [m.training for m in net.modules()] == flags
    after = net.state_dict(keep_vars=True)
    assert all(after[name] is own and torch.equal(own, value) for name, value, own in before)
    assert net.conv.weight.grad.eq(1).all()
    assert torch.equal(torch.get_rng_state(), rng)
    assert random.getstate() == python
    assert net.conv.weight._backward_hooks is None or not net.conv.weight._backward_hooks


def test_nothing_of_a_run_stays_in_memory() -> None:
    alive: list[weakref.ref[torch.Tensor]] = []

    class Watched(Chain):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            hidden = self.first(x)
            alive.append(weakref.ref(hidden))
            return self.last(self.relu(hidden))

    gc.disable()
    try:
        recording = run(Watched(), X)
        assert alive[0]() is None
        assert len(recording) > 10
    finally:
        gc.enable()


# -- failures


def test_a_failing_layer_is_named_and_what_was_recorded_until_then_is_kept() -> None:
    net = Fails()
    with pytest.raises(hv.ModelError, match=r"block\.0 raised RuntimeError.*It was given 4×2") as caught:
        run(net, torch.ones(4, 2))
    error = caught.value
    assert error.path == "block.0"
    assert error.recording.record("first", Kind.OUTPUT).shape == (4, 2)
    assert error.recording.calls("block.0")[0].status == "raised"
    assert error.recording.calls("block.0")[0].input_shapes == ((4, 2),)
    assert "stopped" in error.recording.absent[Key("first", Kind.GRAD_OUTPUT)]
    assert any("Traceback" in note for note in error.__notes__)
    assert error.__cause__ is None
    assert error.__context__ is None


def test_an_error_that_the_model_handles_itself_is_no_failure() -> None:
    class Handles(Fails):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            try:
                return super().forward(x)
            except RuntimeError:
                return self.first(x) * 2

    recording = run(Handles(), torch.ones(4, 2))
    assert [call.status for call in recording.calls("block")] == ["raised"]
    assert len(recording.calls("first")) == 2
    assert "raised" in recording.absent[Key("block", Kind.OUTPUT)]


def test_out_of_memory_is_named_at_its_layer_and_the_next_run_works() -> None:
    class Greedy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fine, self.big, self.greedy = nn.Linear(1, 1), nn.Identity(), True

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.fine(x)
            return self.big(torch.empty(1 << 46)) if self.greedy else self.big(y)

    net = Greedy()
    with pytest.raises(hv.ModelError, match="ran out of memory") as caught:
        run(net, X)
    assert caught.value.path == ""
    assert caught.value.recording.record("fine", Kind.OUTPUT).shape == (1, 1)
    net.greedy = False
    assert run(net, X).output.shape == (1, 1)


def test_a_batch_of_one_in_train_mode_gets_advice() -> None:
    with pytest.raises(hv.ModelError, match="run in eval mode") as caught:
        run(nn.Sequential(nn.BatchNorm1d(2)), torch.ones(1, 2), mode="train")
    assert caught.value.path == "0"


@pytest.mark.parametrize(
    ("plan", "more"),
    [
        (HookPlan({"relu"}, {Kind.GRAD_OUTPUT}), {}),
        (HookPlan({"rleu"}), {}),
        (HookPlan({"relu"}), {"target": 3}),
        (HookPlan({"relu"}), {"mode": "test"}),
        (HookPlan({"relu"}), {"device": "cuda:99"}),
        (HookPlan({"relu"}), {"edits": [hv.Edit("nowhere", hv.zero())]}),
        (HookPlan({"relu"}), {"edits": [hv.Edit("relu", hv.zero(), kind=Kind.GRAD_OUTPUT)]}),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_runs(plan: HookPlan, more: dict[str, Any]) -> None:
    net, ran = Chain(), []
    net.register_forward_pre_hook(lambda module, args: ran.append(1))
    with pytest.raises(hv.HookViewerError) as caught:
        hv.capture(net, X, plan, **more)
    assert not isinstance(caught.value, hv.ModelError)
    assert not ran


# -- callbacks and threads


def test_progress_and_records_are_told_as_they_come() -> None:
    modules: list[str] = []
    records: list[hv.Record] = []
    recording = run(Chain(), X, on_module=modules.append, on_record=records.append)
    assert modules == ["", "first", "relu", "last"]
    assert [record.key for record in records] == list(recording)


def test_calls_of_another_thread_are_not_recorded() -> None:
    net = Shared()

    class Disturbed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = net

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            other = threading.Thread(target=self.inner, args=(x,))
            other.start()
            other.join()
            return self.inner(x)

    recording = run(Disturbed(), torch.ones(1, 2), kinds={Kind.OUTPUT})
    assert len(recording.calls("inner")) == 1


def test_a_model_that_writes_its_own_parameter_is_told_of() -> None:
    class Writes(Chain):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                self.last.bias.add_(1)
            return super().forward(x)

    assert any("last.bias" in note for note in run(Writes(), X, kinds={Kind.OUTPUT}).notes)
    assert run(Chain(), X).notes == ()


def test_a_summarised_module_has_exact_statistics_and_no_values() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True)), nn.Linear(4, 2))
    x = torch.randn(5, 3)
    kinds = frozenset({Kind.OUTPUT, Kind.GRAD_OUTPUT})
    everything = hv.capture(
        model, (x,), HookPlan(frozenset({"0", "0.0", "0.1", "1"}), kinds), target=hv.total()
    )
    plan = HookPlan(frozenset({"1"}), kinds, summarised=frozenset({"0", "0.0", "0.1", "1"}))
    run = hv.capture(model, (x,), plan, target=hv.total())
    assert set(run) == set(everything)
    assert run.absent == everything.absent
    for key, record in everything.items():
        values = record.array().astype(np.float64)
        summary = hv.statistics(run[key])
        assert summary.mean == pytest.approx(values.mean(), rel=1e-6)
        assert summary.max == values.max()
        assert summary.zeros == (values == 0).sum()
        assert run[key].overwritten_by == record.overwritten_by
        if key.path == "1":
            np.testing.assert_array_equal(run[key].array(), record.array())
        else:
            assert run[key].nbytes == 0
            with pytest.raises(hv.HookViewerError, match="tick it"):
                run[key].array()


def test_joining_a_summary_keeps_values_that_were_recorded_before() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    x = torch.ones(1, 3)
    kept = hv.capture(model, (x,), HookPlan(frozenset({"0"})))
    summarised = hv.capture(model, (x,), HookPlan(frozenset({"1"}), summarised=frozenset({"0"})))
    both = kept.merged(summarised)
    assert both.record("0", Kind.OUTPUT).kept is not None
    assert both.record("1", Kind.OUTPUT).kept is not None


def test_a_stopped_run_hands_over_what_it_recorded_and_says_why_the_rest_is_missing() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(*[nn.Linear(2, 2) for _ in range(4)])
    x = torch.ones(1, 2)
    started: list[str] = []
    plan = HookPlan.of(model, "*")
    with pytest.raises(hv.Cancelled) as stop:
        hv.capture(model, (x,), plan, on_module=started.append, cancelled=lambda: "2" in started)
    run = stop.value.recording
    assert run is not None
    with torch.no_grad():
        assert torch.equal(run.record("1", Kind.OUTPUT).tensor(), model[1](model[0](x)))
    assert "stopped" in run.absent[Key("3", Kind.OUTPUT)]
    assert len(run.calls("1")) == 1
