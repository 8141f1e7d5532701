"""Every layer of ResNet-50 as a picture of all its channels, beside matplotlib's imsave, in turns.

    python benchmarks/export.py [--rounds 7] [--layers 0] [--json FILE]

Both write the same channels side by side in the same colours to files in a folder; ours checks names, writes
whole files only and adds a list of them. A second line sets full pages (caption, colour bar) beside imsave.
Exit status 1 when matplotlib did not run, never when the goal is short.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import torchvision
from turns import row, show, timed

import hookviewer as hv
from hookviewer import arrays, render
from hookviewer.formats.entry import Caption, Entry, Figure
from hookviewer.formats.export import export
from hookviewer.kinds import Kind

GOAL = 1 / 25


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--layers", type=int, default=0, help="the first so many only; 0 for all")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    try:
        from matplotlib.image import imsave
    except ImportError:
        print("matplotlib is not installed: nothing to compare with")
        return 1
    torch.set_num_threads(1)
    model = torchvision.models.resnet50(weights=None).eval()
    leaves = frozenset(path for path, module in model.named_modules() if not module._modules)
    recording = hv.capture(model, torch.randn(1, 3, 224, 224), hv.HookPlan(leaves))
    records = [
        record for key, record in recording.items() if key.kind is Kind.OUTPUT and len(record.shape) == 4
    ][: chosen.layers or None]
    levels = [arrays.levels(record.array(), "robust") for record in records]
    entries = [
        Entry(record, Caption.of(record), scale, "magma")
        for record, scale in zip(records, levels, strict=True)
    ]

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)

        def ours(figure: Figure | None = None) -> None:
            export(entries, folder / "ours", formats=("png",), figure=figure, overwrite=True)

        def peer() -> None:
            (folder / "peer").mkdir(exist_ok=True)
            for number, (record, scale) in enumerate(zip(records, levels, strict=True)):
                maps = record.array()[0]
                atlas = render.tiled(maps, max(round(len(maps) ** 0.5), 1), 1, np.float32(np.nan))
                imsave(folder / "peer" / f"{number}.png", atlas, vmin=scale[0], vmax=scale[1], cmap="magma")

        times = timed({"ours": ours, "pages": lambda: ours(Figure()), "peer": peer}, chosen.rounds)
        sizes = [sum(file.stat().st_size for file in (folder / one).iterdir()) for one in ("ours", "peer")]
    print(
        f"{len(records)} pictures; with pages {sizes[0] / 2**20:.0f} MiB, imsave {sizes[1] / 2**20:.0f} MiB"
    )
    lines = [
        row("every layer as a picture / matplotlib imsave", times["ours"], times["peer"], GOAL),
        row("every layer as a page / matplotlib imsave", times["pages"], times["peer"], 1.0),
    ]
    for line in lines:
        show(line)
    if chosen.json:
        chosen.json.write_text(json.dumps(lines, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
