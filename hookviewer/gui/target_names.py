"""A target in the words of the window, and the value that it has on a run. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from PySide6.QtCore import QCoreApplication

from hookviewer import targets
from hookviewer.errors import HookViewerError
from hookviewer.hooks import NO_TARGET
from hookviewer.kinds import Key, Kind
from hookviewer.leaves import leaves
from hookviewer.recording import Recording
from hookviewer.target_choice import TargetChoice, steps_of

LOSS_NAMES = {
    "cross_entropy": "Cross entropy",
    "nll_loss": "Negative log-likelihood",
    "mse_loss": "Mean squared error",
    "l1_loss": "Mean absolute error",
    "smooth_l1_loss": "Smooth absolute error",
    "binary_cross_entropy": "Binary cross entropy",
    "binary_cross_entropy_with_logits": "Binary cross entropy of logits",
}


def class_name(index: int, names: Sequence[str]) -> str:
    """Return a class's name, or its number where the model says none."""
    return names[index] if 0 <= index < len(names) else _tr("class {}").format(index)


def short(choice: TargetChoice, names: Sequence[str]) -> str:
    """Return a choice as an entry of a list."""
    said = _SHORT[choice.rule](choice, names)
    return f"{said} {_tr('of')} {choice.leaf}" if choice.leaf and choice.rule in _OF_A_LEAF else said


_OF_A_LEAF = ("class", "top", "loss", "dot")


def _unit(choice: TargetChoice, names: Sequence[str]) -> str:
    call = _tr(" call {}").format(choice.call + 1) if choice.call else ""
    where = f"{choice.path or _tr('the model')}{call}{choice.leaf or ''}"
    if len(choice.place) == 1:
        return f"{where} {_tr('channel {}').format(choice.place[0])}"
    return f"{where}[{targets.index_words(choice.place)}]"


def _label(choice: TargetChoice, names: Sequence[str]) -> str:
    if choice.file:
        return Path(choice.file).name
    if choice.loss in targets.OF_CLASSES:
        return ", ".join(class_name(int(one), names) for one in choice.label)
    return ", ".join(f"{one:g}" for one in choice.label)


_SHORT: dict[str, Callable[[TargetChoice, Sequence[str]], str]] = {
    "top": lambda choice, names: _tr("Top class"),
    "sum": lambda choice, names: _tr("Sum of {}").format(choice.leaf or _tr("the output")),
    "class": lambda choice, names: class_name(choice.index, names),
    "unit": _unit,
    "output": lambda choice, names: f"out{choice.leaf or ''}[{targets.index_words(choice.place)}]",
    "loss": lambda choice, names: f"{_tr(LOSS_NAMES[choice.loss])}, {_label(choice, names)}",
    "dot": lambda choice, names: _tr("Vector {}").format(Path(choice.file).name),
    "none": lambda choice, names: _tr("No gradients"),
}


def sentence(choice: TargetChoice, names: Sequence[str]) -> str:
    """Return what a choice makes gradients start from, as a sentence."""
    if choice.rule == "none":
        return _tr("No gradient is computed: a run is a forward pass only.")
    what = _SENTENCES[choice.rule](choice, names)
    leaf = f" {_tr('of')} {choice.leaf}" if choice.leaf and choice.rule in _OF_A_LEAF else ""
    return _tr("The gradient starts from {}{}.").format(what, leaf)


def _unit_sentence(choice: TargetChoice, names: Sequence[str]) -> str:
    where = f"{choice.path or _tr('the model')}{choice.leaf or ''}"
    whole = None in choice.place or len(choice.place) == 1
    place = targets.index_words(choice.place)
    if len(choice.place) == 1:
        return _tr("channel {} of {}, summed").format(place, where)
    return (_tr("[{}] of {}, summed") if whole else _tr("the one cell [{}] of {}")).format(place, where)


def _class_sentence(choice: TargetChoice, names: Sequence[str]) -> str:
    named = f", {names[choice.index]}" if 0 <= choice.index < len(names) else ""
    return _tr("the score of class {}{}").format(choice.index, named)


_SENTENCES: dict[str, Callable[[TargetChoice, Sequence[str]], str]] = {
    "top": lambda choice, names: _tr("the highest score, each sample's own"),
    "sum": lambda choice, names: _tr("the sum of {}").format(choice.leaf or _tr("the output")),
    "class": _class_sentence,
    "unit": _unit_sentence,
    "output": lambda choice, names: _SHORT["output"](choice, names),
    "loss": lambda choice, names: _tr("the loss {} against {}").format(
        _tr(LOSS_NAMES[choice.loss]).lower(), _label(choice, names)
    ),
    "dot": lambda choice, names: _tr("the output weighted by {}").format(Path(choice.file).name),
}


def in_force(choice: TargetChoice, output: Any) -> TargetChoice:
    """Return what a choice comes to: where an answer is made better step by step, the sum of the last one."""
    steps = steps_of(output)
    return TargetChoice("sum", leaf=steps[-1]) if steps and choice == TargetChoice() else choice


def no_target(recording: Recording) -> str:
    """Return why a run had no target although one was wanted, or nothing."""
    return next((note for note in recording.notes if note.startswith(NO_TARGET)), "")


def value_on(choice: TargetChoice, recording: Recording) -> float:
    """Return the value of a target on a run; raise `HookViewerError` where it cannot be told."""
    target = choice.target()
    if target is None:
        raise HookViewerError(_tr("Nothing is computed."))
    value = _unit_value(target, recording) if isinstance(target, targets.unit) else target(recording.output)
    if value.numel() != 1:
        raise HookViewerError(_tr("That is {} numbers, not one.").format(value.numel()))
    return float(value.detach())


def _unit_value(unit: targets.unit, recording: Recording) -> torch.Tensor:
    path = recording.aliases.get(unit.path, unit.path)
    key = Key(path, Kind.OUTPUT, unit.call, unit.leaf)
    if key not in recording:
        raise HookViewerError(_tr("Its value is known after a run."))
    return targets.unit("", unit.index)(recording[key].tensor())


def float_leaves(output: Any) -> list[tuple[str, torch.Tensor]]:
    """Return the tensors of an output that a gradient can start from."""
    return [(leaf, one) for leaf, one in leaves(output) if one.is_floating_point() and one.numel()]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Target", text)
