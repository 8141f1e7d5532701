"""Differences against formulas written out in plain numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from hookviewer.differences import Difference, compare, difference
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record, Recording

KEY = Key("layer", Kind.OUTPUT)


def record(values: torch.Tensor | list, key: Key = KEY) -> Record:
    tensor = torch.as_tensor(values).clone()
    return Record(key, tuple(tensor.shape), tensor.dtype, kept=tensor)


def test_the_numbers_of_a_difference_can_be_worked_out_by_hand():
    found = compare(record([3.0, -4.0, 0.0, 1.0]), record([3.0, 4.0, 0.0, 2.0]))
    assert found.cosine == pytest.approx((9 - 16 + 2) / math.sqrt(26 * 29))
    assert found.relative_l2 == pytest.approx(math.sqrt(65 / 26))
    assert (found.max_abs, found.max_relative, found.sign_changes) == (8, 2, 1)
    assert found.mean_abs == 9 / 4
    assert not found.equal
    assert found.not_finite == 0


def test_big_tensors_are_compared_in_double_precision():
    a = 1e4 + torch.randn(3, 500, 400)
    b = a + 1e-2 * torch.randn(3, 500, 400)
    found, x, y = compare(record(a), record(b)), a.double().numpy(), b.double().numpy()
    assert found.relative_l2 == pytest.approx(np.linalg.norm(x - y) / np.linalg.norm(x), rel=1e-9)
    assert found.mean_abs == pytest.approx(np.abs(x - y).mean(), rel=1e-9)
    assert found.max_abs == np.abs(x - y).max()


@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.bool, torch.complex64]
)
def test_a_tensor_equals_itself_in_every_dtype(dtype):
    values = (torch.arange(60).reshape(3, 20) % 7).to(dtype)
    found = compare(record(values), record(values))
    assert found.equal
    assert (found.max_abs, found.relative_l2, found.sign_changes) == (0, 0, 0)
    assert found.cosine == pytest.approx(1)


def test_values_that_are_not_finite_are_left_out_and_counted():
    found = compare(record([math.nan, math.inf, 1.0, 2.0]), record([math.nan, 5.0, 1.0, 3.0]))
    assert found.not_finite == 2
    assert (found.max_abs, found.mean_abs, found.equal) == (1, 0.5, False)


def test_nan_at_the_same_places_is_equal():
    values = record([math.nan, math.inf, 2.0])
    assert compare(values, values).equal


def test_zero_tensors_have_no_angle():
    zero, one = record([0.0, 0.0]), record([1.0, 0.0])
    assert math.isnan(compare(zero, one).cosine)
    assert compare(zero, one).relative_l2 == math.inf
    assert compare(zero, zero).relative_l2 == 0


@pytest.mark.parametrize("values", [torch.zeros(0, 3), torch.full((2,), math.nan)])
def test_without_a_finite_value_the_numbers_are_nan(values):
    found = compare(record(values), record(values))
    assert math.isnan(found.max_abs)
    assert math.isnan(found.mean_abs)
    assert found.equal


def test_unlike_shapes_are_refused_in_a_sentence():
    with pytest.raises(HookViewerError, match="A is 2×3 and B is 6: only tensors of one shape"):
        compare(record(torch.zeros(2, 3)), record(torch.zeros(6)))


def test_recordings_are_compared_key_by_key_with_reasons_for_the_rest():
    only_a, only_b, unlike = (Key(name, Kind.OUTPUT) for name in ("only a", "only b", "unlike"))
    a = Recording({key: record([1.0, 2.0], key) for key in (KEY, only_a, unlike)})
    b = Recording(
        {KEY: record([1.0, 4.0]), only_b: record([0.0], only_b), unlike: record([1.0], unlike)},
        absent={only_a: "The module was never called."},
    )
    found = compare(a, b)
    assert list(found) == [KEY]
    assert isinstance(found[KEY], Difference)
    assert found[KEY].max_abs == 2
    assert set(found.absent) == {only_a, only_b, unlike}
    assert found.absent[only_a] == "Only A holds it; in B: The module was never called."
    with pytest.raises(KeyError, match="only tensors of one shape"):
        found[unlike]


def test_values_that_were_not_kept_give_their_reason():
    lost = Record(KEY, (2,), torch.float32, missing="Over the budget of 2 GB.")
    with pytest.raises(HookViewerError, match="budget"):
        compare(lost, record([1.0, 2.0]))
    assert compare(Recording({KEY: lost}), Recording({KEY: lost})).absent == {KEY: "Over the budget of 2 GB."}


def test_a_record_and_a_recording_cannot_be_compared():
    with pytest.raises(TypeError, match="two recordings or two records"):
        compare(record([1.0]), Recording({}))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (np.float16, np.float16, np.float32),
        (np.float32, np.float32, np.float32),
        (np.float32, np.float64, np.float64),
        (np.uint8, np.uint8, np.float64),
        (bool, bool, np.float64),
        (np.complex64, np.complex64, np.complex64),
    ],
)
def test_the_difference_array_is_a_minus_b_in_floating_point(first, second, expected):
    found = difference(np.array([0, 1, 1]).astype(first), np.array([1, 1, 0]).astype(second))
    assert found.dtype == expected
    assert found.tolist() == [-1, 0, 1]


def test_the_difference_of_infinities_is_nan_without_a_warning():
    found = difference(np.array([np.inf, np.inf, 1]), np.array([np.inf, 0, np.nan]))
    assert np.isnan(found[[0, 2]]).all()
    assert found[1] == np.inf
    with pytest.raises(HookViewerError, match="one shape"):
        difference(np.zeros(3), np.zeros(2))
