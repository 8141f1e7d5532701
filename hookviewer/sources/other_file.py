"""Files that are no model by themselves: what they are, and what to do with them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from hookviewer.errors import HookViewerError
from hookviewer.sources import files
from hookviewer.sources.source import Opened, Source

_ENDINGS = {
    ".pt",
    ".pth",
    ".pt2",
    ".ckpt",
    ".bin",
    ".safetensors",
    ".onnx",
    ".h5",
    ".keras",
    ".tflite",
    ".pb",
}


class OtherFile(Source):
    """A file or folder that holds no Python: refused, with the reason."""

    rank = 90

    def accepts(self, spec: str) -> bool:
        looks = Path(spec).suffix.lower() in _ENDINGS or "/" in spec or "\\" in spec
        return bool(spec) and (looks or Path(spec).exists())

    def open(self, spec: str, options: Mapping[str, Any], trust: bool) -> Opened:
        path = files.existing(spec)
        if path.suffix.lower() in (".onnx", ".h5", ".keras", ".tflite", ".pb"):
            raise HookViewerError(
                f"{path} is not a PyTorch model: give the PyTorch class that it was made from."
            )
        if files.weights_kind(path) == "torch" and _holds_objects(path):
            raise HookViewerError(
                f"{path} holds Python objects, not only tensors, and loading it could run code from it: "
                "save the state dict alone, and name the network."
            )
        raise HookViewerError(
            f"{path} holds tensors but does not say which network they belong to: "
            f"name the network, and give the file with --weights {path}."
        )


def _holds_objects(path: Path) -> bool:
    """Whether a file of torch.save names classes that a state dict does not need; nothing is loaded."""
    try:
        return bool(torch.serialization.get_unsafe_globals_in_checkpoint(path))
    except ValueError:  # the format before torch 1.6, which cannot be looked into
        return False
