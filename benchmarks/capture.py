"""What does it cost to record every leaf module, and are the values right?

Ours and its peers run in turns (A B A B …) in a worker thread with one torch thread, as in the window.
Peers: the plain forward under no_grad, the plain forward and backward, captum's LayerActivation, torchlens
where it is installed, and a plain hook that keeps a reference (for the wrong values).

    python benchmarks/capture.py [--all] [--rounds 7] [--json FILE]

Without --all: ResNet-18 and ResNet-50, some three minutes. Exits 1 when a peer that is required did not run,
never because a goal is short.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from hookviewer import memory

memory.keep_freed_memory()

import torch  # noqa: E402
import torchvision  # noqa: E402
from torch import nn  # noqa: E402
from turns import row, show, timed  # noqa: E402

import hookviewer as hv  # noqa: E402

QUICK = [("resnet18", 1), ("resnet18", 8), ("resnet50", 1)]
EVERY = [(name, batch) for name in ("resnet18", "resnet50", "vgg16", "vit_b_16") for batch in (1, 8)]
CLASS = 3
Task = Callable[[], object]


def leaf_paths(model: nn.Module) -> frozenset[str]:
    return frozenset(path for path, module in model.named_modules() if not module._modules)


def in_worker(task: Callable[[], None]) -> None:
    """Run `task` in a thread, as the window does; an error there is an error here."""
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            task()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def tasks_for(model: nn.Module, x: torch.Tensor) -> dict[str, Task]:
    leaves = leaf_paths(model)
    modules = [module for path, module in model.named_modules() if path in leaves]
    outputs = hv.HookPlan(leaves)
    both = outputs.with_kinds({hv.Kind.OUTPUT, hv.Kind.GRAD_OUTPUT})

    def plain() -> None:
        with torch.no_grad():
            model(x)

    def backward() -> None:
        model(x.clone().requires_grad_())[:, CLASS].sum().backward()
        model.zero_grad()

    def captum() -> None:
        from captum.attr import LayerActivation

        called = [
            module
            for module in modules
            if not isinstance(module, nn.modules.linear.NonDynamicallyQuantizableLinear)
        ]
        with torch.no_grad():
            LayerActivation(model, called).attribute(x)

    tasks: dict[str, Task] = {
        "plain": plain,
        "ours": lambda: hv.capture(model, x, outputs),
        "captum": captum,
        "backward": backward,
        "ours with gradients": lambda: hv.capture(model, x, both, target=hv.class_score(CLASS)),
    }
    if importlib.util.find_spec("torchlens"):
        import torchlens

        tasks["torchlens"] = lambda: torchlens.trace(model, x)
    return tasks


def speed(name: str, batch: int, rounds: int) -> list[dict[str, object]]:
    model = getattr(torchvision.models, name)(weights=None).eval()
    times = timed(tasks_for(model, torch.randn(batch, 3, 224, 224)), rounds)
    where = f"{name} b{batch}"
    rows = [
        row(
            f"{where}: every leaf output / plain forward",
            times["ours"],
            times["plain"],
            1.10 if batch > 1 else 1.25,
        ),
        row(f"{where}: every leaf output / captum", times["ours"], times["captum"], 1.0),
        row(
            f"{where}: outputs and gradients / plain backward",
            times["ours with gradients"],
            times["backward"],
            1.0,
        ),
    ]
    if "torchlens" in times:
        rows.append(row(f"{where}: every leaf output / torchlens", times["ours"], times["torchlens"], 0.5))
    return rows


def wrong_values() -> dict[str, object]:
    """Count the calls of ResNet-50 that a recording, and a plain hook that keeps a reference, show wrong."""
    model = torchvision.models.resnet50(weights=None).eval()
    x = torch.randn(1, 3, 64, 64)
    right: dict[tuple[str, int], torch.Tensor] = {}
    kept: dict[tuple[str, int], torch.Tensor] = {}

    def hook(path: str) -> Callable[..., None]:
        def remember(module: nn.Module, args: object, output: torch.Tensor) -> None:
            call = sum(key[0] == path for key in kept)
            kept[path, call] = output
            right[path, call] = output.clone()

        return remember

    leaves = leaf_paths(model)
    handles = [m.register_forward_hook(hook(path)) for path, m in model.named_modules() if path in leaves]
    with torch.no_grad():
        model(x)
    for handle in handles:
        handle.remove()
    recording = hv.capture(model, x, hv.HookPlan(leaves))
    ours = sum(
        not torch.equal(recording[hv.Key(path, hv.Kind.OUTPUT, call)].tensor(), value)
        for (path, call), value in right.items()
    )
    peer = sum(not torch.equal(kept[key], value) for key, value in right.items())
    name = f"resnet50: wrong values of {len(right)} calls, beside a plain hook"
    return {
        "name": name,
        "ours": ours,
        "peer": peer,
        "ratio": ours / peer,
        "goal": 0,
        "ok": ours == 0,
        "n": len(right),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--all", action="store_true", help="also VGG-16 and ViT-B/16, and every batch of eight"
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not importlib.util.find_spec("captum"):
        print("captum is not installed: pip install captum", file=sys.stderr)
        return 1
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows: list[dict[str, object]] = []

    def work() -> None:
        torch.set_num_threads(1)
        rows.append(wrong_values())
        show(rows[-1])
        for name, batch in EVERY if options.all else QUICK:
            found = speed(name, batch, options.rounds)
            rows.extend(found)
            for one in found:
                show(one)

    print(f"torch {torch.__version__}, one thread, {options.rounds} rounds")
    in_worker(work)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
