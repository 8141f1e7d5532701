"""Attribution methods: where the evidence for a target lies, in a layer or the input. One class a file."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from torch import nn

from hookviewer.errors import HookViewerError
from hookviewer.methods.attributing import OnAnswer, answered, question
from hookviewer.methods.method import LayerMethod, Method, Needs
from hookviewer.methods.places import HintsOf, hints_of
from hookviewer.methods.question import Question
from hookviewer.methods.randomised import Likeness, Randomised, randomisation_check
from hookviewer.methods.recorded import from_records
from hookviewer.methods.together import answers_together
from hookviewer.methods.trust import Curve, trust_curves
from hookviewer.recording import Record, Recording
from hookviewer.registry import classes_in
from hookviewer.targets import Target

__all__ = [
    "Curve",
    "LayerMethod",
    "Likeness",
    "Method",
    "Needs",
    "Question",
    "Randomised",
    "answered",
    "answers_together",
    "attribute",
    "attribution",
    "find_method",
    "methods",
    "question",
    "randomisation_check",
    "trust_curves",
]


def methods() -> tuple[Method, ...]:
    """Return one of each attribution method."""
    found = classes_in(sys.modules[__name__], Method)  # type: ignore[type-abstract]
    return tuple(method() for method in found)


def find_method(name: str) -> Method:
    """Return the method of that name; raise `HookViewerError` with the names there are."""
    known = {method.name: method for method in methods()}
    if name not in known:
        raise HookViewerError(f"There is no method {name!r}: choose one of {', '.join(known)}.")
    return known[name]


def attribute(
    model: nn.Module,
    input: Any,
    method: str | Method | Sequence[str | Method],
    paths: Iterable[str] = (),
    *,
    target: Target | None = None,
    on_answer: OnAnswer | None = None,
    **options: Any,
) -> Recording:
    """Return the attributions of `target` by one method or several, for an `Input` or a tensor.

    `paths` are the layers, as paths or patterns of `HookPlan.of`; methods for the input do not need them.
    The records have `Kind.ATTRIBUTION`, the method's name as leaf and the shape [N, 1, H, W]: one for every
    call of every layer, or one of the input under the path `""`. What a method does not suit is in `absent`
    with the reason. Methods that need no more than outputs and gradients share one run. `options` are the
    fields of `Question`: mode, seed, device, batch, on_progress, cancelled. A `Cancelled` carries all that
    was done until then in its `recording`; `on_answer` gets each record, or reason, as soon as it is there.
    """
    named = [method] if isinstance(method, str | Method) else list(method)
    chosen = [find_method(one) if isinstance(one, str) else one for one in named]
    return answered(question(model, input, paths, target=target, **options), chosen, on_answer)


def attribution(
    recording: Recording, method: str, path: str, call: int = 0, *, hints_for: HintsOf | None = None
) -> Record:
    """Return the attribution of one call of a layer, computed from outputs and gradients already recorded.

    `hints_for` tells what is known of the axes of a layer's output, by its path; of itself the run does.

    Raises `HookViewerError` with the reason where the method does not suit the layer, a tensor is missing,
    or the method needs runs of its own.
    """
    chosen = find_method(method)
    if not isinstance(chosen, LayerMethod):
        raise HookViewerError(f"{chosen.title} needs runs of its own: run it with attribute().")
    return from_records(recording, chosen, path, call, hints_for or hints_of(recording))
