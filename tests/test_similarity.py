"""Linear CKA against the formula on features, on nets whose layers are known to be alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

import hookviewer as hv
from hookviewer.differences import SimilaritySums, cka, grams, similarity
from hookviewer.errors import HookViewerError
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record, Recording


def recording(**layers: torch.Tensor) -> Recording:
    keys = {name: Key(name, Kind.OUTPUT) for name in layers}
    return Recording(
        {key: Record(key, tuple(layers[n].shape), layers[n].dtype, kept=layers[n]) for n, key in keys.items()}
    )


def features(count: int, width: int, seed: int) -> torch.Tensor:
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def by_features(x: torch.Tensor, y: torch.Tensor) -> float:
    """The first formula of the paper: |YᵀX|² / (|XᵀX| |YᵀY|), with centred columns."""
    x, y = (values.double().flatten(1) - values.double().flatten(1).mean(0) for values in (x, y))
    return float((y.T @ x).norm() ** 2 / ((x.T @ x).norm() * (y.T @ y).norm()))


def unbiased_by_sums(x: torch.Tensor, y: torch.Tensor) -> float:
    """Equation 3 of Nguyen et al., written out with the matrices of ones."""

    def hsic(k: torch.Tensor, l: torch.Tensor) -> float:  # noqa: E741
        n, one = len(k), torch.ones(len(k), dtype=torch.float64)
        k, l = k - k.diag().diag(), l - l.diag().diag()  # noqa: E741
        last = 2 / (n - 2) * (one @ k @ l @ one)
        between = (one @ k @ one) * (one @ l @ one) / ((n - 1) * (n - 2))
        return float(((k @ l).trace() + between - last) / (n * (n - 3)))

    k, l = (values.double() @ values.double().T for values in (x, y))  # noqa: E741
    return hsic(k, l) / math.sqrt(hsic(k, k) * hsic(l, l))


def test_it_is_the_formula_on_features():
    x, y = features(40, 7, 0) + 3, features(40, 11, 1)
    y[:, :7] += x
    found = cka([recording(x=x, y=y)])
    assert found.values == pytest.approx(np.array([[1, by_features(x, y)], [by_features(y, x), 1]]), rel=1e-9)
    assert [key.path for key in found.rows] == ["x", "y"]
    assert (found.inputs, found.notes) == (40, ())


def test_the_unbiased_one_is_the_formula_with_ones():
    x, y = features(9, 30, 2) + 5, features(9, 20, 3)
    y += x[:, :20]
    found = cka([recording(x=x)], [recording(y=y)], unbiased=True)
    assert found.values[0, 0] == pytest.approx(unbiased_by_sums(x, y), rel=1e-9)


@pytest.mark.parametrize("unbiased", [False, True])
def test_a_layer_and_its_rotated_copy_are_one(unbiased):
    x = features(30, 16, 4)
    turn, _ = torch.linalg.qr(features(16, 16, 5))
    found = cka([recording(x=x, turned=x @ turn, larger=-7 * x + 100)], unbiased=unbiased)
    assert found.values == pytest.approx(np.ones((3, 3)), abs=1e-5)


def test_noise_is_near_zero_and_the_plain_estimate_says_when_it_is_not():
    many = cka([recording(x=features(3000, 5, 6), y=features(3000, 5, 7))])
    assert many.values[0, 1] < 0.01
    few = [recording(x=features(30, 2000, 8), y=features(30, 2000, 9))]
    assert cka(few).values[0, 1] > 0.9
    assert "30 inputs are fewer than the 2,000 features" in cka(few).notes[0]
    assert abs(cka(few, unbiased=True).values[0, 1]) < 0.05
    assert cka(few, unbiased=True).notes == ()


def test_one_recording_per_input_is_the_same_as_a_batch():
    x, y = features(12, 3 * 4 * 4, 10).reshape(12, 3, 4, 4), features(12, 6, 11)
    batch = cka([recording(x=x, y=y)])
    single = cka([recording(x=x[i : i + 1], y=y[i : i + 1]) for i in range(12)])
    pairs = cka([recording(x=x[i : i + 2], y=y[i : i + 2]) for i in range(0, 12, 2)])
    assert single.values == pytest.approx(batch.values, rel=1e-12)
    assert pairs.values == pytest.approx(batch.values, rel=1e-12)


def test_differences_far_smaller_than_the_values_keep_their_digits():
    x = features(20, 6, 12).double()
    found = cka([recording(x=x, high=x * 1e-6 + 1e3)])
    assert found.values[0, 1] == pytest.approx(1, abs=1e-6)


def test_minibatches_of_one_size_average_the_unbiased_products():
    x, y = features(40, 5, 13), features(40, 4, 14)
    y += x[:, :4]
    sums = SimilaritySums()
    for start in range(0, 40, 8):
        part = slice(start, start + 8)
        sums = sums.added(grams([recording(x=x[part])]), grams([recording(y=y[part])]))
    found = sums.similarity()
    assert found.inputs == 40
    assert found.values[0, 0] == pytest.approx(by_features(x, y), abs=0.12)
    once = SimilaritySums().added(grams([recording(x=x)]), grams([recording(y=y)])).similarity()
    assert once.values[0, 0] == pytest.approx(unbiased_by_sums(x, y), rel=1e-9)
    with pytest.raises(HookViewerError, match="same layers"):
        sums.added(grams([recording(y=y)]), grams([recording(y=y)]))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_constant_layer_and_one_with_nan_have_none(value):
    x = features(10, 4, 15)
    broken = x.clone()
    broken[3, 1] = value
    found = cka([recording(x=x, constant=torch.full((10, 4), 0.1, dtype=torch.float64), broken=broken)])
    assert found.values[0, 0] == pytest.approx(1)
    assert np.isnan(found.values[1:]).all()
    assert np.isnan(found.values[:, 1:]).all()
    assert "same for all inputs" in found.notes[0]


def test_what_cannot_be_compared_has_its_reason():
    kept = recording(x=features(1, 4, 16), sizes=features(1, 4, 17), missing=features(1, 2, 18))
    key = Key("missing", Kind.OUTPUT)
    lost = Recording(
        {**recording(x=features(1, 4, 19), sizes=features(1, 6, 20)), key: Record(key, (1, 2), torch.float32)}
    )
    found = grams([kept, lost])
    assert [key.path for key in found] == ["x"]
    assert "4 values for one input and 6 for another" in found.absent[Key("sizes", Kind.OUTPUT)]
    assert "not kept" in found.absent[key]
    turned = grams([recording(x=features(8, 3, 21), y=features(8, 3, 21), t=features(5, 8, 22))])
    assert "5×8, its first axis is not the 8 samples" in turned.absent[Key("t", Kind.OUTPUT)]


def test_too_few_inputs_or_others_are_refused():
    one, two = recording(x=features(1, 3, 23)), recording(x=features(2, 3, 24))
    with pytest.raises(HookViewerError, match="at least 2 inputs"):
        cka([one])
    with pytest.raises(HookViewerError, match="at least 4 inputs"):
        cka([two], unbiased=True)
    with pytest.raises(HookViewerError, match="A has 1 inputs and B has 2"):
        similarity(grams([one]), grams([two]))


def test_two_nets_over_the_same_inputs():
    torch.manual_seed(0)
    first = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5))
    second = nn.Sequential(nn.Conv2d(1, 6, 3), nn.Flatten(), nn.Linear(96, 5))
    given = [torch.randn(1, 1, 6, 6) for _ in range(16)]
    plan = hv.HookPlan.of(first, "*")
    a = [hv.capture(first, x, plan) for x in given]
    b = [hv.capture(second, x, hv.HookPlan.of(second, "*")) for x in given]
    found = cka(a, b)
    assert [key.path for key in found.rows] == ["0", "1", "2", "3", ""]
    assert [key.path for key in found.columns] == ["0", "1", "2", ""]
    with torch.no_grad():
        x = torch.cat([first[:2](one) for one in given])
        y = torch.cat([second(one) for one in given])
    assert found.values[1, 3] == pytest.approx(by_features(x, y), rel=1e-5)
