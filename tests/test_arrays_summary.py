"""Statistics of whole arrays and of channels, against plain numpy in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hookviewer import arrays

SEED = np.random.default_rng


def expected(array):
    values = np.abs(array) if np.iscomplexobj(array) else np.asarray(array)
    values = values.astype(np.float64).reshape(-1)
    finite = values[np.isfinite(values)]
    numbers = [
        finite.mean(),
        finite.std(),
        finite.min(),
        finite.max(),
        np.sqrt((finite**2).sum()),
        np.abs(finite).mean(),
    ]
    counts = [
        values.size,
        (values == 0).sum(),
        np.isnan(values).sum(),
        (values == np.inf).sum(),
        (values == -np.inf).sum(),
    ]
    return numbers, counts


def found(statistics):
    numbers = [getattr(statistics, name) for name in ("mean", "std", "min", "max", "l2", "mean_abs")]
    counts = [getattr(statistics, name) for name in ("count", "zeros", "nan", "pos_inf", "neg_inf")]
    return numbers, counts


def assert_agree(array, relative=2e-6):
    numbers, counts = expected(array)
    got_numbers, got_counts = found(arrays.statistics(array))
    assert got_counts == counts
    scale = max(np.abs(numbers).max(), 1e-300)
    for name, got, want in zip(
        ("mean", "std", "min", "max", "l2", "mean_abs"), got_numbers, numbers, strict=True
    ):
        slack = scale if name == "mean" else abs(want)
        assert abs(got - want) <= relative * slack, (name, got, want)


AWKWARD = {
    "normal": SEED(0).normal(size=(3, 70, 90)).astype(np.float32),
    "relu": np.maximum(SEED(1).normal(size=100_003), 0).astype(np.float32),
    "far from zero": (1000 + 1e-2 * SEED(2).normal(size=50_000)).astype(np.float32),
    "half": SEED(3).normal(size=(9, 9)).astype(np.float16) * np.float16(6e3),
    "double": SEED(4).normal(size=70_000),
    "vanishing gradients": (1e-25 * SEED(5).normal(size=9_000)).astype(np.float32),
    "huge": (1e30 * SEED(6).normal(size=9_000)).astype(np.float32),
    "bool": SEED(7).random((40, 40)) > 0.7,
    "bytes": SEED(8).integers(0, 256, 200_000).astype(np.uint8),
    "large integers": np.array([2**40 + 1, -(2**41), 0, 7]),
    "complex": SEED(9).normal(size=50) + 1j * SEED(10).normal(size=50),
    "one number": np.float32(-2.5),
    "constant": np.full((4, 30, 30), 0.41, np.float32),
    "strided": SEED(11).normal(size=(40, 60)).astype(np.float32).T[::3],
    "nothing finite but one": np.array([np.nan, np.inf, -np.inf, 2.0], np.float32),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_statistics_are_those_of_all_values_in_double_precision(name):
    assert_agree(AWKWARD[name])


def test_nan_and_infinities_are_counted_and_left_out():
    array = AWKWARD["normal"].copy()
    array[0, 3, :7] = np.nan
    array[2, 5, 5] = np.inf
    array[1, 69, 89] = -np.inf
    array[1, 1, :4] = 0
    assert_agree(array)
    assert found(arrays.statistics(array))[1] == [18900, 4, 7, 1, 1]


def test_opposite_infinities_do_not_hide_each_other():
    statistics = arrays.statistics(np.array([np.inf, -np.inf, 1, 3], np.float32))
    assert (statistics.pos_inf, statistics.neg_inf, statistics.nan, statistics.mean) == (1, 1, 0, 2)


@pytest.mark.parametrize("array", [np.empty((0, 3)), np.full(5, np.nan, np.float32), np.array([])])
def test_without_finite_values_the_numbers_are_nan(array):
    statistics = arrays.statistics(array)
    assert math.isnan(statistics.mean)
    assert math.isnan(statistics.max)
    assert math.isnan(statistics.l2)
    assert statistics.zero_share == 0
    assert statistics.count == array.size


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.float32, hnp.array_shapes(max_dims=3), elements=st.floats(width=32, allow_subnormal=False))
)
def test_any_float_array_has_the_statistics_of_its_finite_values(array):
    finite = array.reshape(-1)[np.isfinite(array.reshape(-1))].astype(np.float64)
    statistics = arrays.statistics(array)
    assert (
        statistics.nan + statistics.pos_inf + statistics.neg_inf + finite.size
        == statistics.count
        == array.size
    )
    if finite.size:
        assert (statistics.min, statistics.max) == (finite.min(), finite.max())
        assert statistics.l2 == pytest.approx(np.sqrt((finite**2).sum()), rel=1e-5)
        assert statistics.std == pytest.approx(finite.std(), rel=1e-4, abs=1e-7 * np.abs(finite).max())


def test_channels_have_the_statistics_of_their_own_values():
    maps = (
        SEED(12).normal(size=(7, 80, 90)).astype(np.float32) * np.arange(7, dtype=np.float32)[:, None, None]
    )
    maps[3, 2, 2] = np.nan
    maps[5] = np.nan
    channels = arrays.channel_statistics(maps)
    for index, single in enumerate(maps):
        alone, together = arrays.statistics(single), channels.channel(index)
        assert found(together)[1] == found(alone)[1]
        np.testing.assert_allclose(
            found(together)[0], found(alone)[0], rtol=1e-6, atol=1e-7 * np.nanmax(np.abs(single), initial=0)
        )
    assert channels.zero_share[0] == 1
    assert np.isnan(channels.mean[5])


def test_channels_without_cells_are_empty_not_wrong():
    channels = arrays.channel_statistics(np.empty((3, 0, 4)))
    assert channels.count.tolist() == [0, 0, 0]
    assert np.isnan(channels.max).all()
    assert len(arrays.channel_statistics(np.empty((0, 2, 2))).mean) == 0
