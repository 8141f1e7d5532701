"""One pass over many inputs that keeps only the strongest and weakest of every channel."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from torch import nn

from hookviewer.errors import Cancelled, HookViewerError
from hookviewer.hooks import capture
from hookviewer.inputs import Input, in_folder, open_input
from hookviewer.kinds import Key, Kind
from hookviewer.plan import HookPlan
from hookviewer.recording import Recording
from hookviewer.strongest.topk import TopK


@dataclasses.dataclass(frozen=True, eq=False)
class TopInputs:
    """What excites the channels of some layers most and least, over a list of inputs.

    `layers` holds a `TopK` by key; its places name inputs by their number in `inputs` (specs, or names).
    `seen` is how many were looked at so far, `complete` whether it is all of them (the pass was not stopped);
    `failed` says by number why an input could not be used, `absent` why a layer has none.
    """

    layers: Mapping[Key, TopK]
    inputs: tuple[str, ...]
    seen: int = 0
    failed: Mapping[int, str] = dataclasses.field(default_factory=dict)
    absent: Mapping[Key, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("layers", "failed", "absent"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def complete(self) -> bool:
        """Whether all inputs were looked at."""
        return self.seen == len(self.inputs)

    def added(self, recording: Recording, number: int, start: TopK, readings: Mapping[str, str]) -> TopInputs:
        """Return the result with the recorded outputs of one more input."""
        layers, absent = dict(self.layers), {**self.absent, **recording.absent}
        for key, record in recording.items():
            if key.kind is not Kind.OUTPUT:
                continue
            before = layers.get(key) or dataclasses.replace(start, reading=readings.get(key.path, ""))
            try:
                layers[key] = before.added(record, number)
            except HookViewerError as error:
                absent[key] = f"{self.inputs[number]}: {error}"
        absent = {key: why for key, why in absent.items() if key not in self.layers or key in recording}
        return dataclasses.replace(self, layers=layers, seen=number + 1, absent=absent)


def top_inputs(
    model: nn.Module,
    inputs: str | os.PathLike[str] | Iterable[Any],
    layers: str | Iterable[str],
    *,
    k: int = 9,
    readings: Mapping[str, str] | None = None,
    progress: Callable[[TopInputs], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
    **options: Any,
) -> TopInputs:
    """Return, for each channel of `layers`, the inputs and places that excite it most and least.

    `inputs` is a folder, or a list of what `open_input` takes; each is opened, run and forgotten, so that the
    memory is that of one run and of k places per channel. `layers` are patterns as in `HookPlan.of`,
    `readings` says by path what the axes mean. `progress` is called after each input with what is known so
    far. Where `cancelled` says so, what was found until then is returned. `options` are those of `capture`.
    Raises `HookViewerError` for no inputs, or when none of them can be used.
    """
    listed = _listed(inputs)
    plan = HookPlan.of(model, *([layers] if isinstance(layers, str) else layers))
    found = TopInputs({}, tuple(_name(one, number) for number, one in enumerate(listed)))
    start = TopK(k)
    try:
        for number, one in enumerate(listed):
            if cancelled is not None and cancelled():
                break
            found = _with(found, number, start, readings or {}, _Runner(model, plan, cancelled, options), one)
            if progress is not None:
                progress(found)
    except Cancelled:
        return found
    if listed and len(found.failed) == len(listed):
        raise HookViewerError(
            f"None of {len(listed)} inputs can be used. {found.inputs[0]}: {found.failed[0]}"
        )
    return found


@dataclasses.dataclass(frozen=True)
class _Runner:
    model: nn.Module
    plan: HookPlan
    cancelled: Callable[[], bool] | None
    options: Mapping[str, Any]

    def run(self, given: Input) -> Recording:
        return capture(
            self.model, given.args, self.plan, kwargs=given.kwargs, cancelled=self.cancelled, **self.options
        )


def _with(
    found: TopInputs, number: int, start: TopK, readings: Mapping[str, str], runner: _Runner, one: Any
) -> TopInputs:
    try:
        recording = runner.run(open_input(one, runner.model))
    except HookViewerError as error:
        return dataclasses.replace(found, seen=number + 1, failed={**found.failed, number: str(error)})
    return found.added(recording, number, start, readings)


def _listed(inputs: str | os.PathLike[str] | Iterable[Any]) -> Sequence[Any]:
    if isinstance(inputs, str | os.PathLike):
        folder = os.fspath(inputs)
        listed: Sequence[Any] = in_folder(folder) if Path(folder).expanduser().is_dir() else [folder]
    else:
        listed = list(inputs)
    if not listed:
        raise HookViewerError("There is no input to look at: name a folder of pictures, or a list of inputs.")
    return listed


def _name(one: Any, number: int) -> str:
    if isinstance(one, Input):
        return one.spec or one.name
    return os.fspath(one) if isinstance(one, str | os.PathLike) else f"input {number}"
