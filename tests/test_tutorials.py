"""The lines of torch in the lessons are true: what they print are the numbers that a capture has."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
import torch

import hookviewer as hv
from hookviewer.gui.edit_choice import EditChoice
from hookviewer.kinds import Kind
from hookviewer.tutorials import LESSONS, PLAIN, Lesson, Number, equal, evaluated, found

EXPECTED: dict[str, dict[str, Any]] = {
    "read_gradient": {
        "y": [[2.0, 3.0], [4.0, 5.0]],
        "seen[0]": [[1.0, 1.5], [2.0, 2.5]],
        "x.grad": [[1.0, 1.5], [2.0, 2.5]],
        "out": 13.5,
    },
    "change_gradient": {"seen[0]": [2.0], "x.grad": [4.0], "w.grad": [7.0], "y": [6.0]},
    "order": {"seen[0]": [5.0], "w.grad": [12.0], "x.grad": [2.0]},
    "retain_grad": {"seen[0]": [2.0], "a.grad": [4.0], "x.grad": [4.0]},
    "forward_pre": {"seen[0]": [[13.0, -28.0, 51.0, -62.0]], "out": [[1662.0]], "model(x)": [[882.0]]},
    "forward_read": {
        "seen[fc1]": [[7.0, -13.0, 27.0, -29.0]],
        "seen[relu1]": [[7.0, 0.0, 27.0, 0.0]],
        "seen[fc2]": [[89.0]],
    },
    "forward_change": {"out": [[72.0]], "model(x)": [[882.0]]},
    "full_backward": {
        "seen[fc2][1]": [[1.0]],
        "seen[relu1][1]": [[10.0, 20.0, 30.0, 40.0]],
        "seen[relu1][0]": [[10.0, 0.0, 30.0, 0.0]],
        "seen[fc1][1]": [[10.0, 0.0, 30.0, 0.0]],
        "seen[fc1][0]": [[220.0, 260.0, 300.0]],
    },
    "removal": {"hooked": [[2.0]], "after": [[882.0]]},
    "in_place": {"copied[0]": [[7.0, -13.0, 27.0, -29.0]], "kept[0]": [[7.0, 0.0, 27.0, 0.0]]},
}


def captured(lesson: Lesson, *, changed: bool) -> hv.Recording:
    model = hv.open_model(lesson.model)
    given = hv.open_input(lesson.given, model)
    kinds = {Kind.OUTPUT, Kind.GRAD_OUTPUT, *lesson.kinds}
    plan = hv.HookPlan(frozenset((*lesson.ticks, lesson.hooked)), frozenset(kinds))
    edits = [
        EditChoice(one.path, one.operation, one.kind, one.numbers, index=list(one.channels) or None).edit()
        for one in (lesson.changes if changed else ())
    ]
    return hv.capture(model, given.args, plan, target=lesson.target.target(), edits=edits)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_the_code_of_a_lesson_gives_the_numbers_of_a_capture(lesson: Lesson) -> None:
    given = evaluated(lesson)
    plain = captured(lesson, changed=False)
    changed = captured(lesson, changed=True) if lesson.changes else None
    for one in lesson.numbers:
        here = found(one, plain, changed)
        assert equal(here, given.values[one.torch]), one
    for name, expected in EXPECTED.get(lesson.name, {}).items():
        assert given.values[name].tolist() == expected
    assert set(EXPECTED.get(lesson.name, given.values)) == set(given.values)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda one: one.name)
def test_all_that_is_printed_is_a_number_of_the_lesson(lesson: Lesson) -> None:
    given = evaluated(lesson)
    printed = re.findall(r"^print\((.*)\)$", lesson.code, re.MULTILINE)
    assert printed
    values = [*given.values.values(), *(one.max() for one in given.values.values())]
    shapes = [str(tuple(one.shape)) for one in given.values.values()]
    text = [
        re.sub(r"(, grad_fn=<\w+>|, requires_grad=True)", "", line) for line in given.printed.splitlines()
    ]
    told = {str(one) for one in values} | {f"torch.Size([{one[1:-1]}])" for one in shapes}
    pieces = re.findall(r"tensor\(.*?\)(?= tensor|\n\S|$)|torch\.Size\(.*?\)", "\n".join(text), re.DOTALL)
    assert len(pieces) >= len(printed)
    assert set(pieces) <= told


def test_a_number_that_was_not_recorded_says_why() -> None:
    lesson = LESSONS[0]
    with pytest.raises(hv.HookViewerError, match="Not run yet"):
        found(lesson.numbers[0], None, None)
    recording = captured(dataclasses.replace(lesson, ticks=()), changed=False)
    with pytest.raises(hv.HookViewerError, match="was not"):
        found(Number("x", "x", Kind.GRAD_OUTPUT, PLAIN), recording, None)


def test_the_code_leaves_the_random_numbers_of_others_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    evaluated(LESSONS[4])
    assert torch.equal(torch.rand(3), expected)
