"""Running a model once for its attention."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from hookviewer.arrays import Hints
from hookviewer.arrays.roles import grid
from hookviewer.attention.attention import Attention, Attentions
from hookviewer.attention.watcher import Seen, Watcher, watched
from hookviewer.attention.windows import Windows
from hookviewer.edits import Edit
from hookviewer.errors import Cancelled
from hookviewer.hooks import capture
from hookviewer.kinds import Key, Kind
from hookviewer.leaves import input_leaves
from hookviewer.modules import ModuleIndex, module_index, unwrapped
from hookviewer.plan import HookPlan
from hookviewer.recording import Record, Recording
from hookviewer.snapshot import Budget, snapshot

LEAF = "attention"
LARGEST = 32 << 20
"""Bytes of attention in windows that are put back in place; a larger one stays in its windows."""


def capture_attention(
    model: nn.Module,
    args: Any,
    paths: Iterable[str] = ("*",),
    *,
    kwargs: Mapping[str, Any] | None = None,
    edits: Sequence[Edit] = (),
    mode: str = "eval",
    seed: int | None = 0,
    device: str | torch.device | None = None,
    budget: int = 2 << 30,
    on_module: Callable[[str], object] | None = None,
    on_attention: Callable[[Attention], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Attentions:
    """Run `model` once and return the attention of every layer that matches `paths`.

    The records lie under the path of the module that computes the attention, with `Kind.ATTRIBUTION`, the
    leaf `attention` (`attention[1]` for a second one in the same call) and the shape [N, heads, queries,
    keys]. Each is rebuilt from what the layer was given and compared with what the layer itself made; the
    largest difference is in the record's notes. The model's output does not change. What looks like attention
    and was not seen is absent with a reason. `on_attention` gets each as soon as it is there; a `Cancelled`
    carries the records until then in its `recording`.
    """
    inner, _ = unwrapped(model)
    index = module_index(inner)
    wanted = HookPlan.of(inner, *((paths,) if isinstance(paths, str) else paths)).paths
    pictures = _pictures(args if isinstance(args, tuple) else (args,), dict(kwargs or {}))
    room = Budget(budget)
    found: dict[Key, Attention] = {}

    def saw(seen: Seen) -> None:
        if seen.path in wanted:
            one = _attention(seen, room, pictures)
            found[one.record.key] = one
            if on_attention is not None:
                on_attention(one)

    try:
        with watched(index, Watcher(saw)):
            recording = capture(
                inner,
                args,
                HookPlan(),
                kwargs=kwargs,
                edits=edits,
                mode=mode,
                seed=seed,
                device=device,
                on_module=on_module,
                cancelled=cancelled,
            )
    except Cancelled as stop:
        stop.recording = dataclasses.replace(
            stop.recording or Recording({}), records={key: one.record for key, one in found.items()}
        )
        raise
    records = {key: one.record for key, one in found.items()}
    absent = _absent(index, wanted, found)
    return Attentions(dataclasses.replace(recording, records=records, absent=absent), found)


def _attention(seen: Seen, room: Budget, pictures: Sequence[torch.Size]) -> Attention:
    leaf = f"{LEAF}[{seen.number}]" if seen.number else LEAF
    key = Key(seen.path, Kind.ATTRIBUTION, seen.call, leaf)
    weights = seen.weights
    windows = seen.windows
    notes = [f"Rebuilt: weights × values differ from what the layer made by {seen.deviation:.1g} at most."]
    if windows is not None:
        weights, words = _windowed(weights, windows)
        notes.append(words)
        where: tuple[int, int, int] | None = (0, windows.rows, windows.columns)
    else:
        where, said = _grid(weights, pictures)
        notes += said
    record: Record = snapshot(key, weights, room)
    record = dataclasses.replace(record, notes=(*record.notes, *notes))
    return Attention(record, seen.deviation, where, windows)


def _grid(
    weights: torch.Tensor, pictures: Sequence[torch.Size]
) -> tuple[tuple[int, int, int] | None, list[str]]:
    """Return the grid of the keys, None where they are no places of a picture that went in, and why not."""
    if not pictures:
        return None, []
    samples = {picture[0] for picture in pictures}
    if len(weights) not in samples:
        given = " or ".join(map(str, sorted(samples)))
        return None, [
            f"{len(weights)} rows of attention for an input of {given}: groups of its tokens, whose places "
            "in the picture are not known."
        ]
    return grid(weights.shape[-1], Hints(pictures=tuple((one[-2], one[-1]) for one in pictures))), []


def _windowed(weights: torch.Tensor, windows: Windows) -> tuple[torch.Tensor, str]:
    split = weights.reshape(-1, len(windows.places), *weights.shape[1:])
    size = len(split) * split.shape[2] * (windows.rows * windows.columns) ** 2 * weights.element_size()
    tokens = f"{len(windows.places)} windows of {windows.places.shape[1]} tokens"
    if size > LARGEST:
        return split, f"In {tokens}: put back in place it would take {size / 1e6:.0f} MB."
    return windows.put_back(split), f"Put back in place from {tokens}; zero outside of a token's window."


def _absent(index: ModuleIndex, wanted: frozenset[str], found: Mapping[Key, Attention]) -> dict[Key, str]:
    """Return a reason for each module that is called attention and in which none was seen."""
    seen = {key.path for key in found}
    return {
        Key(path, Kind.ATTRIBUTION, 0, LEAF): (
            f"No attention was seen in {path}: it was not called, or computes it in a way that is not known."
        )
        for path, module in index.modules.items()
        if path in wanted
        and "attention" in type(module).__name__.lower()
        and not any(other == path or other.startswith(f"{path}.") for other in seen)
    }


def _pictures(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Size]:
    """Return the sizes [N, C, H, W] of the pictures that go in."""
    tensors = [tensor for _, tensor in input_leaves(args, kwargs)]
    return [tensor.shape for tensor in tensors if tensor.dim() == 4 and tensor.is_floating_point()]
