"""Layers of two models side by side."""

from __future__ import annotations

from collections import OrderedDict

import pytest
import torch
from torch import nn

import hookviewer as hv
from hookviewer.differences import Matching, matched
from hookviewer.errors import HookViewerError
from hookviewer.plan import HookPlan


def seen(model: nn.Module, shape: tuple[int, ...] = (1, 3, 8, 8)) -> hv.Recording:
    return hv.capture(model, torch.ones(shape), HookPlan().with_ops())


def pairs(one: nn.Module, two: nn.Module, **by_hand: str | None) -> Matching:
    return matched(hv.module_tree(one), seen(one), hv.module_tree(two), seen(two), by_hand=by_hand)


def named(**layers: nn.Module) -> nn.Sequential:
    return nn.Sequential(OrderedDict(layers))


def test_a_model_and_its_copy_are_matched_by_path():
    one, two = named(conv=nn.Conv2d(3, 4, 3), act=nn.ReLU()), named(conv=nn.Conv2d(3, 4, 3), act=nn.ReLU())
    found = pairs(one, two)
    assert dict(found) == {"": "", "conv": "conv", "act": "act"}
    assert set(found.how.values()) == {"path"}
    assert (found.only_a, found.only_b) == ((), ())


def test_other_names_are_matched_by_order_type_and_shape():
    one = named(first=nn.Conv2d(3, 4, 3), a=nn.ReLU(), second=nn.Conv2d(4, 4, 3, padding=1), b=nn.ReLU())
    two = named(c1=nn.Conv2d(3, 4, 3), r1=nn.ReLU(), extra=nn.Conv2d(4, 9, 1), c2=nn.Conv2d(9, 4, 1))
    two.append(nn.ReLU())
    found = pairs(one, two)
    assert dict(found) == {"": "", "first": "c1", "a": "r1", "second": "c2", "b": "4"}
    assert found.how["second"] == "order, type and shape"
    assert found.only_b == ("extra",)
    assert found.back["c2"] == "second"


def test_another_type_of_the_same_shape_comes_last():
    one = named(conv=nn.Conv2d(3, 4, 3), act=nn.ReLU(), last=nn.Flatten())
    two = named(stem=nn.Conv2d(3, 4, 3), soft=nn.GELU(), last=nn.Flatten())
    found = pairs(one, two)
    assert (found["act"], found.how["act"]) == ("soft", "order and shape")
    assert found.how["last"] == "path"


def test_the_same_path_with_another_type_is_no_match():
    one = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    two = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    found = pairs(one, two)
    assert dict(found) == {"": "", "0": "0", "2": "1"}
    assert found.only_a == ("1",)


def test_matches_are_changed_by_hand():
    one = named(a=nn.Conv2d(3, 3, 1), b=nn.Conv2d(3, 3, 1))
    two = named(a=nn.Conv2d(3, 3, 1), b=nn.Conv2d(3, 3, 1))
    found = pairs(one, two, a="b", b=None)
    assert dict(found) == {"": "", "a": "b"}
    assert found.how["a"] == "hand"
    assert (found.only_a, found.only_b) == (("b",), ("a",))


def test_a_match_by_hand_that_cannot_be_is_refused():
    one, two = named(a=nn.Conv2d(3, 3, 1), b=nn.ReLU()), named(a=nn.Conv2d(3, 3, 1), b=nn.ReLU())
    with pytest.raises(HookViewerError, match="Model A has no layer 'aa': did you mean 'a'"):
        pairs(one, two, aa="a")
    with pytest.raises(HookViewerError, match="Model B has no layer"):
        pairs(one, two, a="nothing")
    with pytest.raises(HookViewerError, match="a of model B is the partner of two layers"):
        pairs(one, two, a="a", b="a")


def test_functional_calls_have_partners_too():
    class Block(nn.Module):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name
            setattr(self, name, nn.Conv2d(3, 3, 1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + getattr(self, self.name)(x)

    found = pairs(named(block=Block("conv")), named(unit=Block("first")))
    assert dict(found) == {"": "", "block": "unit", "block.conv": "unit.first", "block:add#0": "unit:add#0"}


def test_without_recordings_the_order_is_that_of_registration():
    one = named(x=nn.Conv2d(3, 4, 3), y=nn.ReLU())
    two = named(p=nn.Conv2d(3, 8, 3), q=nn.ReLU())
    found = matched(hv.module_tree(one), None, hv.module_tree(two), None)
    assert dict(found) == {"": "", "x": "p", "y": "q"}


def stage(*widths: int, blocks: int) -> nn.Sequential:
    first, last = widths
    inside = [named(conv=nn.Conv2d(first, last, 1), act=nn.ReLU())]
    inside += [named(conv=nn.Conv2d(last, last, 1), act=nn.ReLU()) for _ in range(blocks - 1)]
    return nn.Sequential(*inside)


def test_a_net_finds_itself_in_a_deeper_one():
    small = named(layer1=stage(3, 4, blocks=2), layer2=stage(4, 6, blocks=2))
    deep = named(layer1=stage(3, 4, blocks=3), layer2=stage(4, 6, blocks=5))
    found = pairs(small, deep)
    assert all(found[path] == path for path in found)
    assert {"layer1.2", "layer2.4.conv"} <= set(found.only_b)
    assert found.only_a == ()


def test_a_net_finds_itself_inside_another_one():
    small = named(layer1=stage(3, 4, blocks=2), layer2=stage(4, 6, blocks=2))
    deep = named(body=named(a=stage(3, 4, blocks=2), b=stage(4, 6, blocks=2)), head=nn.Conv2d(6, 9, 1))
    found = pairs(small, deep)
    assert found["layer1.0.conv"] == "body.a.0.conv"
    assert found["layer2.1"] == "body.b.1"
    assert set(found.only_b) == {"body", "head"}
