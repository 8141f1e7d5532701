"""Write resources/torchvision_states.json: how torchvision's state dicts are recognised.

    python packaging/make_architectures.py

Run it again when torchvision has new networks. It builds every one of them once, which takes a minute.
"""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torchvision import models

from hookviewer.sources.architectures import row
from hookviewer.sources.torchvision_models import spec_of

TABLE = Path(__file__).resolve().parent.parent / "resources" / "torchvision_states.json"


def variants(name: str) -> Iterator[dict[str, Any]]:
    """Yield the arguments under which a builder's weights are published."""
    yield {}
    if name.startswith(("deeplabv3", "fcn_")):
        yield {"aux_loss": True}


def built(name: str, arguments: dict[str, Any]) -> torch.nn.Module:
    """Build a network without weights, where it can be done without memory for them."""
    builder = models.get_model_builder(name)
    known = inspect.signature(builder).parameters
    more = {"weights_backbone": None} if "weights_backbone" in known else {}
    if name in ("googlenet", "inception_v3"):
        more["init_weights"] = False
    # regnet reads numbers out of a tensor while it is built
    with torch.device("cpu" if name.startswith("regnet") else "meta"):
        return builder(weights=None, **more, **arguments)


def rows() -> Iterator[dict[str, Any]]:
    """Yield one row for each network and each way in which its weights are published."""
    for name in models.list_models():
        if name.startswith("quantized_"):
            continue
        for arguments in variants(name):
            state = built(name, arguments).state_dict()
            shapes = {tensor: tuple(value.shape) for tensor, value in state.items()}
            yield row(spec_of(name), arguments, shapes)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    lines = ",\n".join(json.dumps(one) for one in rows())
    TABLE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
