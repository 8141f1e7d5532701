from __future__ import annotations

import types
from collections import OrderedDict, deque, namedtuple
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from models import Answer
from torch import nn
from torch.nn.utils.rnn import pack_sequence

from hookviewer.leaves import MAXIMUM_LEAVES, input_leaves, leaves, lend, mapped, replaced, take_back

A, B = torch.zeros(1), torch.ones(2)
Pair = namedtuple("Pair", "left right")


def places(value: Any) -> list[str]:
    return [place for place, _ in leaves(value)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (A, [""]),
        ((A,), ["[0]"]),
        ([A, (B, None)], ["[0]", "[1][0]"]),
        ({"logits": A, "aux": [B]}, ["['logits']", "['aux'][0]"]),
        (OrderedDict(out=A), ["['out']"]),
        (Pair(A, B), [".left", ".right"]),
        (Answer(A, {"k": B}), [".scores", ".extra['k']"]),
        (types.SimpleNamespace(t=A, n=3), [".t"]),
        (deque([A]), ["[0]"]),
        (torch.max(torch.eye(2), 0), ["[0]", "[1]"]),
        (3, []),
        ("text", []),
        (None, []),
        (nn.Linear(1, 1), []),
        ((A, A), ["[0]", "[1]"]),
    ],
)
def test_every_tensor_has_its_place(value: Any, expected: list[str]) -> None:
    assert places(value) == expected


def test_a_packed_sequence_shows_its_parts() -> None:
    assert places(pack_sequence([torch.ones(3), torch.ones(2)])) == [".data", ".batch_sizes"]


def test_positional_and_keyword_inputs_are_told_apart() -> None:
    assert [place for place, _ in input_leaves((A, [B]), {"mask": A})] == ["[0]", "[1][0]", "['mask']"]


def test_a_value_that_contains_itself_ends() -> None:
    loop: list[Any] = [A]
    loop.append(loop)
    assert places(loop) == ["[0]"]


def test_there_is_a_limit_to_the_number_of_leaves() -> None:
    assert len(leaves([A] * (MAXIMUM_LEAVES + 5))) == MAXIMUM_LEAVES


@pytest.mark.parametrize(
    "value", [A, (A, 1), [A, {"k": (A, B)}], Pair(A, B), Answer(A, {"k": A}), types.SimpleNamespace(t=A)]
)
def test_replacing_a_tensor_leaves_the_original_value_alone(value: Any) -> None:
    new = torch.full((1,), 7.0)
    before = leaves(value)
    changed = replaced(value, {id(A): new})
    assert type(changed) is type(value)
    assert [place for place, _ in leaves(changed)] == [place for place, _ in before]
    assert all(
        got is (new if old is A else old) for (_, got), (_, old) in zip(leaves(changed), before, strict=True)
    )
    assert all(now is old for (_, now), (_, old) in zip(leaves(value), before, strict=True))


def test_what_does_not_change_is_the_same_object() -> None:
    value = {"a": [A], "b": (B,)}
    assert mapped(value, lambda tensor: tensor) is value


@given(
    st.recursive(
        st.integers(0, 5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.tuples(inner, inner)
            | st.dictionaries(st.text(max_size=3), inner, max_size=3)
            | st.builds(Pair, inner, inner)
            | st.builds(types.SimpleNamespace, part=inner)
        ),
        max_leaves=12,
    )
)
@settings(max_examples=60, deadline=None)
def test_every_leaf_of_a_nested_value_can_be_read_back_by_its_place(value: Any) -> None:
    tensors = mapped_numbers(value)
    for place, tensor in leaves(tensors):
        found = eval(f"value{place}", {"value": value})  # the place is Python's own notation
        assert int(tensor) == found


def mapped_numbers(value: Any) -> Any:
    """Return the same structure with a tensor for each number."""
    if isinstance(value, int):
        return torch.tensor(value)
    if isinstance(value, dict):
        return {key: mapped_numbers(item) for key, item in value.items()}
    if isinstance(value, Pair):
        return Pair(*map(mapped_numbers, value))
    if isinstance(value, types.SimpleNamespace):
        return types.SimpleNamespace(part=mapped_numbers(value.part))
    return type(value)(map(mapped_numbers, value))


def test_a_loan_is_taken_back_and_the_list_stays_the_list() -> None:
    own, other = [A, {"k": A}], torch.full((1,), 7.0)
    loans: list[Any] = []
    lent = lend((own,), {id(A): other}, loans)
    assert lent[0] is own
    assert own[0] is other
    assert own[1]["k"] is other
    own.append(B)
    own[0] = B
    take_back(loans)
    assert own[0] is B, "what the module put there itself stays"
    assert own[1]["k"] is A
    assert own[2] is B
