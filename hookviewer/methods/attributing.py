"""Asking methods: the runs that they share, and a recording of what they answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torch import nn

from hookviewer.errors import Cancelled, ModelError
from hookviewer.inputs import Input
from hookviewer.kinds import Key
from hookviewer.methods.method import Answer, LayerMethod, Method
from hookviewer.methods.question import Question
from hookviewer.methods.recorded import answers_from_records
from hookviewer.plan import HookPlan
from hookviewer.recording import Record, Recording
from hookviewer.targets import Target

OnAnswer = Callable[[Key, Record | str], object]


def question(
    model: nn.Module, input: Any, paths: Iterable[str], *, target: Target | None, **options: Any
) -> Question:
    """Return what a method is asked: `paths` are paths or patterns as in `HookPlan.of`."""
    patterns = (paths,) if isinstance(paths, str) else tuple(paths)
    given = input if isinstance(input, Input) else Input("input", _arguments(input))
    plan = HookPlan.of(model, *patterns)
    return Question(model, given.args, given.kwargs, target, plan, **options)


def answered(asked: Question, methods: Sequence[Method], on_answer: OnAnswer | None = None) -> Recording:
    """Return the attributions of several methods; those that need no more than records share one run.

    The rest of the recording is that of the first run, on the input as it is. `on_answer` gets each key with
    its record, or with the reason why there is none, as soon as it is there. A `Cancelled`, and a
    `ModelError` where the model raises, carries the recording of all answers until then.
    """
    runs: list[Recording] = []
    asked = dataclasses.replace(asked, on_run=lambda run: None if runs else runs.append(run))
    records: dict[Key, Record] = {}
    absent: dict[Key, str] = {}
    try:
        for key, found in _answers(asked, methods):
            if isinstance(found, Record):
                records[key] = found
            else:
                absent[key] = found
            if on_answer is not None:
                on_answer(key, found)
    except Cancelled as stop:
        stop.recording = _recording(runs, records, absent)
        raise
    except ModelError as error:
        error.recording = _recording([error.recording], records, absent)
        raise
    return _recording(runs, records, absent)


def _answers(asked: Question, methods: Sequence[Method]) -> Iterator[Answer]:
    sharing = [method for method in methods if isinstance(method, LayerMethod)]
    if sharing:
        yield from answers_from_records(sharing, asked)
    for method in methods:
        if not isinstance(method, LayerMethod):
            yield from method.answers(asked)


def _recording(runs: list[Recording], records: dict[Key, Record], absent: dict[Key, str]) -> Recording:
    base = runs[0] if runs else Recording({})
    return dataclasses.replace(base, records=records, absent=absent)


def _arguments(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
