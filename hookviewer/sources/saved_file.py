"""Models in files that are no Python: programs, whole modules, and files that hold only weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookviewer.errors import HookViewerError
from hookviewer.sources import exported, files, states, whole_module
from hookviewer.sources.architectures import recognised
from hookviewer.sources.decisions import WeightsOnly
from hookviewer.sources.source import Opened, Source, split_arguments
from hookviewer.sources.wording import counted, shown

_FOREIGN = (".onnx", ".h5", ".keras", ".tflite", ".pb", ".mlmodel", ".engine")
_ENDINGS = (".pt", ".pth", ".pt2", ".ckpt", ".bin", ".safetensors", ".tar", ".pkl", ".pickle", *_FOREIGN)


class SavedFile(Source):
    """A file that holds no Python: `program.pt2`, `module.pt?code=net.py`, or mere weights."""

    rank = 90

    def accepts(self, spec: str) -> bool:
        place = spec.partition("?")[0]
        looks = place.lower().endswith(_ENDINGS) or "/" in spec or "\\" in spec
        return bool(spec) and (looks or _exists(spec))

    def open(self, spec: str, options: Mapping[str, Any], trust: bool) -> Opened:
        place, arguments = (spec, {}) if _exists(spec) else split_arguments(spec)
        arguments |= options
        path = files.existing(place)
        if path.suffix.lower() in _FOREIGN:
            raise HookViewerError(
                f"{shown(path, 300)} is not a PyTorch model: give the PyTorch class that it was made from."
            )
        if path.name.endswith(".index.json") or files.usable_kind(path) == "safetensors":
            raise weights_only(states.read(path, data=False))
        if files.usable_kind(path) == "exported":
            return exported.opened(path, arguments, trust)
        return _module(path, arguments, trust)


def _exists(spec: str) -> bool:
    try:
        return Path(spec).exists()
    except (OSError, ValueError):
        return False


def _module(path: Path, arguments: Mapping[str, Any], trust: bool) -> Opened:
    loaded = whole_module.load(path, arguments, trust)
    opened = whole_module.opened(path, loaded)
    if opened is not None:
        return opened
    state = states.from_content(path, loaded.content, loaded.sha256)
    if state is None:
        raise HookViewerError(
            f"{shown(path, 300)} holds no network and no state dict: save one with torch.save(model, …)."
        )
    raise weights_only(state)


def weights_only(state: states.State) -> WeightsOnly:
    """Return the error that says what a file of weights holds, and which network it looks like."""
    shapes = state.shapes()
    numbers = sum(value.numel() for value in state.values.values() if hasattr(value, "numel"))
    looks = recognised(_without_prefix(shapes))
    message = (
        f"{shown(state.path, 300)} holds weights and no network ({counted(len(shapes), 'tensor')}, "
        f"{counted(numbers, 'number')}): {_advice(state.path, tuple(one.spec for one in looks))}."
    )
    return WeightsOnly(message, path=state.path, tensors=len(shapes), numbers=numbers, architectures=looks)


def _without_prefix(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    from hookviewer.sources.match import strippings

    for names in strippings({name: name for name in shapes}):
        found = {names[name]: shape for name, shape in shapes.items()}
        if recognised(found):
            return found
    return dict(shapes)


def _advice(path: Path, specs: tuple[str, ...]) -> str:
    weights = f"--weights {shown(path, 300)}"
    if not specs:
        return f"name the network they belong to, and give the file with {weights}"
    others = f" (or {' or '.join(specs[1:3])})" if specs[1:] else ""
    quoted = f"'{specs[0]}'" if "?" in specs[0] else specs[0]
    return f"they look like {quoted}{others}; open that with them: hookviewer {quoted} {weights}"
