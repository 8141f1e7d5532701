from __future__ import annotations

import pytest
from models import Chain, Shared
from torch import nn

from hookviewer import HookPlan, HookViewerError, Kind


def test_globs_cross_dots_and_the_star_matches_the_model_itself() -> None:
    assert HookPlan.of(Shared(), "*").paths == {"", "relu", "layers", "layers.0", "layers.1"}
    assert HookPlan.of(Shared(), "layers*1").paths == {"layers.1"}


def test_types_and_exact_paths_match() -> None:
    assert HookPlan.of(Shared(), "type:Linear", "").paths == {"", "layers.0", "layers.1"}


def test_an_alias_means_the_canonical_path() -> None:
    assert HookPlan.of(Shared(), "again").paths == {"relu"}
    assert HookPlan.of(Shared(), "ag*").paths == {"relu"}


@pytest.mark.parametrize(
    ("pattern", "near"), [("layer.0", "layers.0"), ("type:Linea", "type:Linear"), ("rleu", "relu")]
)
def test_a_pattern_that_matches_nothing_names_what_is_near(pattern: str, near: str) -> None:
    with pytest.raises(HookViewerError, match=near):
        HookPlan.of(Shared(), pattern)


def test_a_model_without_modules_says_so() -> None:
    with pytest.raises(HookViewerError, match="no modules inside"):
        HookPlan.of(nn.ReLU(), "conv1")


def test_toggling_and_changing_kinds_give_new_plans() -> None:
    plan = HookPlan.of(Chain(), "relu")
    assert plan.toggled("first", True).paths == {"relu", "first"}
    assert plan.toggled("relu", False).paths == frozenset()
    assert plan.paths == {"relu"}
    assert not plan.needs_target
    assert plan.with_kinds([Kind.GRAD_OUTPUT]).needs_target


def test_a_plan_takes_any_collection_and_the_words_of_kinds() -> None:
    assert HookPlan(["a"], ["output"]) == HookPlan(frozenset({"a"}), frozenset({Kind.OUTPUT}))  # type: ignore[arg-type]
