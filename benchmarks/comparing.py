"""What comparing costs: numbers of a difference, the first divergence of a network, CKA, and top inputs.

    python benchmarks/comparing.py [--model demo:mobilenet_v2]

Each line is a time beside the plainest thing one could do instead (one walk of numpy through the same values,
one run of the model), measured in turns in one process, and the ratio of the two.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

import hookviewer as hv
from hookviewer.differences import channel_differences, divergence_plan, grams, similarity, ssim
from hookviewer.kinds import Kind
from hookviewer.strongest import TopK

TURNS = 5


def beside(name: str, ours: Callable[[], object], plain: Callable[[], object], what: str) -> None:
    """Print the medians of both, measured in turns, and their ratio."""
    times: dict[str, list[float]] = {"ours": [], "plain": []}
    for _ in range(TURNS):
        for key, function in (("ours", ours), ("plain", plain)):
            start = time.perf_counter()
            function()
            times[key].append(time.perf_counter() - start)
    one, other = (statistics.median(times[key]) * 1e3 for key in ("ours", "plain"))
    print(f"{name:52} {one:9.2f} ms   {what:24} {other:9.2f} ms   {one / other:7.2f} ×")


def layers(shape: tuple[int, ...]) -> None:
    """Compare the channels of one layer."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal(shape).astype(np.float32)
    b = (a + 1e-3 * rng.standard_normal(shape)).astype(np.float32)
    title = "×".join(map(str, shape))

    def plain() -> object:
        return np.abs(a.astype(np.float64) - b).reshape(len(a), -1).max(axis=1)

    walk = "max |A − B| in float64"
    beside(f"numbers of every channel, {title}", lambda: channel_differences(a, b), plain, walk)
    beside(f"the same where A equals B, {title}", lambda: channel_differences(a, a), plain, walk)
    beside(f"SSIM of every channel, {title}", lambda: ssim(a, b), plain, walk)


def network(spec: str) -> None:
    """Find the first divergence, and add one input to the top inputs of all layers."""
    model = hv.open_model(spec)
    given = hv.open_input(hv.card(model).example or "random:1x3x224x224", model)
    plan = divergence_plan(model)
    a = hv.capture(model, given.args, plan)
    b = hv.capture(model, tuple(one + 1e-3 * torch.randn_like(one) for one in given.args), plan)
    values = sum(record.nbytes for record in a.values()) / 4e6

    def run() -> object:
        return hv.capture(model, given.args, plan)

    beside(f"first divergence, {values:.0f} million values", lambda: hv.first_divergence(a, b), run, "a run")
    outputs = [record for key, record in a.items() if key.kind is Kind.OUTPUT]
    starts = [TopK(9).added(record, 0) for record in outputs]

    def ranked() -> object:
        return [one.added(record, 1) for one, record in zip(starts, outputs, strict=True)]

    beside(f"top 9 with one more input, {len(outputs)} layers", ranked, run, "a run")


def alike(count: int, features: int, depth: int) -> None:
    """Compare all layers of two sets of runs."""
    a, b = noise(count, features, depth), noise(count, features, depth)

    def plain() -> object:
        return [wide @ wide.T for one in (a, b) for wide in (r.tensor().double() for r in one.values())]

    def ours() -> object:
        return similarity(grams([a]), grams([b]))

    beside(f"CKA of {depth} × {depth} layers, {count} inputs × {features}", ours, plain, "Gram matrices")


def noise(count: int, features: int, depth: int) -> hv.Recording:
    """Return a recording of so many layers."""
    records = {}
    for number in range(depth):
        key, values = hv.Key(str(number), Kind.OUTPUT), torch.randn(count, features)
        records[key] = hv.Record(key, tuple(values.shape), values.dtype, kept=values)
    return hv.Recording(records)


def main() -> None:
    """Print all ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", default="demo:mobilenet_v2")
    chosen = parser.parse_args()
    for shape in ((256, 56, 56), (2048, 7, 7)):
        layers(shape)
    alike(count=64, features=20_000, depth=20)
    network(chosen.model)


if __name__ == "__main__":
    main()
