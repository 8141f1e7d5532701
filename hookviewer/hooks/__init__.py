"""Recording what flows through a model, with hooks that live for one run and change nothing."""

from hookviewer.hooks.number import NO_TARGET
from hookviewer.hooks.run import capture

__all__ = ["NO_TARGET", "capture"]
