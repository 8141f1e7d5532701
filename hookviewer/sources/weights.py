"""Loading a file of weights into a model, strictly and without running code from the file."""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.modules import unwrapped
from hookviewer.sources import files
from hookviewer.sources.calling import told

PREFIXES = ("module.", "_orig_mod.")
"""What DataParallel and torch.compile put before every name."""

INSIDE = ("state_dict", "model_state_dict", "model", "net", "weights")
"""Where training scripts keep the state dict in a larger checkpoint."""


def load_weights(model: nn.Module, file: str | Path) -> Path:
    """Load a .safetensors file, or a .pt file with a state dict, into `model`; return the path.

    Raises `HookViewerError` when the file is no such file, or when its names or shapes are not the model's.
    """
    path = files.existing(file)
    state = _stripped(_read(path))
    inner = unwrapped(model)[0]
    _check(state, inner.state_dict(), path)
    inner.load_state_dict(state)
    return path


def _read(path: Path) -> dict[str, torch.Tensor]:
    if files.weights_kind(path) == "safetensors":
        return _read_safetensors(path)
    loaded = _read_torch(path)
    for name in INSIDE:
        if isinstance(loaded, Mapping) and isinstance(loaded.get(name), Mapping):
            loaded = loaded[name]
            break
    if not isinstance(loaded, Mapping) or not all(
        isinstance(value, torch.Tensor) for value in loaded.values()
    ):
        raise HookViewerError(f"{path} holds no state dict: save one with torch.save(model.state_dict(), …).")
    return dict(loaded)


def _read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except SafetensorError as error:
        raise HookViewerError(f"{path} is a damaged safetensors file ({error}): download it again.") from None


def _read_torch(path: Path) -> Any:
    version = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
    if version < (2, 10):
        raise HookViewerError(
            f"torch {torch.__version__} can be made to run code by a .pt file (CVE-2026-24747): "
            "update to torch 2.10, or give a .safetensors file."
        )
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise HookViewerError(
            f"{path} holds Python objects, not only tensors, and loading it could run code from it: "
            "save the state dict alone, with torch.save(model.state_dict(), …) or as .safetensors."
        ) from None
    except Exception as error:  # what a damaged file makes of torch.load is nowhere stated
        raise HookViewerError(f"{path} is damaged or cut off ({told(error)}): save it again.") from error


def _stripped(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the state without the prefixes that wrappers put before every name."""
    for prefix in PREFIXES:
        if state and all(name.startswith(prefix) for name in state):
            return _stripped({name.removeprefix(prefix): value for name, value in state.items()})
    return state


def _check(state: Mapping[str, torch.Tensor], own: Mapping[str, torch.Tensor], path: Path) -> None:
    missing = [name for name in own if name not in state]
    unexpected = [name for name in state if name not in own]
    shapes = [
        f"{name} is {_size(state[name])} in the file and {_size(own[name])} in the model"
        for name in own
        if name in state and _size(state[name]) != _size(own[name])
    ]
    trouble = [f"the file lacks {_some(missing)}"] * bool(missing)
    trouble += [f"the model has no {_some(unexpected)}"] * bool(unexpected)
    trouble += [_some(shapes)] * bool(shapes)
    if trouble:
        raise HookViewerError(
            f"{path} does not fit this model: {'; '.join(trouble)}. Name the network it was saved from."
        )


def _size(tensor: torch.Tensor) -> str:
    if nn.parameter.is_lazy(tensor):
        return "of a size that the first input decides"
    return "×".join(str(size) for size in tensor.shape) or "a single number"


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
