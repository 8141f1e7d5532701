"""An operation that the user has written: a Python function in a file."""

from __future__ import annotations

import dataclasses
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from hookviewer.errors import HookViewerError


@dataclasses.dataclass(frozen=True, eq=False)
class function_of:  # noqa: N801
    """Call the function `name` of a Python file: it takes the tensor and returns one of the same shape.

    The file is run once, when the operation is made; naming it is the yes to that. Raises `HookViewerError`
    where it cannot be run or has no such function.
    """

    file: str
    name: str = "edit"
    function: Callable[[torch.Tensor], torch.Tensor] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "file", str(self.file))
        object.__setattr__(self, "function", _function(Path(self.file), self.name))

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        try:
            return self.function(tensor)
        except Exception as error:
            raise HookViewerError(
                f"{self.name}() of {self.file} raised {type(error).__name__}: {error}. "
                "Correct it and run again."
            ) from error

    def __str__(self) -> str:
        return f"function_of({Path(self.file).name}, {self.name})"


def _function(file: Path, name: str) -> Callable[[torch.Tensor], torch.Tensor]:
    if not file.is_file():
        raise HookViewerError(f"There is no file {file}: choose a Python file.")
    try:
        members: dict[str, Any] = runpy.run_path(str(file))
    except Exception as error:
        raise HookViewerError(
            f"{file.name} cannot be run ({type(error).__name__}: {error}): correct it and choose it again."
        ) from error
    if not callable(members.get(name)):
        made_here = [
            key for key, value in members.items() if getattr(value, "__module__", "") == "<run_path>"
        ]
        raise HookViewerError(
            f"{file.name} has no function {name}: it has {', '.join(made_here[:8]) or 'none'}."
        )
    function: Callable[[torch.Tensor], torch.Tensor] = members[name]
    return function
