"""What do functional calls cost, on and off?

Off must cost nothing: with `--beside FOLDER` (a checkout of a version that has no functional calls) both
versions make the same runs in turns, each in a process of its own. On: runs that list, and that record, all
functional calls, beside the same run without, and beside torchlens ("not run" where it is not installed).

    python benchmarks/ops.py [--rounds 15] [--beside FOLDER] [--models NAME…] [--json FILE]

Each model runs on one torch thread; times are medians of seconds, memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
SIZES = {"resnet18": 224, "densenet121": 128, "vit_b_16": 224}
Task = Callable[[], object]


def worker(name: str) -> None:
    """Answer every line of standard input with the seconds of one run without functional calls."""
    import torch
    import torchvision

    import hookviewer as hv

    torch.set_num_threads(1)
    model, x = torchvision.models.get_model(name).eval(), torch.rand(1, 3, SIZES[name], SIZES[name])
    kinds = {hv.Kind.OUTPUT, hv.Kind.GRAD_OUTPUT}
    plan = hv.HookPlan(frozenset(path for path, one in model.named_modules() if not one._modules), kinds)
    for line in sys.stdin:
        asked = plan if line.strip() == "gradients" else plan.with_kinds({hv.Kind.OUTPUT})
        target = hv.total() if asked.needs_target else None
        start = time.perf_counter()
        hv.capture(model, x, asked, target=target)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(time.perf_counter() - start, peak, flush=True)


class Process:
    """Another version of hookviewer, which makes runs when it is asked to."""

    def __init__(self, folder: Path, name: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        command = [sys.executable, str(HERE / "benchmarks" / "ops.py"), "--worker", name]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(self, what: str) -> tuple[float, float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        seconds, peak = self.process.stdout.readline().split()
        return float(seconds), float(peak)

    def close(self) -> None:
        self.process.communicate()


def off(name: str, beside: Path, rounds: int) -> list[dict[str, object]]:
    """Compare this version with another one: the same runs, in turns."""
    rows: list[dict[str, object]] = []
    for what in ("outputs", "gradients"):
        versions = {"ours": Process(HERE, name), "peer": Process(beside, name)}
        found: dict[str, list[tuple[float, float]]] = {"ours": [], "peer": []}
        for turn in range(rounds + 2):
            for who in sorted(versions, reverse=bool(turn % 2)):
                answer = versions[who].run(what)
                if turn > 1:
                    found[who].append(answer)
        for process in versions.values():
            process.close()
        seconds = {who: statistics.median(one for one, _ in answers) for who, answers in found.items()}
        peaks = {who: max(peak for _, peak in answers) for who, answers in found.items()}
        rows.append(row(f"{name}: {what}, off / without functional calls, time", **seconds))
        rows.append(row(f"{name}: {what}, off / without functional calls, peak memory", **peaks))
    return rows


def row(name: str, ours: float, peer: float) -> dict[str, object]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": ours / peer}


def on(name: str, rounds: int) -> list[dict[str, object]]:
    """Compare runs that list and record functional calls with the same run without."""
    import torch
    import torchvision

    import hookviewer as hv

    torch.set_num_threads(1)
    model, x = torchvision.models.get_model(name).eval(), torch.rand(1, 3, SIZES[name], SIZES[name])
    plan = hv.HookPlan(frozenset(path for path, one in model.named_modules() if not one._modules))
    tasks: dict[str, Task] = {
        "off": lambda: hv.capture(model, x, plan),
        "listed": lambda: hv.capture(model, x, plan.with_ops()),
        "recorded": lambda: hv.capture(model, x, plan.with_ops("*:*")),
    }
    if importlib.util.find_spec("torchlens"):
        import torchlens

        tasks["torchlens"] = lambda: torchlens.trace(model, x)
    times: dict[str, list[float]] = {task: [] for task in tasks}
    for turn in range(rounds + 1):
        for task, run in tasks.items():
            start = time.perf_counter()
            run()
            if turn:
                times[task].append(time.perf_counter() - start)
    median = {task: statistics.median(one) for task, one in times.items()}
    calls = len(hv.capture(model, x, plan.with_ops()).op_calls)
    rows = [
        row(f"{name}: {calls} functional calls listed / off", median["listed"], median["off"]),
        row(f"{name}: {calls} functional calls recorded / off", median["recorded"], median["off"]),
    ]
    if "torchlens" in median:
        rows.append(row(f"{name}: recorded / torchlens", median["recorded"], median["torchlens"]))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--beside", type=Path, help="the folder of a version without functional calls")
    parser.add_argument("--models", nargs="+", default=["resnet18", "densenet121"], choices=SIZES)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker)
        return 0
    rows: list[dict[str, object]] = []
    for name in options.models:
        rows += on(name, options.rounds)
        rows += off(name, options.beside.resolve(), options.rounds) if options.beside else []
    for one in rows:
        print(f"{one['name']:72} {one['ours']:12.4g} {one['peer']:12.4g}  ×{one['ratio']:.3f}")
    if not importlib.util.find_spec("torchlens"):
        print("torchlens: not run, it is not installed")
    if options.beside is None:
        print("off / without functional calls: not run, it needs --beside")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
