"""One pass over many inputs that keeps only the strongest and weakest of every channel."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch import nn

from hookviewer.kinds import Key
from hookviewer.strongest.topk import TopK

Progress = Callable[[int, int], object]


@dataclasses.dataclass(frozen=True, eq=False)
class TopInputs:
    """What excites the channels of some layers most and least, over a list of inputs.

    `layers` holds a `TopK` by key; its places name inputs by their number in `inputs` (specs, or names).
    `seen` is how many were run, `complete` false where the pass was stopped, `failed` says by number why an
    input could not be used, `absent` why a layer has none.
    """

    layers: Mapping[Key, TopK]
    inputs: tuple[str, ...]
    seen: int = 0
    complete: bool = True
    failed: Mapping[int, str] = dataclasses.field(default_factory=dict)
    absent: Mapping[Key, str] = dataclasses.field(default_factory=dict)


def top_inputs(
    model: nn.Module,
    inputs: str | Iterable[Any],
    layers: Iterable[str],
    *,
    k: int = 9,
    readings: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    **options: Any,
) -> TopInputs:
    """Return, for each channel of `layers`, the inputs and places that excite it most and least.

    `inputs` is a folder, or a list of what `open_input` takes; each is opened, run and forgotten, so that the
    memory is that of one run and of k places per channel. `layers` are patterns as in `HookPlan.of`,
    `readings` says by path what the axes mean. `progress` is called with (done, all) after each input. Where
    `cancelled` says so, what was found until then is returned. `options` are those of `capture`.
    """
    raise NotImplementedError
