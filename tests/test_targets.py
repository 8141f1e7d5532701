from __future__ import annotations

from typing import Any

import pytest
import torch
from models import Chain
from torch.nn import functional

import hookviewer as hv
from hookviewer import HookViewerError
from hookviewer.targets import described

SCORES = torch.tensor([[1.0, 5.0, 2.0], [4.0, 0.0, 3.0]])
MAPS = torch.arange(12.0).reshape(1, 3, 2, 2)


@pytest.mark.parametrize(
    ("target", "output", "expected"),
    [
        (hv.class_score(1), SCORES, 5.0),
        (hv.class_score(-1), SCORES, 5.0),
        (hv.class_score(1), SCORES[0], 5.0),
        (hv.class_score(1), MAPS, 4.0 + 5 + 6 + 7),
        (hv.class_score(0, "['aux'][0]"), {"aux": [SCORES]}, 5.0),
        (hv.class_score(2), {"logits": SCORES, "ids": torch.ones(2, dtype=torch.long)}, 5.0),
        (hv.top_class(), SCORES, 9.0),
        (hv.top_class(), SCORES[0], 5.0),
        (hv.top_class(), MAPS, 8.0 + 9 + 10 + 11),
        (hv.total(), SCORES, 15.0),
        (hv.total(), torch.tensor(3.0), 3.0),
        (hv.dot(torch.tensor([1, 0, 2])), SCORES, 1 + 4 + 4 + 6.0),
        (hv.loss("mse_loss", 1.0), SCORES, (0 + 16 + 1 + 9 + 1 + 4) / 6),
    ],
)
def test_a_target_is_this_number(target: Any, output: Any, expected: float) -> None:
    assert float(target(output)) == pytest.approx(expected)


def test_the_cross_entropy_is_torchs() -> None:
    expected = functional.cross_entropy(SCORES, torch.tensor([2, 2]))
    assert float(hv.loss("cross_entropy", 2)(SCORES)) == pytest.approx(float(expected))
    assert float(hv.loss("cross_entropy", [2, 2])(SCORES)) == pytest.approx(float(expected))
    assert float(hv.loss("cross_entropy", 2)(SCORES[0])) == pytest.approx(
        float(functional.cross_entropy(SCORES[0], torch.tensor(2)))
    )


def test_the_top_class_says_which_it_was() -> None:
    assert described(hv.top_class(), SCORES) == "top class (1, 0)"
    assert described(hv.class_score(3), SCORES) == "class 3"
    assert described(None, SCORES) == ""


@pytest.mark.parametrize(
    ("target", "output"),
    [
        (hv.class_score(3), SCORES),
        (hv.class_score(0), torch.tensor(1.0)),
        (hv.total(), {"a": SCORES, "b": SCORES}),
        (hv.total("['c']"), {"a": SCORES}),
        (hv.dot(torch.ones(7)), SCORES),
    ],
)
def test_a_target_that_does_not_fit_says_what_to_choose(target: Any, output: Any) -> None:
    with pytest.raises(HookViewerError, match=r"choose|use total|give it"):
        target(output)


def test_a_loss_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(HookViewerError, match="cross_entropy"):
        hv.loss("hinge", 1)


def test_a_unit_is_taken_before_it_is_overwritten() -> None:
    net = Chain()
    plan = hv.HookPlan.of(net, "*", kinds={hv.Kind.GRAD_OUTPUT, hv.Kind.GRAD_INPUT})
    recording = hv.capture(net, torch.tensor([[1.0]]), plan, target=hv.unit("first", 1))
    assert recording.target_value == -1.0
    assert recording.record("first", hv.Kind.GRAD_OUTPUT).array().tolist() == [[0.0, 1.0]]
    assert recording.record("", hv.Kind.GRAD_INPUT).array().tolist() == [[-1.0]]
    assert "after the target, unit:first:1" in recording.absent[hv.Key("last", hv.Kind.GRAD_OUTPUT)]
