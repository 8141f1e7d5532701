"""Nested outputs and inputs of every make come back leaf by leaf."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import hookviewer as hv
from hookviewer import Key, Kind

EVERY = frozenset(Kind) - {Kind.ATTRIBUTION}


class Named(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class Plain:
    left: Any
    right: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    left: Any
    right: Any


class Loose:
    """An object that is nothing but its attributes."""

    def __init__(self, inner: Any, other: Any) -> None:
        self.inner, self.other = inner, other


PAIRS: dict[type, tuple[str, str]] = {
    Named: (".first", ".second"),
    Plain: (".left", ".right"),
    Frozen: (".left", ".right"),
    Loose: (".inner", ".other"),
}
KEYS = ("logits", "aux", "a b", "0")
leaves = st.sampled_from(["tensor", "tensor", "tensor", "none", "int", "text"])


def larger(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.tuples(st.sampled_from([tuple, list]), st.lists(parts, min_size=1, max_size=3)),
        st.tuples(
            st.sampled_from([dict, collections.OrderedDict]),
            st.dictionaries(st.sampled_from(KEYS), parts, min_size=1),
        ),
        st.tuples(st.sampled_from(list(PAIRS)), st.tuples(parts, parts)),
    )


shapes = st.recursive(leaves, larger, max_leaves=8)
editable = shapes.filter(lambda shape: "Loose" not in repr(shape))


def build(shape: Any, make: Any, leaf: str = "") -> Any:
    """Build the nested value of `shape`, with `make(leaf)` for each of its tensors."""
    if isinstance(shape, str):
        return {
            "tensor": lambda: make(leaf),
            "none": lambda: None,
            "int": lambda: 7,
            "text": lambda: "words",
        }[shape]()
    kind, parts = shape
    if kind in PAIRS:
        return kind(*(build(part, make, leaf + name) for name, part in zip(PAIRS[kind], parts, strict=True)))
    if kind in (dict, collections.OrderedDict):
        return kind((name, build(part, make, f"{leaf}['{name}']")) for name, part in parts.items())
    return kind(build(part, make, f"{leaf}[{i}]") for i, part in enumerate(parts))


def same(a: Any, b: Any) -> bool:
    """Whether two nested values have the same types, places and values."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[name], b[name]) for name in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    return same(vars(a), vars(b)) if hasattr(a, "__dict__") else a == b


class Maker(nn.Module):
    """Returns the shape with the k-th tensor x * (k + 1)."""

    def __init__(self, shape: Any) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, x: torch.Tensor) -> Any:
        made: list[torch.Tensor] = []

        def make(leaf: str) -> torch.Tensor:
            made.append(x * (len(made) + 1))
            return made[-1]

        return build(self.shape, make)


class Sum(nn.Module):
    """Squares and adds up all tensors of a nested value, given by position and by keyword."""

    def forward(self, value: Any, *, extra: Any = None) -> torch.Tensor:
        parts: list[torch.Tensor] = []
        for nested in (value, extra):
            gather(nested, parts)
        return sum((part.square() for part in parts), torch.zeros(3))


def gather(value: Any, parts: list[torch.Tensor]) -> None:
    if isinstance(value, torch.Tensor):
        parts.append(value)
    elif isinstance(value, dict):
        for part in value.values():
            gather(part, parts)
    elif isinstance(value, (tuple, list)):
        for part in value:
            gather(part, parts)
    elif hasattr(value, "__dict__"):
        gather(vars(value), parts)


class Nested(nn.Module):
    def __init__(self, shape: Any) -> None:
        super().__init__()
        self.maker, self.sum = Maker(shape), Sum()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.sum(self.maker(x)) + x


def names_of(shape: Any) -> list[str]:
    names: list[str] = []
    build(shape, names.append)
    return names


X = torch.tensor([1.0, -2.0, 3.0])


@given(shapes)
@settings(max_examples=60)
def test_a_nested_output_comes_back_leaf_by_leaf(shape: Any) -> None:
    net, names = Nested(shape), names_of(shape)
    recording = hv.capture(net, X, hv.HookPlan.of(net, "*", kinds=EVERY), target=hv.total())
    assert list(recording.leaves("maker", Kind.OUTPUT)) == names
    assert set(recording.leaves("maker", Kind.GRAD_OUTPUT)) == set(names)
    for number, name in enumerate(names, 1):
        value, gradient = X * number, 2 * X * number
        assert torch.equal(recording[Key("maker", Kind.OUTPUT, 0, name)].tensor(), value)
        assert torch.equal(recording[Key("maker", Kind.GRAD_OUTPUT, 0, name)].tensor(), gradient)
        assert torch.equal(recording[Key("sum", Kind.INPUT, 0, f"[0]{name}")].tensor(), value)
        assert torch.equal(recording[Key("sum", Kind.GRAD_INPUT, 0, f"[0]{name}")].tensor(), gradient)
        assert torch.equal(recording[Key("sum", Kind.GRAD_INPUT_TOTAL, 0, f"[0]{name}")].tensor(), gradient)
    assert [call.output_shapes for call in recording.calls("maker")] == [((3,),) * len(names)]


@given(shapes)
@settings(max_examples=40)
def test_what_the_model_returns_comes_back_in_its_own_form(shape: Any) -> None:
    net = Maker(shape)
    recording = hv.capture(net, X, hv.HookPlan.of(net, "*"))
    assert same(recording.output, net(X))


@given(shapes)
@settings(max_examples=40)
def test_nested_inputs_by_position_and_by_keyword_come_back_leaf_by_leaf(shape: Any) -> None:
    net, names, value = Sum(), names_of(shape), Maker(shape)(X)
    plan = hv.HookPlan.of(net, "*", kinds={Kind.INPUT, Kind.GRAD_INPUT, Kind.GRAD_INPUT_TOTAL})
    recording = hv.capture(net, (value,), plan, kwargs={"extra": [X, value]}, target=hv.total())
    wanted = {f"[0]{name}": X * n for n, name in enumerate(names, 1)}
    wanted |= {"['extra'][0]": X} | {f"['extra'][1]{name}": X * n for n, name in enumerate(names, 1)}
    assert set(recording.leaves("", Kind.INPUT)) == set(wanted)
    for leaf, tensor in wanted.items():
        assert torch.equal(recording[Key("", Kind.INPUT, 0, leaf)].tensor(), tensor)
    # the tensor is the same object at both places: its gradient counts both
    for leaf, tensor in wanted.items():
        times = 2 if leaf == "['extra'][0]" else 4
        assert torch.equal(recording[Key("", Kind.GRAD_INPUT, 0, leaf)].tensor(), times * tensor), leaf
    assert same(value, Maker(shape)(X))


@given(editable, st.data())
@settings(max_examples=40)
def test_an_edit_of_one_leaf_changes_that_leaf_alone(shape: Any, data: st.DataObject) -> None:
    net, names = Maker(shape), names_of(shape)
    if not names:
        return
    chosen = data.draw(st.sampled_from(names))
    recording = hv.capture(net, X, hv.HookPlan.of(net, "*"), edits=[hv.Edit("", hv.scale(10.0), leaf=chosen)])
    order = iter(names)
    factors = iter(range(1, len(names) + 1))
    expected = build(shape, lambda leaf: X * next(factors) * (10.0 if next(order) == chosen else 1.0))
    assert same(recording.output, expected)
    for name, number in zip(names, range(1, len(names) + 1), strict=True):
        factor = 10.0 if name == chosen else 1.0
        assert torch.equal(recording[Key("", Kind.OUTPUT, 0, name)].tensor(), X * number * factor)


def test_a_target_can_name_a_leaf() -> None:
    net = Maker((dict, {"logits": (list, ["tensor", "tensor"]), "aux": "none"}))
    plan = hv.HookPlan.of(net, "", kinds={Kind.GRAD_INPUT})
    leaf = "['logits'][1]"
    for target, expected in (
        (hv.total(leaf), [2.0, 2.0, 2.0]),
        (hv.class_score(1, leaf=leaf), [0.0, 2.0, 0.0]),
        (hv.dot(torch.tensor([1.0, 0.0, -1.0]), leaf=leaf), [2.0, 0.0, -2.0]),
        (hv.unit("", 2, leaf=leaf), [0.0, 0.0, 2.0]),
    ):
        recording = hv.capture(net, X, plan, target=target)
        assert recording.record("", Kind.GRAD_INPUT).array().tolist() == expected
    with pytest.raises(hv.HookViewerError, match="logits"):
        hv.capture(net, X, plan, target=hv.total("['nowhere']"))


def test_an_output_that_leads_back_to_itself_ends() -> None:
    class Circle(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            ring: dict[str, Any] = {"x": x * 2}
            ring["again"] = ring
            return ring

    recording = hv.capture(Circle(), X, hv.HookPlan.of(Circle(), "*"))
    assert recording.leaves("", Kind.OUTPUT) == ("['x']",)
