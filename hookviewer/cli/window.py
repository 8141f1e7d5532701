"""`hookviewer` and `hookviewer shot`: the window."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any


def open_window(chosen: argparse.Namespace) -> int:
    """Open the window; without a screen, write what it would show as pictures and print where they are."""
    options = {"weights": chosen.weights, "inputs": chosen.inputs, "trust": chosen.trust}
    if has_screen():
        return _opened(chosen.model, options)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    _same_weights()
    from hookviewer.gui import app

    print("There is no screen: what the window would show is written as pictures.", flush=True)
    for path in app.main_offscreen(model=chosen.model, **options):
        print(path)
    return 0


def _opened(model: str | None, options: dict[str, Any]) -> int:
    """Show a picture at once, then load all the rest and open the window in its place."""
    from hookviewer.gui import starting

    picture = starting.started()
    starting.load("torch")
    from hookviewer.gui import app

    _same_weights()
    return int(app.main(model=model, **options, before=picture))


def _same_weights() -> None:
    """Make a network without weights the same one at every start."""
    import torch

    torch.manual_seed(0)


def take_shot(chosen: argparse.Namespace) -> int:
    """Write a picture of the window, once it has run the model and painted the result."""
    if not has_screen():
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from hookviewer.gui import app

    _same_weights()
    app.shot(
        chosen.model,
        chosen.inputs,
        chosen.layers,
        chosen.size,
        chosen.theme,
        chosen.out,
        weights=chosen.weights,
        trust=chosen.trust,
    )
    print(chosen.out)
    return 0


def has_screen() -> bool:
    """Whether a window can be shown: Linux needs a display, and `QT_QPA_PLATFORM=offscreen` means none."""
    if os.environ.get("QT_QPA_PLATFORM") in ("offscreen", "minimal"):
        return False
    if not sys.platform.startswith(("linux", "freebsd")):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
