"""The inputs that a command works on."""

from __future__ import annotations

import argparse

from torch import nn

from hookviewer.inputs import Input, open_input, spread
from hookviewer.sources import recipe_inputs


def given_inputs(chosen: argparse.Namespace, model: nn.Module) -> list[Input]:
    """Return the inputs named on the command line, or else those that the model's recipe returned."""
    return [open_input(spec, model) for spec in spread(chosen.inputs) or recipe_inputs(model)]
