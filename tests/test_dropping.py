"""What goes first when the records of many runs do not fit, and what stays of it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import hookviewer as hv
from hookviewer.dropping import AGAIN, dropped, to_drop
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind

SIZES = {"a": 10, "b": 20, "c": 30, "d": 40}


def test_nothing_goes_while_there_is_room():
    assert to_drop(SIZES, {}, 100) == ()
    assert to_drop({}, {}, 0) == ()


def test_what_was_looked_at_longest_ago_goes_first():
    looked = {"a": 4.0, "b": 1.0, "c": 2.0, "d": 3.0}
    assert to_drop(SIZES, looked, 99) == ("b",)
    assert to_drop(SIZES, looked, 79) == ("b", "c")
    assert to_drop(SIZES, looked, 0) == ("b", "c", "d", "a")


def test_what_nobody_looked_at_goes_before_everything():
    assert to_drop(SIZES, {"a": 1.0, "b": 9.0}, 50) == ("c", "d")


def test_what_is_in_use_stays_even_beyond_the_budget():
    assert to_drop(SIZES, {}, 0, in_use={"d", "a"}) == ("b", "c")
    assert to_drop({"empty": 0, **SIZES}, {}, 99) == ("a",)


def test_a_dropped_record_keeps_its_statistics_and_comes_back_with_a_new_run():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    given = torch.randn(2, 3)
    plan = hv.HookPlan.of(model, "*")
    full = hv.capture(model, given, plan)
    key, other = Key("0", Kind.OUTPUT), Key("1", Kind.OUTPUT)
    less = dropped(full, [key])
    assert less.nbytes == full.nbytes - full[key].nbytes
    assert hv.statistics(less[key]) == hv.statistics(full[key])
    assert less[key].shape == (2, 4)
    assert less[other] is full[other]
    with pytest.raises(HookViewerError, match="recorded again"):
        less[key].array()
    assert less[key].missing == AGAIN
    again = less.merged(hv.capture(model, given, hv.HookPlan.of(model, "0")))
    assert torch.equal(again[key].tensor(), full[key].tensor())
    assert again[other] is full[other]
    assert dropped(less, [key])[key] is less[key]
