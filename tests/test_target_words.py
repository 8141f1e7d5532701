"""Targets as text: there and back, and what they compute, against plain indexing and torch's own losses."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import hookviewer as hv
from hookviewer import HookViewerError
from hookviewer.hooks import capture
from hookviewer.kinds import Key, Kind
from hookviewer.plan import HookPlan
from hookviewer.target_choice import TargetChoice, float_leaf, steps_of
from hookviewer.target_words import chosen, words

NAMES = ("tench", "great white shark", "7 of hearts")


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(64, 5))


IMAGE = torch.randn(1, 1, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("top", TargetChoice("top")),
        ("top class", TargetChoice("top")),
        ("total", TargetChoice("sum")),
        ("none", TargetChoice("none")),
        ("sum of ['aux'][0]", TargetChoice("sum", leaf="['aux'][0]")),
        ("285", TargetChoice("class", 285)),
        ("class 285 of .logits", TargetChoice("class", 285, leaf=".logits")),
        ("great white shark", TargetChoice("class", 1)),
        ("7 of hearts", TargetChoice("class", 2)),
        ("unit:features.4:37", TargetChoice("unit", path="features.4", place=(37,))),
        ("unit::0,3", TargetChoice("unit", place=(0, 3))),
        ("unit:a.b:add#0:0,1,:,2", TargetChoice("unit", path="a.b:add#0", place=(0, 1, None, 2))),
        ("unit:lstm@1[0]:0,4,2", TargetChoice("unit", leaf="[0]", path="lstm", call=1, place=(0, 4, 2))),
        ("out[0,281]", TargetChoice("output", place=(0, 281))),
        ("out[0]['scores'][3]", TargetChoice("output", leaf="[0]['scores']", place=(3,))),
        ("loss:ce:tench", TargetChoice("loss", loss="cross_entropy", label=(0,))),
        ("loss:mse:0.5", TargetChoice("loss", loss="mse_loss", label=(0.5,))),
        ("loss:mse:label.npy", TargetChoice("loss", loss="mse_loss", file="label.npy")),
        ("dot:v.npy of [1]", TargetChoice("dot", leaf="[1]", file="v.npy")),
    ],
)
def test_what_is_written_is_read_and_written_again(text: str, choice: TargetChoice) -> None:
    assert chosen(text, NAMES) == choice
    assert chosen(words(choice), NAMES) == choice
    assert TargetChoice(**{**dataclasses.asdict(choice), "place": list(choice.place)}) == choice


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("great white", "did you mean great white shark"),
        ("unit:layer", "unit:LAYER:37"),
        ("unit:layer:a", "unit:LAYER:37"),
        ("out['scores']", "sum of"),
        ("loss:hinge:1", "cross_entropy"),
        ("loss:ce:0.5", "whole numbers"),
        ("loss:ce:shark", "no label"),
        ("dot:", "dot:FILE"),
        ("", "no target"),
    ],
)
def test_what_is_no_target_is_answered_with_what_can_be_written(text: str, said: str) -> None:
    with pytest.raises(HookViewerError, match=said):
        chosen(text, NAMES)


def test_each_kind_of_target_is_the_number_that_it_says(tmp_path: Path) -> None:
    model, vector = net(), torch.arange(5.0)
    np.save(tmp_path / "v.npy", vector.numpy())
    with torch.no_grad():
        scores, maps = model(IMAGE), model[2](model[1](model[0](IMAGE)))
    expected = {
        "top": scores.max(),
        "sum": scores.sum(),
        "class 3": scores[0, 3],
        "unit:2:1": maps[0, 1].sum(),
        "unit:2:0,1,2,3": maps[0, 1, 2, 3],
        "unit:2:0,:,2,3": maps[0, :, 2, 3].sum(),
        "out[0,2]": scores[0, 2],
        "out[0]": scores.sum(),
        "loss:ce:2": functional.cross_entropy(scores, torch.tensor([2])),
        "loss:mse:0.5": ((scores - 0.5) ** 2).mean(),
        "loss:bce:1,0,0,0,1": -(
            torch.tensor([1, 0, 0, 0, 1]) * scores.sigmoid().log()
            + torch.tensor([0, 1, 1, 1, 0]) * (1 - scores.sigmoid()).log()
        ).mean(),
        f"dot:{tmp_path / 'v.npy'}": (scores * vector).sum(),
    }
    plan = hv.HookPlan.of(model, "0", kinds={Kind.GRAD_OUTPUT})
    for text, value in expected.items():
        run = hv.capture(model, IMAGE, plan, target=chosen(text).target())
        assert run.target_value == pytest.approx(float(value), rel=1e-4), text
        assert run.record("0", Kind.GRAD_OUTPUT).array().any()
        if not text.startswith(("top", "dot")):
            assert chosen(run.provenance["target"]) == chosen(text)
        if text == "top":
            assert run.provenance["target"] == f"top class ({int(scores.argmax())})"


def test_what_comes_after_a_unit_says_that_it_comes_after_it() -> None:
    model = net()
    plan = hv.HookPlan.of(model, "*", kinds={Kind.GRAD_OUTPUT, Kind.GRAD_INPUT})
    run = hv.capture(model, IMAGE, plan, target=chosen("unit:2:0,1,2,3").target())
    gradient = run.record("0", Kind.GRAD_OUTPUT).array()
    assert sorted(np.unique(np.nonzero(gradient.any((0, 1)))[0])) == [2, 3, 4]  # a 3 × 3 kernel sees these
    after = {key for key, why in run.absent.items() if "computed after the target, unit:2:0,1,2,3" in why}
    outputs = {Key(path, Kind.GRAD_OUTPUT) for path in ("", "3", "4")}
    assert after == outputs | {Key(path, Kind.GRAD_INPUT, 0, "[0]") for path in ("3", "4")}
    assert set(run.absent) == after


def test_scores_are_what_a_detection_is_asked_for() -> None:
    found = [{"boxes": torch.rand(2, 4), "labels": torch.tensor([1, 2]), "scores": torch.tensor([0.9, 0.4])}]
    assert float_leaf(found) == "[0]['scores']"
    assert float_leaf({"a": torch.ones(2, dtype=torch.long), "b": torch.ones(2)}) == "['b']"
    target = TargetChoice("top").target()
    assert target is not None
    assert float(target(found)) == pytest.approx(0.9)
    empty = [{"boxes": torch.rand(0, 4), "scores": torch.rand(0)}]
    with pytest.raises(HookViewerError, match="nothing was found"):
        target(empty)
    with pytest.raises(HookViewerError, match=r"\[3\] is not in out\[0\]\['scores'\]"):
        chosen("out[0]['scores'][3]").target()(found)  # type: ignore[misc]


def test_another_model_keeps_only_what_it_can_follow() -> None:
    for text, kept in (
        ("sum", "sum"),
        ("none", "none"),
        ("unit:2:1", "top"),
        ("out[0]", "top"),
        ("3", "top"),
    ):
        assert words(chosen(text).for_any_model()) == kept


class Finds(nn.Module):
    """A detector that finds so many things."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.layer, self.count = nn.Linear(2, 3), count

    def forward(self, x: torch.Tensor) -> list[dict[str, torch.Tensor]]:
        return [{"boxes": torch.ones(self.count, 4), "scores": self.layer(x)[0, : self.count]}]


def test_the_target_that_nobody_chose_gives_way_and_a_chosen_one_does_not() -> None:
    plan = HookPlan(frozenset({"layer"}), frozenset({Kind.OUTPUT, Kind.GRAD_OUTPUT, Kind.PARAM_GRAD}))
    x = torch.ones(1, 2)
    found = capture(Finds(2), x, plan, target=TargetChoice().target())
    assert found.target_value is not None
    assert Key("layer", Kind.GRAD_OUTPUT) in found
    nothing = capture(Finds(0), x, plan, target=TargetChoice().target())
    assert nothing.target_value is None
    assert Key("layer", Kind.OUTPUT) in nothing
    why = "There is no target in this run: the output [0] of [0]['scores'] is empty, nothing was found"
    absent = (Key("layer", Kind.GRAD_OUTPUT), Key("layer", Kind.PARAM_GRAD, 0, "weight"))
    assert all(nothing.reason(key).startswith(why) for key in absent)
    assert nothing.notes[-1].startswith(why)
    for choice in (TargetChoice(leaf="[0]['scores']"), TargetChoice("class", 1)):
        with pytest.raises(HookViewerError, match=r"nothing was found|no class 1"):
            capture(Finds(0), x, plan, target=choice.target())


def test_of_maps_made_better_step_by_step_the_last_one_is_summed() -> None:
    steps = [torch.full((1, 2, 3, 3), float(one)) for one in range(1, 4)]
    assert steps_of(steps) == ("[0]", "[1]", "[2]")
    assert float_leaf(steps) == "[2]"
    target = TargetChoice().target()
    assert target is not None
    assert float(target(steps)) == 3 * 18
    for other in (steps[:1], [steps[0], steps[1][:, :1]], [steps[0][0], steps[1][0]], {"a": steps[0]}):
        assert steps_of(other) == ()
