"""Targets as one line of text, as the command line takes it and captions write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hookviewer import targets
from hookviewer.errors import HookViewerError
from hookviewer.sources.nearby import nearby
from hookviewer.target_choice import TargetChoice

USAGE = (
    "top, sum, none, the number or name of a class, unit:LAYER:CHANNEL, unit:LAYER:0,CHANNEL,ROW,COLUMN, "
    "out['scores'][3], loss:cross_entropy:LABEL or dot:FILE"
)
FILES = (".npy", ".npz", ".pt", ".safetensors")
SHORT = {"ce": "cross_entropy", "mse": "mse_loss", "l1": "l1_loss", "bce": "binary_cross_entropy_with_logits"}
"""Losses by the names that people write."""

_LEAF = r"(?:\[[^\]]*\]|\.\w+)+"
_OF = re.compile(rf"(.*?)\s+of\s+({_LEAF})", re.DOTALL)
_UNIT = re.compile(rf"(.*?)(?:@(\d+)({_LEAF})?)?:([-\d,: ]+)", re.DOTALL)
_OUTPUT = re.compile(rf"({_LEAF})?\[([-\d,: ]+)\]")


def chosen(text: str, class_names: Sequence[str] = ()) -> TargetChoice:
    """Return the target that `text` names (see `USAGE`); it reads all that `words` writes.

    A tensor of an output of several stands behind "of": `class 8 of ['out']`. Raises `HookViewerError` with
    what can be written.
    """
    text = text.strip()
    for start, read in (("unit:", _unit), ("out", _output), ("loss:", _loss), ("dot:", _dot)):
        if text.startswith(start) and text not in class_names and (start != "out" or text[3:4] in ("[", ".")):
            return read(text.removeprefix(start), class_names)
    found = None if text in class_names else _OF.fullmatch(text)
    word, leaf = (found[1], found[2]) if found else (text, None)
    rules = {"top": "top", "top class": "top", "sum": "sum", "total": "sum", "none": "none"}
    if word in rules:
        return TargetChoice(rules[word], leaf=leaf)
    return TargetChoice("class", _class(word, class_names), leaf)


def _class(text: str, class_names: Sequence[str]) -> int:
    word = text if text in class_names else text.removeprefix("class ").strip()
    if re.fullmatch(r"-?\d{1,9}", word):
        return int(word)
    if word in class_names:
        return class_names.index(word)
    known = f" As a class, {nearby(word, class_names)}." if class_names else ""
    raise HookViewerError(f"{text[:80]!r} is no target: write {USAGE}.{known}")


def _unit(text: str, class_names: Sequence[str]) -> TargetChoice:
    found = _UNIT.fullmatch(text)
    if found is None:
        raise HookViewerError(
            f"unit:{text[:80]} names no unit: write unit:LAYER:37 or unit:LAYER:0,37,12,40."
        )
    return TargetChoice("unit", leaf=found[3], path=found[1], call=int(found[2] or 0), place=place(found[4]))


def _output(text: str, class_names: Sequence[str]) -> TargetChoice:
    found = _OUTPUT.fullmatch(text)
    if found is None:
        raise HookViewerError(f"out{text[:80]} has no index: write out{text[:80]}[3], or sum of {text[:80]}.")
    return TargetChoice("output", leaf=found[1], place=place(found[2]))


def _loss(text: str, class_names: Sequence[str]) -> TargetChoice:
    written, leaf = _without_leaf(text)
    name, _, label = written.partition(":")
    name = SHORT.get(name, name)
    if name not in targets.LOSSES or not label:
        names = ", ".join((*SHORT, *targets.LOSSES))
        raise HookViewerError(f"loss:{text[:80]} is no loss: write loss:NAME:LABEL with one of {names}.")
    if label.partition("?")[0].lower().endswith(FILES):
        return TargetChoice("loss", leaf=leaf, loss=name, file=label)
    return TargetChoice("loss", leaf=leaf, loss=name, label=labels(name, label, class_names))


def labels(loss: str, text: str, class_names: Sequence[str] = ()) -> tuple[float, ...]:
    """Return the label that is written for a loss: numbers joined by commas, or the name of a class."""
    if loss in targets.OF_CLASSES and text.strip() in class_names:
        return (class_names.index(text.strip()),)
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        known = f": {nearby(text, class_names)}" if class_names else ""
        raise HookViewerError(f"{text[:80]!r} is no label: write a class or numbers{known}.") from None
    if loss in targets.OF_CLASSES and not all(one.is_integer() for one in numbers):
        raise HookViewerError(f"The label of {loss} is a class, so {text[:80]} must be whole numbers.")
    return tuple(int(one) for one in numbers) if loss in targets.OF_CLASSES else numbers


def _dot(text: str, class_names: Sequence[str]) -> TargetChoice:
    file, leaf = _without_leaf(text)
    if not file:
        raise HookViewerError("dot: names no file: write dot:FILE with a vector in it.")
    return TargetChoice("dot", leaf=leaf, file=file)


def _without_leaf(text: str) -> tuple[str, str | None]:
    found = _OF.fullmatch(text)
    return (found[1], found[2]) if found else (text, None)


def place(text: str) -> tuple[int | None, ...]:
    """Return the index that is written: `0, 37, 12, 40`; `:` is a whole axis, which is None."""
    parts = [part.strip() for part in text.strip().strip("[]()").split(",")]
    if not all(part == ":" or re.fullmatch(r"-?\d{1,9}", part) for part in parts):
        raise HookViewerError(
            f"{text[:80]!r} is no index: write numbers joined by commas, : for a whole axis."
        )
    return tuple(None if part == ":" else int(part) for part in parts)


def words(choice: TargetChoice) -> str:
    """Return a choice as `chosen` reads it."""
    writers: dict[str, Callable[[TargetChoice], str]] = {
        "class": lambda one: f"class {one.index}",
        "unit": _unit_words,
        "output": lambda one: f"out{one.leaf or ''}[{targets.index_words(one.place)}]",
        "loss": lambda one: f"loss:{one.loss}:{one.file or _label_words(one)}",
        "dot": lambda one: f"dot:{one.file}",
    }
    writer = writers.get(choice.rule)
    written = choice.rule if writer is None else writer(choice)
    return f"{written} of {choice.leaf}" if choice.leaf and choice.rule not in ("unit", "output") else written


def _unit_words(choice: TargetChoice) -> str:
    call = f"@{choice.call}" if choice.call or choice.leaf else ""
    return f"unit:{choice.path}{call}{choice.leaf or ''}:{targets.index_words(choice.place)}"


def _label_words(choice: TargetChoice) -> str:
    return ",".join(f"{one:g}" for one in choice.label)
