"""An edit as a person chooses it, and the edit of a run that is made of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from hookviewer import edits
from hookviewer.edits import Edit, Operation
from hookviewer.errors import HookViewerError
from hookviewer.gui import edit_words
from hookviewer.gui.edit_places import Region
from hookviewer.kinds import GRADIENTS, Kind
from hookviewer.recording import Recording

OF_VALUES = ("zero", "scale", "add", "clamp", "constant", "mean", "patch", "noise", "function")
"""What can be done with values."""
OF_GRADIENTS = ("zero", "scale", "reverse", "clip", "clip_norm")
"""What can be done with gradients."""
RECORDED = ("mean", "patch")
"""What takes its values from other runs."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Edits", text)


@dataclasses.dataclass(frozen=True)
class EditChoice:
    """Which tensor is changed, where in it, and how.

    `numbers` are those that the operation needs, None where one is left open. `channels` and `region` are the
    wall's, `index` is what they are in the tensor. `of` are the numbers of the inputs that values are taken
    from and `names` what they are called; `file` and `function` name a function of the user.
    """

    path: str
    operation: str = "zero"
    kind: Kind = Kind.OUTPUT
    numbers: tuple[float | None, ...] = ()
    call: int | None = None
    leaf: str | None = None
    channels: tuple[int, ...] = ()
    region: Region | None = None
    index: Any = None
    of: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    file: str = ""
    function: str = "edit"

    @property
    def recorded(self) -> bool:
        """Whether it takes its values from other runs."""
        return self.operation in RECORDED

    @property
    def words(self) -> str:
        """The edit as one line; nothing is run for it."""
        where = edit_words.place_words(self.path, self.kind, self.call, self.leaf, self.index)
        return self._said().format(where)

    def _said(self) -> str:
        if self.operation == "function":
            return edit_words.function_words(self.file, self.function)
        if self.operation == "mean":
            return edit_words.mean_words(self.names)
        if self.operation == "patch":
            return edit_words.patch_words(", ".join(self.names))
        return edit_words.operation_words(plain_operation(self.operation, self.numbers))

    def edit(self, recordings: Sequence[Recording] = ()) -> Edit:
        """Return the edit; `recordings` are those of the inputs `of`, in their order.

        Raises `HookViewerError` where it cannot be made: a file without the function, a number that lacks.
        """
        made, index = self._made(recordings), self.index
        return Edit(self.path, made, kind=self.kind, call=self.call, leaf=self.leaf, index=index)

    def _made(self, recordings: Sequence[Recording]) -> Operation:
        if self.operation == "function":
            return edits.function_of(self.file, self.function)
        if self.operation == "mean":
            return edits.mean_of(*recordings, names=self.names)
        if self.operation == "patch":
            return edits.same_as(recordings[0], self.names[0])
        return plain_operation(self.operation, self.numbers)


def plain_operation(name: str, given: Sequence[float | None]) -> Operation:
    """Return an operation that needs numbers only; raise `HookViewerError` where one lacks."""
    if name == "zero":
        return edits.zero()
    if name == "reverse":
        return edits.reverse()
    if name == "clamp":
        return _clamp(*_padded(given, 2))
    if name == "noise":
        deviation, seed = _padded(given, 2)
        return edits.noise(deviation, int(seed or 0))
    value = _needed(_padded(given, 1)[0])
    if name == "scale":
        return edits.scale(value)
    if name == "add":
        return edits.add(value)
    if name == "constant":
        return edits.replace(value)
    if name == "clip":
        return edits.clip(_positive(value))
    assert name == "clip_norm", name
    return edits.clip_norm(_positive(value))


def _padded(given: Sequence[float | None], count: int) -> list[float | None]:
    return [*given, *[None] * count][:count]


def _clamp(low: float | None, high: float | None) -> Operation:
    if low is None and high is None:
        raise HookViewerError(_tr("Write the least or the greatest value that is allowed, or both."))
    if low is not None and high is not None and low > high:
        raise HookViewerError(_tr("The least value is greater than the greatest: turn them around."))
    return edits.clamp(low, high)


def _needed(value: float | None) -> float:
    if value is None:
        raise HookViewerError(_tr("Write a number."))
    return value


def _positive(value: float) -> float:
    if value < 0:
        raise HookViewerError(_tr("A limit is no negative number."))
    return value


def operations_for(kind: Kind) -> tuple[str, ...]:
    """Return what can be done with tensors of a kind."""
    return OF_GRADIENTS if kind in GRADIENTS else OF_VALUES
