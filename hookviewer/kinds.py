"""What a recorded tensor is, and its identity in a recording."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a recorded tensor is (torch's words)."""

    INPUT = "input"
    OUTPUT = "output"
    GRAD_INPUT = "grad_input"
    """Gradient with respect to the input, through this module only."""
    GRAD_INPUT_TOTAL = "grad_input_total"
    """Gradient with respect to the same input tensor, through all its uses."""
    GRAD_OUTPUT = "grad_output"
    PARAM = "param"
    PARAM_GRAD = "param_grad"
    ATTRIBUTION = "attribution"

    @property
    def needs_target(self) -> bool:
        """Whether a tensor of this kind exists only after a backward pass."""
        return self in GRADIENTS


GRADIENTS = frozenset({Kind.GRAD_INPUT, Kind.GRAD_INPUT_TOTAL, Kind.GRAD_OUTPUT, Kind.PARAM_GRAD})


class Key(NamedTuple):
    """Identity of one recorded tensor.

    `path` is the module's canonical path (`""` is the model), `call` its n-th call in the run, numbered when
    the call starts, `leaf` the place in a nested value: `""`, `[0]`, `['logits']`, `.data`, `['aux'][0]`.
    """

    path: str
    kind: Kind
    call: int = 0
    leaf: str = ""


_FUNCTIONAL = re.compile(r"(?P<module>.*):(?P<op>\w+)#(?P<number>\d+)", re.DOTALL)


class Functional(NamedTuple):
    """What the path of a functional call says: `layer1.0:add#0` is the first `add` that `layer1.0` runs."""

    module: str
    op: str
    number: int

    @classmethod
    def of(cls, path: str) -> Functional | None:
        """Return the parts of `path`, `None` where it is the path of a module."""
        match = _FUNCTIONAL.fullmatch(path)
        return None if match is None else cls(match["module"], match["op"], int(match["number"]))

    @property
    def path(self) -> str:
        """The path that this was made of."""
        return f"{self.module}:{self.op}#{self.number}"
