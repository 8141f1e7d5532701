"""What the statistics of every channel of every layer of ResNet-50 cost, beside seven calls of torch.

    python benchmarks/summaries.py [--rounds 7] [--json FILE]

Ours are mean, standard deviation, extremes, L2 norm, mean |a|, zeros, NaN and both infinities of each
channel, of all values. The peer is what people write: seven calls of torch for each layer. Both are also set
beside the forward pass itself. Everything runs in one process and in turns. Exit status 0.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch
import torchvision
from turns import row, show, timed

import hookviewer as hv
from hookviewer import arrays
from hookviewer.kinds import Kind


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    model = torchvision.models.resnet50(weights=None).eval()
    x = torch.randn(1, 3, 224, 224)
    leaves = frozenset(path for path, module in model.named_modules() if not module._modules)
    recording = hv.capture(model, x, hv.HookPlan(leaves))
    tensors = [
        record.tensor()
        for key, record in recording.items()
        if key.kind is Kind.OUTPUT and record.tensor().dim() == 4
    ]
    maps = [tensor[0].numpy() for tensor in tensors]

    def ours() -> None:
        for one in maps:
            arrays.channel_statistics(one)

    def whole() -> None:
        for tensor in tensors:
            arrays.statistics(tensor.numpy())

    def calls() -> None:
        across = (2, 3)
        for tensor in tensors:
            tensor.mean(across), tensor.std(across), tensor.amin(across), tensor.amax(across)
            tensor.norm(dim=across), (tensor == 0).sum(across), tensor.isfinite().all()

    def forward() -> None:
        with torch.no_grad():
            model(x)

    tasks = {"ours": ours, "whole": whole, "calls": calls, "forward": forward}
    times = timed(tasks, chosen.rounds)
    size = sum(tensor.numel() for tensor in tensors) * 4 / 2**20
    print(f"{len(tensors)} tensors, {size:.0f} MiB")
    lines = [
        row("statistics of every channel / seven calls of torch", times["ours"], times["calls"], 0.2),
        row("statistics of every channel / forward", times["ours"], times["forward"], 0.45),
        row("statistics of every layer as a whole / forward", times["whole"], times["forward"], 0.45),
        row("(seven calls of torch / forward)", times["calls"], times["forward"], float("inf")),
    ]
    for line in lines:
        show(line)
    if chosen.json:
        chosen.json.write_text(json.dumps(lines, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
