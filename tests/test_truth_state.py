"""A run leaves everything as it found it: when it works, when the model raises, when it is stopped."""

from __future__ import annotations

import contextlib
import gc
import random
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm
from torch.utils.checkpoint import checkpoint
from truth_nets import state_of

import hookviewer as hv
from hookviewer import Key, Kind

EVERY = frozenset(Kind) - {Kind.ATTRIBUTION}


class Restless(nn.Module):
    """Everything that changes by itself in a training forward, and flags that differ module by module."""

    def __init__(self, reentrant: bool = False) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
        self.frozen_norm, self.drop = nn.BatchNorm2d(4).eval(), nn.Dropout(0.5)
        self.relu, self.head = nn.ReLU(inplace=True), spectral_norm(nn.Linear(4, 4))
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.never, self.reentrant, self.fail = nn.Linear(2, 2), reentrant, False
        self.frozen_norm.weight.requires_grad_(False)
        self.head.bias.grad = torch.ones(4)
        self.conv.weight.grad = torch.full_like(self.conv.weight, 3.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.drop(self.relu(self.norm(self.conv(x))))
        x = checkpoint(self.frozen_norm, x, use_reentrant=True) if self.reentrant else self.frozen_norm(x)
        x = x + float(np.random.rand()) + random.random() + torch.rand(1)
        if self.fail:
            raise ValueError("layer k has had enough")
        x = self.head(x.flatten(2).transpose(1, 2))
        return self.attention(x, x, x)[0].mean(1)


def restless(**options: Any) -> Restless:
    net = Restless(**options).train()
    net.frozen_norm.eval()
    net.conv.register_forward_hook(lambda module, args, output: output * 2)
    net.conv.register_forward_pre_hook(lambda module, args: None)
    net.head.register_full_backward_hook(lambda module, grad_input, grad_output: None)
    net.conv.weight.register_hook(lambda gradient: gradient * 2)
    return net


PICTURE = torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(1))


def run(net: nn.Module, *, mode: str = "train", kinds: Any = EVERY, **options: Any) -> hv.Recording:
    target = hv.total() if any(kind.needs_target for kind in kinds) else None
    return hv.capture(
        net, PICTURE, hv.HookPlan.of(net, "*", kinds=kinds), target=target, mode=mode, **options
    )


@pytest.mark.parametrize("mode", ["train", "eval", "as is"])
@pytest.mark.parametrize("reentrant", [False, True])
def test_a_run_leaves_everything_as_it_was(mode: str, reentrant: bool) -> None:
    net = restless(reentrant=reentrant)
    before, gradients = state_of(net), [parameter.grad for parameter in net.parameters()]
    recording = run(net, mode=mode)
    assert state_of(net) == before
    assert all(p.grad is g for p, g in zip(net.parameters(), gradients, strict=True))
    assert len(recording) > 20


@pytest.mark.parametrize("reentrant", [False, True])
def test_an_optimizer_that_steps_in_the_backward_pass_is_never_run(reentrant: bool) -> None:
    net, fired = restless(reentrant=reentrant), []
    net.norm.weight.register_post_accumulate_grad_hook(lambda parameter: fired.append("norm"))
    before = state_of(net)
    if reentrant:  # such a checkpoint has no gradient without backward(), which would step the optimizer
        with pytest.raises(hv.HookViewerError, match="reentrant"):
            run(net)
    else:
        assert len(run(net)) > 20
    assert fired == []
    assert state_of(net) == before


def flags_during(mode: str) -> dict[str, bool]:
    net, seen = restless(), {}
    for path, module in net.named_modules():
        module.register_forward_hook(lambda m, a, o, path=path: seen.__setitem__(path, m.training))
    run(net, mode=mode, kinds={Kind.OUTPUT})
    return seen


def test_the_mode_of_a_run_reaches_every_module() -> None:
    assert set(flags_during("train").values()) == {True}
    assert set(flags_during("eval").values()) == {False}
    own = flags_during("as is")
    assert [own["norm"], own["frozen_norm"]] == [True, False]


def test_the_same_seed_gives_the_same_dropout_as_plain_torch() -> None:
    net = nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.5), nn.Linear(64, 3)).train()
    x = torch.randn(4, 8)
    recordings = [
        hv.capture(net, x, hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.total(), mode="train", seed=seed)
        for seed in (5, 5, 6)
    ]
    with torch.random.fork_rng():
        torch.manual_seed(5)
        expected = net(x).detach()
    assert torch.equal(recordings[0].output, expected)
    assert torch.equal(recordings[1].output, expected)
    assert not torch.equal(recordings[2].output, expected)


@pytest.mark.parametrize("kind", [nn.Embedding, nn.EmbeddingBag])
def test_an_embedding_that_renormalises_its_weight_is_left_alone(kind: type[nn.Module]) -> None:
    net, twin = kind(5, 3, max_norm=0.5), kind(5, 3, max_norm=0.5)
    twin.load_state_dict(net.state_dict())
    tokens = torch.tensor([[0, 1, 2]])
    before = state_of(net)
    recording = hv.capture(net, tokens, hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.total())
    assert state_of(net) == before
    assert torch.equal(recording.output, twin(tokens))


def stop_at(number: int) -> Callable[[], bool]:
    asked = iter(range(10_000))
    return lambda: next(asked) >= number


@pytest.mark.parametrize("number", [0, 1, 3, 6, 9])
def test_a_stop_between_modules_leaves_everything_as_it_was(number: int) -> None:
    net = restless()
    before = state_of(net)
    with pytest.raises(hv.Cancelled):
        run(net, cancelled=stop_at(number))
    assert state_of(net) == before
    assert len(run(net)) > 20


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_stop_in_the_backward_pass_leaves_everything_as_it_was(reentrant: bool) -> None:
    net = restless(reentrant=reentrant)
    before = state_of(net)
    made: list[Key] = []

    def note(record: hv.Record) -> None:
        made.append(record.key)

    def backward_began() -> bool:
        return any(key.kind is Kind.GRAD_OUTPUT for key in made)

    with pytest.raises(hv.Cancelled):
        run(net, on_record=note, cancelled=backward_began)
    gradients = [key for key in made if key.kind.needs_target]
    assert 1 <= len(gradients) <= 3  # one layer's time
    assert state_of(net) == before
    assert net.conv.weight.grad is not None
    assert float(net.conv.weight.grad.mean()) == 3.0


@pytest.mark.parametrize("what", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interruption_leaves_everything_as_it_was(what: type[BaseException]) -> None:
    net = restless()

    def interrupt(path: str) -> None:
        if path == "head":
            raise what()

    before = state_of(net)
    with pytest.raises(what):
        run(net, on_module=interrupt)
    assert state_of(net) == before


@pytest.mark.parametrize("outside", [torch.no_grad, torch.inference_mode])
def test_a_run_inside_no_grad_or_inference_mode_has_its_gradients(outside: Any) -> None:
    net, x = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True)), torch.randn(2, 3)
    plan = hv.HookPlan.of(net, "*", kinds=EVERY)
    expected = hv.capture(net, x, plan, target=hv.total())
    with outside():
        before = state_of(net)
        recording = hv.capture(net, x, plan, target=hv.total())
        assert state_of(net) == before
    assert list(recording) == list(expected)
    assert all(torch.equal(recording[key].tensor(), expected[key].tensor()) for key in expected)


def test_no_except_in_a_model_swallows_a_stop() -> None:
    class Stubborn(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            try:
                return self.b(self.a(x))
            except Exception:
                return x

    net = Stubborn()
    with pytest.raises(hv.Cancelled):
        hv.capture(net, torch.ones(1, 2), hv.HookPlan.of(net, "*"), cancelled=stop_at(2))


@pytest.mark.parametrize("kinds", [EVERY, frozenset({Kind.OUTPUT})], ids=["everything", "outputs"])
def test_a_model_that_raises_leaves_everything_as_it_was(kinds: frozenset[Kind]) -> None:
    net = restless()
    net.fail = True
    before = state_of(net)
    with pytest.raises(hv.ModelError) as caught:
        run(net, kinds=kinds)
    assert state_of(net) == before
    assert caught.value.path == ""
    assert caught.value.recording.record("frozen_norm", Kind.OUTPUT).shape == (2, 4, 4, 4)
    net.fail = False
    assert len(run(net)) > 20


def test_a_backward_that_raises_leaves_everything_as_it_was() -> None:
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            raise ValueError("no way back")

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.norm, self.b = nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Linear(2, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.b(Broken.apply(self.norm(self.a(x))))

    net, x = Net().train(), torch.randn(3, 2)
    before = state_of(net)
    plan = hv.HookPlan.of(net, "*", kinds=EVERY)
    with pytest.raises(hv.ModelError, match="no way back") as caught:
        hv.capture(net, x, plan, target=hv.total(), mode="train")
    assert state_of(net) == before
    assert caught.value.recording.record("b", Kind.OUTPUT).shape == (3, 2)
    assert caught.value.recording.record("b", Kind.GRAD_OUTPUT).array().tolist() == [[1.0, 1.0]] * 3


def test_a_call_from_another_thread_is_not_recorded() -> None:
    net, x = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True)), torch.randn(2, 3)
    expected = net(x).detach()

    def elsewhere(path: str) -> None:
        thread = threading.Thread(target=lambda: net(torch.zeros(7, 3)))
        thread.start()
        thread.join()

    recording = hv.capture(
        net, x, hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.total(), on_module=elsewhere
    )
    assert torch.equal(recording.output, expected)
    assert [len(recording.calls(path)) for path in ("", "0", "1")] == [1, 1, 1]
    assert recording.record("0", Kind.OUTPUT).shape == (2, 3)


class Remembered(nn.Module):
    """Keeps weak references to the tensors of its own forward passes."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.relu, self.b, self.fail = (
            nn.Linear(50, 50),
            nn.ReLU(inplace=True),
            nn.Linear(50, 50),
            False,
        )
        self.seen: list[Any] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.relu(self.a(x))
        out = self.b(h)
        self.seen += [weakref.ref(h), weakref.ref(out)]
        if self.fail:
            raise RuntimeError("enough")
        return out


@pytest.mark.parametrize("ending", ["fine", "raises", "stopped"])
def test_memory_is_flat_over_runs(ending: str) -> None:
    net, x = Remembered(), torch.randn(2, 50)
    plan = hv.HookPlan.of(net, "*", kinds=EVERY)
    alive: list[int] = []
    gc.collect()
    gc.disable()  # nothing may wait for the cycle collector
    try:
        for _ in range(5):
            net.fail = ending == "raises"
            stop = stop_at(4) if ending == "stopped" else None
            with contextlib.suppress(hv.ModelError, hv.Cancelled):
                hv.capture(net, x, plan, target=hv.total(), cancelled=stop)
            if ending != "fine":
                gc.collect()  # an exception and its frames are a cycle of Python's own
            alive.append(sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects()))
        assert len(set(alive[1:])) == 1, alive
        assert all(reference() is None for reference in net.seen)
        assert net.seen or ending == "stopped"
    finally:
        gc.enable()


def test_a_kept_recording_holds_no_tensor_of_the_model() -> None:
    net = Remembered()
    recording = hv.capture(net, torch.randn(2, 50), hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.total())
    gc.collect()
    assert all(reference() is None for reference in net.seen)
    assert not recording.output.requires_grad
    assert all(not record.tensor().requires_grad for record in recording.values())


def test_records_share_no_memory_with_the_model_or_with_each_other() -> None:
    net = nn.Sequential(nn.Identity(), nn.Linear(3, 3), nn.ReLU(inplace=True), nn.Identity())
    x = torch.randn(2, 3)
    recording = hv.capture(net, x, hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.total())
    kept = {key: record.tensor() for key, record in recording.items()}
    x.fill_(7.0)
    with torch.no_grad():
        net[1].weight.fill_(7.0)
    recording.output.fill_(7.0)
    for record in recording.values():
        record.tensor().fill_(9.0)
        with pytest.raises(ValueError, match="read-only"):
            record.array()[...] = 9.0
    assert all(torch.equal(recording[key].tensor(), tensor) for key, tensor in kept.items())
    arrays = [record.array() for record in recording.values()]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def test_a_recording_cannot_be_changed() -> None:
    net = nn.Linear(2, 2)
    recording = hv.capture(net, torch.ones(1, 2), hv.HookPlan.of(net, "*"))
    record = recording.record("", Kind.OUTPUT)
    with pytest.raises(AttributeError):
        record.notes = ("mine",)  # type: ignore[misc]
    with pytest.raises(TypeError):
        recording[record.key] = record  # type: ignore[index]
    with pytest.raises(TypeError):
        recording.absent[record.key] = "no"  # type: ignore[index]
