"""Which target was chosen, as plain values: the window, the command line and a saved session hold it so."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from hookviewer import targets
from hookviewer.errors import HookViewerError
from hookviewer.inputs import open_input
from hookviewer.leaves import leaves
from hookviewer.targets import Target

RULES = ("top", "class", "sum", "unit", "output", "loss", "dot", "none")
FIRST_CHOICES = ("scores", "logits", "out")
"""Names of the tensors of an output that a target is taken of, where one has such a name."""
STEP_AXES = 4
"""So many axes has each of several tensors that are taken for one answer, made better step by step."""


@dataclasses.dataclass(frozen=True)
class TargetChoice:
    """A target: `rule` is a word of `RULES`, the other fields say what that rule needs.

    `class` has its `index`. `unit` has `path`, `call` and `place`: a lone number is a channel, summed;
    several are an index into the tensor. `top` is the highest score; where no leaf was chosen, of an answer
    in steps (see `steps_of`) the sum of the last one, and no target where neither can be had. `output` has
    the index `place` into a tensor of the output. In a place None is a whole axis, which is summed. `loss`
    has its name `loss` (see `targets.LOSSES`) and a `label` or a `file` of it; `dot` has a `file` with the
    vector. `none` runs no backward pass. `leaf` is the output's (for a unit the module's) tensor; None is
    the one that `float_leaf` finds.
    """

    rule: str = "top"
    index: int = 0
    leaf: str | None = None
    path: str = ""
    call: int = 0
    place: tuple[int | None, ...] = ()
    loss: str = ""
    label: tuple[float, ...] = ()
    file: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", tuple(self.place))  # lists, where it was read from a file
        object.__setattr__(self, "label", tuple(self.label))

    def for_any_model(self) -> TargetChoice:
        """Return the choice that another model can follow: a class, layer or leaf says nothing there."""
        return self if self.leaf is None and self.rule in ("top", "sum", "none") else TargetChoice()

    def target(self) -> Target | None:
        """Return the target for `capture`, or None when no gradient is wanted."""
        if self.rule == "none":
            return None
        if self.rule == "unit":
            place = self.place[0] if len(self.place) == 1 else targets.as_index(self.place)
            return targets.unit(self.path, 0 if place is None else place, self.call, self.leaf or "")
        return _Chosen(self)


@dataclasses.dataclass(frozen=True)
class _Chosen(targets.Deferred):
    """The choice as a function of the output, which alone knows its leaves."""

    choice: TargetChoice

    @property
    def gives_way(self) -> bool:  # type: ignore[override]  # what nobody has chosen is nobody's mistake
        return self.choice == TargetChoice()

    def resolved(self, output: Any) -> Target:
        leaf = float_leaf(output) if self.choice.leaf is None else self.choice.leaf
        return targets.total(leaf) if self.gives_way and steps_of(output) else self._at(leaf)

    def __str__(self) -> str:
        return str(self._at(self.choice.leaf or ""))

    def _at(self, leaf: str) -> Target:
        choice = self.choice
        match choice.rule:
            case "class":
                return targets.class_score(choice.index, leaf)
            case "output":
                return targets.element(choice.place, leaf)
            case "loss":
                return targets.loss(choice.loss, _label(choice), leaf)
            case "dot":
                return targets.dot(_tensor(choice.file), leaf)
            case "sum":
                return targets.total(leaf)
            case "top":
                return targets.top_class(leaf)
        raise HookViewerError(f"There is no target {choice.rule!r}: choose one of {', '.join(RULES)}.")


def float_leaf(output: Any) -> str:
    """Return the leaf that a target is taken of when none was chosen, `""` when there is none.

    It is the first tensor of floating point numbers called as in `FIRST_CHOICES`, of steps the last one, or
    else the first at all.
    """
    steps = steps_of(output)
    if steps:
        return steps[-1]
    floats = [leaf for leaf, tensor in leaves(output) if tensor.is_floating_point()]
    named = [leaf for leaf in floats for name in FIRST_CHOICES if leaf.endswith((f"[{name!r}]", f".{name}"))]
    return (named or floats or [""])[0]


def steps_of(output: Any) -> tuple[str, ...]:
    """Return the leaves of an answer that was made better step by step; nothing where it is none.

    That is a plain list or tuple of two or more maps of one shape, such as the flows of an optical flow
    network.
    """
    if type(output) not in (list, tuple) or len(output) < 2:
        return ()
    if not all(isinstance(one, torch.Tensor) and one.is_floating_point() for one in output):
        return ()
    shapes = {tuple(one.shape) for one in output}
    whole = len(shapes) == 1 and all(len(shape) == STEP_AXES for shape in shapes)
    return tuple(f"[{place}]" for place in range(len(output))) if whole else ()


def _label(choice: TargetChoice) -> Any:
    if choice.file:
        return _tensor(choice.file)
    classes = choice.loss in targets.OF_CLASSES
    label: list[Any] = [int(one) if classes else one for one in choice.label]
    return label[0] if len(label) == 1 else torch.tensor(label)


def _tensor(file: str) -> torch.Tensor:
    found = open_input(file).args[0] if file else None
    if not isinstance(found, torch.Tensor):
        raise HookViewerError("Choose a file with one tensor in it: .npy, .npz?entry=x, .pt or .safetensors.")
    return found
