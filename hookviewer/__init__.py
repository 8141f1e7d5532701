"""Look inside PyTorch models: every feature map and every gradient, as it really was.

The public names are loaded on first use, so that `import hookviewer` is instant and never loads Qt.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from hookviewer.differences import cka, compare, first_divergence
    from hookviewer.edits import (
        Edit,
        add,
        clamp,
        clip,
        clip_norm,
        describe,
        edit_of,
        function_of,
        mean_of,
        noise,
        replace,
        reverse,
        same_as,
        scale,
        script_of,
        zero,
    )
    from hookviewer.errors import Cancelled, HookViewerError, ModelError
    from hookviewer.formats import load, save
    from hookviewer.gui.app import view
    from hookviewer.hooks import capture
    from hookviewer.inputs import Input, open_input
    from hookviewer.kinds import Key, Kind
    from hookviewer.methods import attribute
    from hookviewer.modules import ModuleNode, module_tree
    from hookviewer.plan import HookPlan
    from hookviewer.recording import Record, Recording, statistics
    from hookviewer.sources import ModelCard, card, open_model
    from hookviewer.strongest import top_inputs
    from hookviewer.targets import class_score, dot, loss, top_class, total, unit

_HOME = {
    "Cancelled": "errors",
    "Edit": "edits",
    "HookPlan": "plan",
    "HookViewerError": "errors",
    "Input": "inputs",
    "Key": "kinds",
    "Kind": "kinds",
    "ModelCard": "sources",
    "ModelError": "errors",
    "ModuleNode": "modules",
    "Record": "recording",
    "Recording": "recording",
    "add": "edits",
    "attribute": "methods",
    "capture": "hooks",
    "card": "sources",
    "cka": "differences",
    "clamp": "edits",
    "class_score": "targets",
    "clip": "edits",
    "clip_norm": "edits",
    "compare": "differences",
    "describe": "edits",
    "dot": "targets",
    "edit_of": "edits",
    "first_divergence": "differences",
    "function_of": "edits",
    "load": "formats",
    "loss": "targets",
    "mean_of": "edits",
    "module_tree": "modules",
    "noise": "edits",
    "open_input": "inputs",
    "open_model": "sources",
    "replace": "edits",
    "reverse": "edits",
    "same_as": "edits",
    "save": "formats",
    "scale": "edits",
    "script_of": "edits",
    "statistics": "recording",
    "top_class": "targets",
    "top_inputs": "strongest",
    "total": "targets",
    "unit": "targets",
    "view": "gui.app",
    "zero": "edits",
}

__all__ = [
    "Cancelled",
    "Edit",
    "HookPlan",
    "HookViewerError",
    "Input",
    "Key",
    "Kind",
    "ModelCard",
    "ModelError",
    "ModuleNode",
    "Record",
    "Recording",
    "__version__",
    "add",
    "attribute",
    "capture",
    "card",
    "cka",
    "clamp",
    "class_score",
    "clip",
    "clip_norm",
    "compare",
    "describe",
    "dot",
    "edit_of",
    "first_divergence",
    "function_of",
    "load",
    "loss",
    "mean_of",
    "module_tree",
    "noise",
    "open_input",
    "open_model",
    "replace",
    "reverse",
    "same_as",
    "save",
    "scale",
    "script_of",
    "statistics",
    "top_class",
    "top_inputs",
    "total",
    "unit",
    "view",
    "zero",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hookviewer' has no attribute {name!r}")
    return getattr(importlib.import_module(f"hookviewer.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
