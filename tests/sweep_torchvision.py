"""Hold every torchvision classifier against plain torch: python tests/sweep_torchvision.py [name…]."""

from __future__ import annotations

import sys
import time

import torch
import torchvision
from test_truth_torchvision import problems
from truth_nets import never_zero, state_of

LARGE = ("vit_h_14", "regnet_y_128gf", "vit_l_16", "vit_l_32")
SIZES = {"vit": 224, "maxvit": 224, "inception": 96, "alexnet": 96}


def check(name: str) -> bool:
    """Print the verdict on one classifier and return whether it is a good one."""
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    size = next((size for start, size in SIZES.items() if name.startswith(start)), 64)
    torch.manual_seed(0)
    model, began = never_zero(torchvision.models.get_model(name, **options)).train(), time.perf_counter()
    picture = torch.randn(1, 3, size, size)
    before = state_of(model)
    found = problems(model, picture)
    found += [] if state_of(model) == before else ["the state of the model changed"]
    print(
        f"{name}: {'ok' if not found else f'{len(found)} wrong'} ({time.perf_counter() - began:.1f} s)",
        flush=True,
    )
    print(*(f"    {line}" for line in found[:10]), sep="\n" if found else "")
    return not found


def main() -> int:
    """Check the classifiers named on the command line, or all but the largest; exit 1 when one is wrong."""
    torch.set_num_threads(1)
    names = sys.argv[1:] or [n for n in torchvision.models.list_models(torchvision.models) if n not in LARGE]
    return int(not all([check(name) for name in names]))


if __name__ == "__main__":
    sys.exit(main())
