"""The arguments that a model's `forward` takes."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from torch import nn

from hookviewer.modules import unwrapped

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_POSITIONAL: "more positional",
    inspect.Parameter.VAR_KEYWORD: "more keyword",
}


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of `forward`: `kind` is a word of `KINDS`, `annotation` its type as it is written.

    `default` means something only where the argument is not `required`.
    """

    name: str
    kind: str = "positional"
    annotation: str = ""
    default: Any = None
    required: bool = True

    @property
    def variable(self) -> bool:
        """Whether it stands for any number of arguments."""
        return self.kind.startswith("more")


def signature(model: nn.Module) -> tuple[Argument, ...]:
    """Return the arguments of `model.forward` in their order; empty when nothing tells them."""
    try:
        found = inspect.signature(unwrapped(model)[0].forward)
    except (TypeError, ValueError):
        return ()
    return tuple(_argument(one) for one in found.parameters.values())


def _argument(parameter: inspect.Parameter) -> Argument:
    empty = parameter.default is parameter.empty
    variable = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return Argument(
        parameter.name,
        KINDS[parameter.kind],
        _written(parameter.annotation),
        None if empty else parameter.default,
        empty and not variable,
    )


def _written(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def required_arguments(model: nn.Module) -> list[str]:
    """Return the names of the positional arguments that `model.forward` cannot do without."""
    return [
        one.name for one in signature(model) if one.required and one.kind in ("positional", "positional only")
    ]
