"""Ours and its peers in turns (A B A B …), and the line that says how they compare."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def timed(
    tasks: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Return the seconds of each task, in turns; the first turn warms up and does not count."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(rounds + 1):
        for name, task in tasks.items():
            start = clock()
            task()
            if turn:
                times[name].append(clock() - start)
    return times


def row(name: str, ours: list[float], peer: list[float], goal: float) -> dict[str, object]:
    mine, other = statistics.median(ours), statistics.median(peer)
    return {
        "name": name,
        "ours": mine,
        "peer": other,
        "ratio": mine / other,
        "goal": goal,
        "ok": mine / other <= goal,
        "n": len(ours),
        "p95": sorted(ours)[max(0, round(0.95 * len(ours)) - 1)],
    }


def show(line: dict[str, object]) -> None:
    verdict = "ok" if line["ok"] else "short"
    print(
        f"{line['name']:<58} {line['ours']:>9.4g} {line['peer']:>9.4g} {line['ratio']:>7.3f} "
        f"{line['goal']:>6} {verdict:<6} n={line['n']}"
        + (f" p95={line['p95']:.4g}" if "p95" in line else ""),
        flush=True,
    )
