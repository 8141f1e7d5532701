"""The devices that torch finds on this machine."""

from __future__ import annotations

import torch


def devices() -> list[str]:
    """Return `cpu`, every `cuda:N` and `mps`, as far as they are there."""
    found = ["cpu"]
    if torch.cuda.is_available():
        found += [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        found.append("mps")
    return found


def words(device: str) -> str:
    """Return a device in words: its name where torch knows one."""
    if device.startswith("cuda"):
        return f"{device}, {torch.cuda.get_device_name(device)}"
    return {"cpu": "cpu", "mps": "mps, Apple GPU"}.get(device, device)
