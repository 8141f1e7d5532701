"""Loading a file of weights into a model: strictly, or as far as the person allowed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.modules import unwrapped
from hookviewer.sources import states
from hookviewer.sources.calling import told
from hookviewer.sources.decisions import WeightsMismatch
from hookviewer.sources.match import ALLOWED, Match, match
from hookviewer.sources.nearby import nearby
from hookviewer.sources.wording import counted, shown, some

__all__ = ["ALLOWED", "LoadedWeights", "Match", "load_weights", "match"]


class LoadedWeights(NamedTuple):
    """Where weights came from, the hash of the file, and sentences on what was loaded."""

    path: Path
    sha256: str
    notes: tuple[str, ...]


def load_weights(
    model: nn.Module, file: str | Path, *, allow: Collection[str] = (), trust: bool = False
) -> LoadedWeights:
    """Load a file of weights into `model`.

    `allow`, or `?allow=…` behind the file's name, says what may differ: words of `ALLOWED`. Everything else
    raises `WeightsMismatch`, and then nothing was loaded. Raises `HookViewerError` when the file is no file
    of weights.
    """
    allow = (*allow, *states.named(file).allow)
    for word in allow:
        if word not in ALLOWED:
            raise HookViewerError(f"{word!r} cannot be allowed: {nearby(word, ALLOWED)}.")
    state = states.read(file, trust=trust)
    found = match(model, state.values)
    if found.trouble(allow) or not found.fitting:
        raise WeightsMismatch(_mismatch(state.path, found), path=state.path, match=found)
    _load(unwrapped(model)[0], state, found)
    return LoadedWeights(state.path, state.sha256, _notes(state, found))


def _mismatch(path: Path, found: Match) -> str:
    start = f"{shown(path, 300)} does not fit this model: {found.described()}. "
    if not found.fitting:
        return f"{start}Nothing in it fits: name the network it was saved from."
    rest = f"{shown(path, 300)}?allow={','.join(found.trouble())}"
    return f"{start}Name the network it was saved from, or load the rest with --weights '{rest}'."


def _load(inner: nn.Module, state: states.State, found: Match) -> None:
    fitting = set(found.fitting)
    names = {old: found.renamed.get(old, old) for old in state.values}
    chosen = OrderedDict((names[old], one) for old, one in state.values.items() if names[old] in fitting)
    if not found.renamed and hasattr(state.values, "_metadata"):
        chosen._metadata = state.values._metadata  # type: ignore[attr-defined]
    try:
        left = inner.load_state_dict(chosen, strict=False).missing_keys
    except (RuntimeError, TypeError, AttributeError, ValueError) as error:
        raise HookViewerError(
            f"{shown(state.path, 300)} cannot be loaded: {shown(told(error), 300)}"
        ) from error
    expected = {*found.missing, *(entry.name for entry in found.mismatched)}
    assert {name for name in left if not name.endswith("num_batches_tracked")} <= expected


def _notes(state: states.State, found: Match) -> tuple[str, ...]:
    place = f" ({shown(state.key)} in it)" if state.key else ""
    notes = [f"Its weights come from {shown(state.path, 300)}{place}."]
    if state.others:
        notes.append(f"That file also holds {some(state.others)}: choose with ?key=NAME.")
    if not found.exact:
        kept = len(found.missing) + len(found.mismatched)
        was = "was" if len(found.fitting) == 1 else "were"
        notes.append(
            f"Warning: {counted(len(found.fitting), 'tensor')} {was} loaded, {kept} of the model's kept "
            f"their initial values, because {found.described()}."
        )
    return (*notes, *_casts(state.values))


def _casts(values: Mapping[str, Any]) -> tuple[str, ...]:
    halves = {
        str(one.dtype).removeprefix("torch.")
        for one in values.values()
        if isinstance(one, torch.Tensor) and one.dtype in (torch.float16, torch.bfloat16)
    }
    return (f"They are stored as {some(sorted(halves))}.",) if halves else ()
