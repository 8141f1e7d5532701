"""Operations that take their values from other runs: activation patching, the mean over inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from hookviewer.edits.edit import Operation
from hookviewer.edits.operations import replace
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key

if TYPE_CHECKING:
    from hookviewer.recording import Recording

NO_PLACE = "An edit from a recording is made in a run only: pass it to capture(edits=[…])."


@dataclasses.dataclass(frozen=True, eq=False)
class same_as:  # noqa: N801
    """Put the same tensor of another run in its place: same path, kind, call and leaf (activation patching).

    `name` is the input's name, for the words. Raises `HookViewerError` in the run where the other one has no
    such tensor, or one of another shape.
    """

    recording: Recording
    name: str = ""

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        raise HookViewerError(NO_PLACE)

    def at(self, key: Key) -> Operation:
        """Return the operation for one tensor."""
        return replace(_recorded(self.recording, key, self.name))

    def __str__(self) -> str:
        return f"same_as({self.name or 'another run'})"


@dataclasses.dataclass(frozen=True, eq=False, init=False)
class mean_of:  # noqa: N801
    """Put the mean of the same tensor of several runs in its place, element by element.

    `names` are the inputs' names, for the words: `mean_of(a, b, names=("cat", "dog"))`.
    """

    recordings: tuple[Recording, ...]
    names: tuple[str, ...]

    def __init__(self, *recordings: Recording, names: tuple[str, ...] = ()) -> None:
        if not recordings:
            raise HookViewerError("mean_of() needs at least one recording.")
        object.__setattr__(self, "recordings", recordings)
        object.__setattr__(self, "names", tuple(names))

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        raise HookViewerError(NO_PLACE)

    def at(self, key: Key) -> Operation:
        """Return the operation for one tensor."""
        names = self.names or ("",) * len(self.recordings)
        found = [_recorded(one, key, name) for one, name in zip(self.recordings, names, strict=True)]
        if len({tuple(tensor.shape) for tensor in found}) > 1:
            shapes = ", ".join(str(list(tensor.shape)) for tensor in found)
            raise HookViewerError(
                f"The tensors of {key.path or 'the model'} have different shapes ({shapes}): "
                "a mean needs inputs of one size."
            )
        return replace(torch.stack([tensor.double() for tensor in found]).mean(0))

    def __str__(self) -> str:
        return f"mean_of({', '.join(self.names) or f'{len(self.recordings)} runs'})"


def _recorded(recording: Mapping[Key, object], key: Key, name: str) -> torch.Tensor:
    try:
        tensor: torch.Tensor = recording[key].tensor()  # type: ignore[attr-defined]
    except KeyError as missing:
        raise HookViewerError(
            f"The run of {name or 'the other input'} has no {key.kind} of {key.path or 'the model'} "
            f"{key.leaf}call {key.call}: {missing.args[0]} Record it there first."
        ) from None
    return tensor
