"""What do attribution methods cost beside captum, and beside pytorch-grad-cam where it is installed?

Ours and its peers run in turns (A B A B …) in one process with one torch thread, on ResNet-50 without trained
weights; before anything is measured, their maps are compared. Grad-CAM: eight layers, ours in one run, the
peers one layer after the other. Integrated gradients (50 steps) and occlusion: batches of ten for both.

    python benchmarks/attribution.py [--rounds 7] [--size 96] [--json FILE]

Grad-CAM is of pictures of 224 × 224, the others of --size; the maps that are compared first are of 64 × 64.
Exits 1 when captum did not run, never because a goal is short. A ratio is ours / peer: 0.2 is five times as
fast. Integrated gradients come with their completeness error from both. Occlusion is the same runs of the
model for both; ours can be stopped within a layer of each and puts the model back after it, for which its
goal leaves a tenth. Seconds are those of the processor, so that other programs do not count. All of it takes
less than three minutes on a quiet machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from hookviewer import memory

memory.keep_freed_memory()

import torch  # noqa: E402
import torchvision  # noqa: E402
from torch import nn  # noqa: E402
from turns import row, show, timed  # noqa: E402

import hookviewer as hv  # noqa: E402
from hookviewer.methods.integrated_gradients import IntegratedGradients  # noqa: E402
from hookviewer.methods.occlusion import Occlusion  # noqa: E402

LAYERS = ["layer1.1", "layer1.2", "layer2.1", "layer2.3", "layer3.2", "layer3.5", "layer4.1", "layer4.2"]
CLASS, STEPS, BATCH = 3, 50, 10
TARGET = hv.class_score(CLASS)
Task = Callable[[], list[torch.Tensor]]


def maps(recording: hv.Recording) -> list[torch.Tensor]:
    return [record.tensor() for record in recording.values()]


def grad_cam(model: nn.Module, x: torch.Tensor) -> dict[str, Task]:
    from captum.attr import LayerGradCam

    layers = [model.get_submodule(path) for path in LAYERS]

    def captum() -> list[torch.Tensor]:
        return [
            LayerGradCam(model, layer).attribute(x, CLASS, relu_attributions=True).detach()
            for layer in layers
        ]

    tasks: dict[str, Task] = {
        "ours": lambda: maps(hv.attribute(model, x, "grad_cam", LAYERS, target=TARGET)),
        "captum": captum,
    }
    if pytorch_grad_cam_is_there():
        tasks["pytorch-grad-cam"] = lambda: pytorch_grad_cam(model, x, layers)
    return tasks


def pytorch_grad_cam_is_there() -> bool:
    """Return whether it can be imported: it needs OpenCV and more beside itself."""
    try:
        import pytorch_grad_cam  # noqa: F401
    except ImportError:
        return False
    return True


def pytorch_grad_cam(model: nn.Module, x: torch.Tensor, layers: list[nn.Module]) -> list[torch.Tensor]:
    from pytorch_grad_cam import GradCAM
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    found = []
    for layer in layers:
        with GradCAM(model=model, target_layers=[layer]) as method:
            found.append(torch.from_numpy(method(input_tensor=x, targets=[ClassifierOutputTarget(CLASS)])))
    return found


def integrated_gradients(model: nn.Module, x: torch.Tensor) -> dict[str, Task]:
    from captum.attr import IntegratedGradients as Captum

    def captum() -> list[torch.Tensor]:
        found, _ = Captum(model).attribute(
            x, target=CLASS, n_steps=STEPS, internal_batch_size=BATCH, return_convergence_delta=True
        )
        return [found.sum(1, keepdim=True).detach()]

    ours = IntegratedGradients(steps=STEPS, most=STEPS)
    return {"ours": lambda: maps(hv.attribute(model, x, ours, target=TARGET, batch=BATCH)), "captum": captum}


def occlusion(model: nn.Module, x: torch.Tensor) -> dict[str, Task]:
    from captum.attr import Occlusion as Captum

    window, stride = x.shape[-1] // 4, x.shape[-1] // 8

    def captum() -> list[torch.Tensor]:
        found = Captum(model).attribute(
            x, (3, window, window), (3, stride, stride), 0, CLASS, perturbations_per_eval=BATCH
        )
        return [found[:, :1].float()]

    ours = Occlusion(window=window, stride=stride)
    return {"ours": lambda: maps(hv.attribute(model, x, ours, target=TARGET, batch=BATCH)), "captum": captum}


def check(name: str, tasks: dict[str, Task]) -> None:
    """Stop where ours and captum's are not the same maps: then there is nothing to compare."""
    for one, other in zip(tasks["ours"](), tasks["captum"](), strict=True):
        largest = float(other.abs().max())
        if float((one - other).abs().max()) > 1e-3 * largest:
            raise SystemExit(f"{name}: ours and captum's maps differ")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not importlib.util.find_spec("captum"):
        print("captum is not installed: pip install captum", file=sys.stderr)
        return 1
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torchvision.models.resnet50(weights=None).eval()
    large, small = (torch.randn(1, 3, size, size) for size in (224, options.size))
    rows: list[dict[str, object]] = []
    print(f"torch {torch.__version__}, one thread, {options.rounds} rounds")
    tiny = torch.randn(1, 3, 64, 64)
    for name, goal, tasks_for, x in (
        ("Grad-CAM of eight layers", 0.2, grad_cam, large),
        (f"integrated gradients, {STEPS} steps", 1.0, integrated_gradients, small),
        ("occlusion", 1.1, occlusion, small),
    ):
        check(name, tasks_for(model, tiny))
        times = timed(tasks_for(model, x), options.rounds, time.process_time)
        for peer in [one for one in times if one != "ours"]:
            rows.append(row(f"resnet50: {name} / {peer}", times["ours"], times[peer], goal))
            show(rows[-1])
    if not pytorch_grad_cam_is_there():
        print("pytorch-grad-cam is not installed: not run")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
