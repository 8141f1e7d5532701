"""A lesson on one hook: what to open, what to set, what torch does, and the numbers that both must give."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch

from hookviewer.errors import HookViewerError
from hookviewer.kinds import Kind
from hookviewer.recording import Record, Recording
from hookviewer.target_choice import TargetChoice

PLAIN, CHANGED, BEFORE = "plain", "changed", "before"
"""Where a number of a lesson stands: in the run as it is, in the run with the lesson's change, or in that run
just before the change."""


@dataclasses.dataclass(frozen=True)
class Number:
    """A number of a lesson: `torch` is what the code calls it, the rest is where the window has it."""

    torch: str
    path: str
    kind: Kind = Kind.OUTPUT
    where: str = PLAIN
    leaf: str | None = None


@dataclasses.dataclass(frozen=True)
class Change:
    """What a hook of a lesson changes: the words of an edit, as a person chooses them in its form.

    `channels` are those that are changed, all of them where there are none.
    """

    path: str
    operation: str
    kind: Kind = Kind.OUTPUT
    numbers: tuple[float, ...] = ()
    channels: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Lesson:
    """One hook to try.

    `call` is its name in torch, `look` says what to look at. Opening it opens `model` with `given` and ticks
    `ticks`; trying it ticks `hooked`, selects it, shows `shown` of it (a word of the window's kinds) and
    makes the `changes`. `kinds` are recorded beside outputs and their gradients. `code` does the same in
    torch.
    """

    name: str
    title: str
    call: str
    model: str
    given: str
    look: str
    hooked: str
    code: str
    numbers: tuple[Number, ...]
    ticks: tuple[str, ...] = ()
    target: TargetChoice = dataclasses.field(default_factory=lambda: TargetChoice("sum"))
    shown: str = "output"
    changes: tuple[Change, ...] = ()
    kinds: frozenset[Kind] = frozenset()

    @property
    def takes_time(self) -> bool:
        """Whether its code opens a whole network."""
        return "open_model" in self.code


@dataclasses.dataclass(frozen=True)
class Evaluated:
    """What the code of a lesson has printed, and its numbers by the names that it has for them."""

    printed: str
    values: Mapping[str, torch.Tensor]


def evaluated(lesson: Lesson) -> Evaluated:
    """Run the code of a lesson, which is part of this program, and return what it gives."""
    lines: list[str] = []

    def show(*values: Any) -> None:
        lines.append(" ".join(map(str, values)))

    names: dict[str, Any] = {"print": show}
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        exec(compile(lesson.code, f"<{lesson.name}>", "exec"), names)
        values = {one.torch: eval(one.torch, names) for one in lesson.numbers}
    return Evaluated("\n".join(lines), {name: value.detach().clone() for name, value in values.items()})


def found(number: Number, plain: Recording | None, changed: Recording | None) -> torch.Tensor:
    """Return a number as the runs have it; raise `HookViewerError` with the reason where they have none."""
    recording = plain if number.where == PLAIN else changed
    if recording is None:
        raise HookViewerError("Not run yet.")
    record = _record(number, recording)
    if number.where == BEFORE:
        if record.before_edit is None:
            raise HookViewerError("Nothing was changed here.")
        record = record.before_edit
    return record.tensor()


def _record(number: Number, recording: Recording) -> Record:
    if number.kind is Kind.ATTRIBUTION:
        from hookviewer import methods

        return methods.attribution(recording, number.leaf or "grad_cam", number.path)
    leaves = recording.leaves(number.path, number.kind, 0)
    if not leaves:
        try:
            return recording.record(number.path, number.kind)
        except KeyError as error:
            raise HookViewerError(str(error.args[0])) from None
    key = next(key for key in recording if key[:3] == (number.path, number.kind, 0))
    return recording[key if number.leaf is None else key._replace(leaf=number.leaf)]


def equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two numbers are the same, but for the rounding of a sum in another order."""
    if one.numel() != other.numel():
        return False
    pair = (one.double().flatten(), other.double().flatten())
    return bool(torch.allclose(*pair, rtol=1e-4, atol=1e-6))
