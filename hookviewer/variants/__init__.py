"""Variants of an open model: another checkpoint, model or dtype, mixed precision, device, mode or seed."""

from hookviewer.variants.change import Change
from hookviewer.variants.checkpoints import Checkpoint, checkpoints
from hookviewer.variants.made import Made, made

__all__ = ["Change", "Checkpoint", "Made", "checkpoints", "made"]
