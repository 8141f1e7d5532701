"""Hold every network of torchvision against plain torch, each in a process of its own.

    python tests/sweep_torchvision.py [NAME…] [--results FILE] [--write]

Networks that have a result for these versions are skipped unless they are named, so that a sweep that was
stopped goes on where it stopped. `--write` makes docs/torchvision.md of the results and runs nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import multiprocessing
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torchvision import models
from torchvision_oracle import Inputs, Verdict, truth, verdict
from torchvision_table import written
from truth_nets import never_zero

import hookviewer as hv
from hookviewer.inputs import guess
from hookviewer.sources.torchvision_models import spec_of

RESULTS = Path(tempfile.gettempdir()) / "hookviewer_torchvision.json"
TABLE = Path(__file__).parent.parent / "docs" / "torchvision.md"
GIGABYTE = 1 << 30
HEAVY = 30
"""Networks of more operations (10⁹ multiplications) get smaller pictures, where they take them."""

# Nothing passes the usual thresholds with random weights; the pictures are not scaled up to 800.
DETECTORS = {
    "rcnn": "box_score_thresh=0.0&min_size=256&max_size=256&box_detections_per_img=20",
    "retinanet": "score_thresh=0.0&min_size=256&max_size=256&detections_per_img=20",
    "fcos": "score_thresh=0.0&min_size=256&max_size=256&detections_per_img=20",
    "ssd": "score_thresh=0.0&detections_per_img=20",
}


def operations(name: str) -> float:
    """Return how much a network computes, in 10⁹ multiplications, as torchvision states it."""
    family = models.get_model_weights(name)
    return float(next(iter(family)).meta.get("_ops", 0.0))


def kind_of(name: str) -> str:
    """Return which kind of network it is, by the part of torchvision that it stands in."""
    part = spec_of(name).partition(":")[0].removeprefix("torchvision.models").removeprefix(".")
    return {"": "classification", "optical_flow": "optical flow"}.get(part, part)


def spec_for(name: str) -> str:
    """Return the spec that opens a network; detectors are asked for a score threshold of 0."""
    spec = spec_of(name)
    if kind_of(name) != "detection":
        return spec
    return f"{spec}?{next(options for word, options in DETECTORS.items() if word in name)}"


# ------------------------------------------------------------------ inputs


def smaller(args: Inputs) -> Inputs:
    """Return the inputs with half the height and width."""
    if isinstance(args[0], list):
        return args
    return tuple(one[..., : one.shape[-2] // 2, : one.shape[-1] // 2].contiguous() for one in args)


def two(args: Inputs) -> Inputs:
    """Return a batch of two different samples: batch normalisation in training needs them."""
    return tuple(torch.cat([one, one.flip(-1)]) for one in args)


def with_targets(args: Inputs) -> Inputs:
    """Return two pictures with what detectors want in training: boxes, classes, masks and key points."""
    pictures = [*args[0], *(picture.flip(-1) for picture in args[0])]
    targets = []
    for picture in pictures:
        height, width = picture.shape[-2:]
        boxes = torch.tensor([[0.1, 0.2, 0.6, 0.7], [0.3, 0.1, 0.9, 0.8]]) * torch.tensor([width, height] * 2)
        masks = torch.zeros(2, height, width, dtype=torch.uint8)
        masks[:, height // 4 : height // 2, width // 4 : width // 2] = 1
        points = torch.tensor([width * 0.4, height * 0.4, 1.0]).expand(2, 17, 3).clone()
        labels = torch.tensor([1, 1])
        targets.append({"boxes": boxes, "labels": labels, "masks": masks, "keypoints": points})
    return pictures, targets


def attempts(name: str, args: Inputs, mode: str) -> Iterator[tuple[Inputs, str]]:
    """Yield the inputs to try in a mode, with what is special about them."""
    heavy = operations(name) > HEAVY
    if kind_of(name) == "detection":
        yield (with_targets(args), "2 pictures with boxes") if mode == "train" else (args, "")
        return
    if heavy:
        yield (
            (two(smaller(args)), "2 of half the size")
            if mode == "train"
            else (smaller(args), "half the size")
        )
    yield (two(args), "2 pictures") if mode == "train" else (args, "")


# ------------------------------------------------------------------ one network


def check(name: str, budget: int) -> dict[str, Any]:
    """Return what is found out about one network, in eval and in train mode."""
    torch.set_num_threads(1)
    began = time.perf_counter()
    torch.manual_seed(0)
    spec = spec_for(name)
    model = never_zero(hv.open_model(spec))
    args = guess(model).args
    row: dict[str, Any] = {"name": name, "kind": kind_of(name), "spec": spec, "status": "run"}
    row["modules"] = sum(1 for _ in model.modules())
    for mode in ("eval", "train"):
        row[mode] = run(name, model.train(), args, mode, budget)
    return row | {"seconds": time.perf_counter() - began}


def run(name: str, model: nn.Module, args: Inputs, mode: str, budget: int) -> dict[str, Any]:
    """Return the verdict on one mode: on the first input that plain torch takes."""
    refusal = ""
    for given, note in attempts(name, args, mode):
        try:
            expected = truth(model, given, mode=mode)
        except (RuntimeError, ValueError, AssertionError) as error:
            if "allocate memory" in str(error):
                raise
            refusal = str(error).splitlines()[0]
            continue
        return row_of(verdict(model, given, expected, mode=mode, budget=budget), note)
    return {"refused": refusal}


def row_of(found: Verdict, note: str) -> dict[str, Any]:
    """Return a verdict as plain values."""
    notes = [*([note] if note else []), *found.notes]
    return dataclasses.asdict(found) | {"notes": notes, "wrong": found.wrong[:20], "faults": len(found.wrong)}


# ------------------------------------------------------------------ all networks


def versions() -> dict[str, str]:
    """Return the versions that a result holds for."""
    import torchvision

    return {"torch": torch.__version__, "torchvision": torchvision.__version__}


def in_a_process(name: str, limits: argparse.Namespace) -> dict[str, Any]:
    """Check one network in a process of its own, whose memory is given back."""
    about = {"name": name, "kind": kind_of(name), "spec": spec_for(name)}
    fork = multiprocessing.get_context("fork")  # this process has loaded torch already
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=answer, args=(there, name, limits.memory))
    child.start()
    there.close()
    try:
        found = here.recv() if here.poll(limits.seconds) else {"status": f"not run: over {limits.seconds} s"}
    except EOFError:  # it was killed
        found = {"status": f"not run: more than {limits.memory} GB of memory"}
    child.kill()
    child.join()
    return about | found


def answer(there: Connection, name: str, memory: int) -> None:
    """Check one network within `memory` GB and send what is found."""
    resource.setrlimit(resource.RLIMIT_DATA, (memory * GIGABYTE,) * 2)
    try:
        there.send(check(name, memory * GIGABYTE // 2))
    except Exception as error:  # whatever it is, it goes into the table
        short = isinstance(error, MemoryError) or "allocate memory" in str(error)
        status = f"not run: more than {memory} GB of memory" if short else f"failed: {error!r}"
        there.send({"status": status, "error": traceback.format_exc()[-4000:]})


def sweep(names: list[str], limits: argparse.Namespace) -> int:
    """Check the named networks, or all that have no result yet, the smallest first; 1 when one is wrong."""
    waiting = names or [name for name in models.list_models() if not is_done(known(limits.results).get(name))]
    wrong = 0
    for name in sorted(waiting, key=operations):
        if not names and is_done(known(limits.results).get(name)):  # another sweep was faster
            continue
        row = in_a_process(name, limits) | versions() | {"date": str(datetime.date.today())}
        limits.results.write_text(json.dumps(known(limits.results) | {name: row}, indent=1))
        faults = [line for mode in ("eval", "train") for line in row.get(mode, {}).get("wrong", ())]
        wrong += bool(faults) or row["status"].startswith("failed")
        told = (f"{name}: {row['status']}, {len(faults)} wrong, {row.get('seconds', 0):.0f} s", *faults[:5])
        print("\n    ".join(told), flush=True)
    return int(wrong > 0)


def known(file: Path) -> dict[str, Any]:
    """Return the results until now, by name."""
    return dict(json.loads(file.read_text())) if file.exists() else {}


def is_done(row: dict[str, Any] | None) -> bool:
    """Whether a result holds for the versions of now."""
    return row is not None and row["status"] == "run" and versions().items() <= row.items()


def main() -> int:
    """Do what the command line says."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("names", nargs="*", metavar="NAME")
    asked.add_argument("--results", type=Path, default=RESULTS, help="a JSON file that grows")
    asked.add_argument("--memory", type=int, default=12, help="GB that one network may take")
    asked.add_argument("--seconds", type=int, default=900, help="time that one network may take")
    asked.add_argument("--write", action="store_true", help="write docs/torchvision.md and end")
    chosen = asked.parse_args()
    if chosen.write:
        TABLE.write_text(written(known(chosen.results), sorted(models.list_models())))
        return 0
    warnings.simplefilter("ignore")
    return sweep(chosen.names, chosen)


if __name__ == "__main__":
    sys.exit(main())
