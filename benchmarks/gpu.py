"""Does the engine keep its promises on a GPU? Under a minute, without Qt.

Checks on CUDA: values and gradients around in-place operations, both kinds of checkpointing, bfloat16, flat
device memory over runs, a snapshot that a later overwrite does not reach, out of memory named at its layer
with the next run working, a stop between two layers, recurrent layers in eval mode, and a model that is lent
to the device for one run. Without CUDA it runs what makes sense on the CPU, and says so.

    python benchmarks/gpu.py [--json FILE]

Exits 1 when a check fails.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import hookviewer as hv
from hookviewer import Key, Kind

EVERY = frozenset(Kind) - {Kind.ATTRIBUTION}
CUDA = torch.cuda.is_available()
DEVICE = "cuda:0" if CUDA else "cpu"
Check = Callable[[], str]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    CHECKS[function.__name__.replace("_", " ")] = function
    return function


def record(net: nn.Module, *args: torch.Tensor, **more: object) -> hv.Recording:
    plan = hv.HookPlan.of(net, "*", kinds=EVERY)
    return hv.capture(net, args, plan, target=hv.total(), device=DEVICE, **more)  # type: ignore[arg-type]


def chain() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.Conv2d(8, 4, 3))


def twin(net: nn.Sequential, x: torch.Tensor) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Return values and gradients of all layers on the device, without any in-place operation."""
    values, h = [], x.clone().requires_grad_()
    for layer in net:
        h = torch.relu(h) if isinstance(layer, nn.ReLU) else layer(h)
        values.append(h)
    return values, list(torch.autograd.grad(h.sum(), values))


@check
def values_and_gradients_around_in_place_operations() -> str:
    net, x = chain().eval().to(DEVICE), torch.randn(2, 3, 16, 16, device=DEVICE)
    values, gradients = twin(net, x)
    recording = record(net, x)
    for i, (value, gradient) in enumerate(zip(values, gradients, strict=True)):
        shown = recording.record(str(i), Kind.OUTPUT)
        assert shown.device == x.device
        assert torch.allclose(shown.tensor(), value.detach().cpu(), atol=1e-5), i
        assert torch.allclose(
            recording.record(str(i), Kind.GRAD_OUTPUT).tensor(), gradient.cpu(), atol=1e-5
        ), i
    assert recording.record("1", Kind.OUTPUT).overwritten_by == "2"
    return f"{len(recording)} records"


class Checkpointed(nn.Module):
    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.block, self.reentrant = chain(), reentrant

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint(self.block, x * 1, use_reentrant=self.reentrant)


@check
def both_kinds_of_checkpointing() -> str:
    x = torch.randn(2, 3, 16, 16, device=DEVICE)
    for reentrant in (False, True):
        net = Checkpointed(reentrant).eval().to(DEVICE)
        _, gradients = twin(net.block, x)
        recording = record(net, x)
        for i, gradient in enumerate(gradients):
            shown = recording.record(f"block.{i}", Kind.GRAD_OUTPUT).tensor()
            assert torch.allclose(shown, gradient.cpu(), atol=1e-5), (reentrant, i)
    return "re-entrant and not"


@check
def bfloat16_keeps_its_dtype() -> str:
    net = nn.Linear(4, 4).to(DEVICE, torch.bfloat16)
    x = torch.randn(2, 4, device=DEVICE, dtype=torch.bfloat16)
    shown = record(net, x).record("", Kind.OUTPUT)
    assert shown.dtype == torch.bfloat16
    assert torch.equal(shown.tensor(), net(x).detach().cpu())
    assert str(shown.array().dtype) == "float32"
    return "exact"


@check
def a_later_overwrite_does_not_reach_a_snapshot() -> str:
    class Overwrites(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tap = nn.Identity()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            h = self.tap(x * 1)
            for _ in range(50):
                h.mul_(0.0)
            return h

    x = torch.randn(1 << 22, device=DEVICE)
    shown = hv.capture(Overwrites(), x, hv.HookPlan(frozenset({"tap"})), device=DEVICE).record(
        "tap", Kind.OUTPUT
    )
    assert torch.equal(shown.tensor(), x.cpu())
    assert shown.overwritten_by is not None
    return f"overwritten by {shown.overwritten_by}"


@check
def device_memory_is_flat_over_runs() -> str:
    if not CUDA:
        return "not run: no CUDA"
    net, x = chain().eval().to(DEVICE), torch.randn(8, 3, 64, 64, device=DEVICE)
    used = []
    for _ in range(5):
        record(net, x)
        torch.cuda.synchronize()
        used.append(torch.cuda.memory_allocated())
    assert len(set(used[1:])) == 1, used
    return f"{used[-1]} bytes"


class Greedy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.big, self.greedy = nn.Linear(2, 2), Big(), True

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.big(self.first(x), self.greedy)


class Big(nn.Module):
    def forward(self, x: torch.Tensor, greedy: bool) -> torch.Tensor:
        return x + torch.empty(1 << 46, device=x.device).sum() if greedy else x


def failed(net: nn.Module, x: torch.Tensor) -> hv.ModelError:
    try:
        record(net, x)
    except hv.ModelError as error:
        return error
    raise AssertionError("it did not run out of memory")


@check
def out_of_memory_is_named_at_its_layer_and_the_next_run_works() -> str:
    net, x = Greedy().to(DEVICE), torch.randn(1, 2, device=DEVICE)
    failure = failed(net, x)
    assert failure.path == "big", failure.path
    assert "ran out of memory" in str(failure), failure
    assert failure.recording.record("first", Kind.OUTPUT).shape == (1, 2)
    net.greedy = False
    assert record(net, x).output.shape == (1, 2)
    return str(failure)


@check
def a_stop_between_two_layers_leaves_nothing_behind() -> str:
    net, x = chain().eval().to(DEVICE), torch.randn(2, 3, 16, 16, device=DEVICE)
    for limit in (2, 7):
        asked = iter(range(1000))
        try:
            record(net, x, cancelled=lambda asked=asked, limit=limit: next(asked) >= limit)
        except hv.Cancelled:
            assert all(
                not module._forward_hooks and not module._forward_pre_hooks for module in net.modules()
            )
        else:
            raise AssertionError("it was not stopped")
    assert torch.equal(record(net, x).output, net(x).detach().cpu())
    return "forward and backward"


@check
def a_recurrent_layer_has_gradients_in_eval_mode() -> str:
    net = nn.LSTM(3, 4).eval()
    plan = hv.HookPlan.of(net, "*", kinds=EVERY)
    recording = hv.capture(net, torch.randn(5, 2, 3), plan, target=hv.total("[0]"), device=DEVICE)
    assert Key("", Kind.GRAD_INPUT, 0, "[0]") in recording
    return f"{len(recording)} records"


@check
def a_model_lent_to_the_device_comes_back_bit_for_bit() -> str:
    if not CUDA:
        return "not run: no CUDA"
    net = chain().eval()
    before = {name: (value.data_ptr(), value.clone()) for name, value in net.state_dict().items()}
    own = {name: id(value) for name, value in net.named_parameters(remove_duplicate=False)}
    recording = record(net, torch.randn(2, 3, 16, 16))
    assert recording.provenance["device"] == DEVICE
    for name, value in net.state_dict().items():
        assert value.data_ptr() == before[name][0]
        assert torch.equal(value, before[name][1])
    assert all(id(value) == own[name] for name, value in net.named_parameters())
    return f"cpu → {DEVICE} → cpu"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    where = torch.cuda.get_device_name() if CUDA else "the CPU: there is no CUDA here"
    print(f"torch {torch.__version__} on {where}")
    results = []
    for name, function in CHECKS.items():
        start = time.perf_counter()
        try:
            told, fine = function(), True
        except AssertionError as error:
            told, fine = str(error), False
        seconds = time.perf_counter() - start
        results.append({"name": name, "ok": fine, "seconds": seconds, "told": told, "on": DEVICE})
        print(f"{'ok  ' if fine else 'FAIL'} {name} ({seconds:.2f} s): {told}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    return 0 if all(result["ok"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
