"""Levels, histograms, orders and likeness of channels, against plain numpy in float64."""

from __future__ import annotations

import numpy as np
import pytest

from hookviewer import arrays

SEED = np.random.default_rng


@pytest.mark.parametrize("size", [1, 2, 999, 70_000, 200_001])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_levels_are_the_exact_quantiles(size, dtype):
    values = SEED(size).standard_t(2, size=size).astype(dtype)
    wide = values.astype(np.float64)
    close = {"rel": 1e-6, "abs": 1e-9}
    assert arrays.levels(values, "full") == (wide.min(), wide.max())
    if size > 2:
        assert arrays.levels(values, "robust") == pytest.approx(
            tuple(np.quantile(wide, [0.005, 0.995])), **close
        )
    limit = np.quantile(np.abs(wide), 0.98)
    assert arrays.levels(values, "symmetric") == pytest.approx((-limit, limit), **close)


def test_robust_levels_of_a_relu_start_at_zero():
    values = np.maximum(SEED(0).normal(size=100_000), 0).astype(np.float32)
    assert arrays.levels(values, "robust") == pytest.approx((0, np.quantile(values, 0.995)))


def test_a_few_bright_cells_are_not_lost():
    values = np.zeros(10_000, np.float32)
    values[3] = 5
    assert arrays.levels(values, "robust") == (0, 5)
    assert arrays.levels(-values, "robust") == (-5, 0)
    assert arrays.levels(-values, "symmetric") == (-5, 5)


def test_levels_count_finite_values_only():
    values = np.array([1, 2, np.nan, np.inf, -np.inf], np.float32)
    assert arrays.levels(values, "full") == (1, 2)
    assert arrays.levels(np.full(3, np.nan), "robust") == (0, 0)
    assert arrays.levels(np.empty(0), "symmetric") == (0, 0)


def test_a_constant_has_equal_levels():
    assert arrays.levels(np.full(9, 3), "robust") == (3, 3)
    assert arrays.levels(np.full(9, 3), "full") == (3, 3)


def test_shared_levels_are_those_of_all_values_together():
    parts = [SEED(i).normal(scale=i + 1, size=40_000).astype(np.float32) for i in range(3)]
    together = np.concatenate(parts)
    for scale in arrays.SCALES:
        assert arrays.shared_levels(parts, scale) == arrays.levels(together, scale)


def test_an_unknown_scale_is_refused():
    with pytest.raises(ValueError, match="unknown scale"):
        arrays.levels(np.ones(3), "log")


def test_a_histogram_counts_every_finite_value_once():
    values = SEED(0).normal(size=5000).astype(np.float32)
    values[:3] = np.nan, np.inf, -np.inf
    counts, edges = arrays.histogram(values, bins=16)
    assert counts.sum() == 4997
    assert counts.dtype == np.int64
    assert edges.dtype == np.float64
    assert edges[3] == pytest.approx(edges[0] + 3 * (edges[16] - edges[0]) / 16)
    for index in range(16):
        assert counts[index] == pytest.approx(
            ((values >= edges[index]) & (values < edges[index + 1])).sum(), abs=1
        )


def test_a_histogram_has_limits_and_copes_with_nothing():
    counts, edges = arrays.histogram(np.arange(10), bins=2, limits=(2, 6))
    assert counts.tolist() == [2, 3]
    assert (edges[0], edges[-1]) == (2, 6)
    assert arrays.histogram(np.empty(0), bins=4)[0].tolist() == [0, 0, 0, 0]
    assert arrays.histogram(np.full(7, 2.0), bins=3)[0].sum() == 7


def test_channels_are_sorted_by_a_statistic_largest_first():
    maps = np.stack([np.full((2, 2), value) for value in (1.0, 3.0, np.nan, 2.0)])
    statistics = arrays.channel_statistics(maps)
    assert arrays.channel_order(statistics, "mean").tolist() == [1, 3, 0, 2]
    assert arrays.channel_order(statistics, "channel").tolist() == [0, 1, 2, 3]
    for key in arrays.CHANNEL_ORDERS:
        assert sorted(arrays.channel_order(statistics, key)) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="unknown order"):
        arrays.channel_order(statistics, "median")


def test_the_most_similar_channels_come_first():
    maps = SEED(0).normal(size=(6, 9, 9)).astype(np.float32)
    maps[4] = 3 * maps[1] + 100
    maps[2] = -maps[1]
    maps[5] = 7
    maps[0, 0, 0] = np.nan
    order, correlations = arrays.similar(maps, 1)
    assert order[0] == 4
    assert set(order[-2:]) == {0, 5}
    assert correlations[[1, 2, 4]] == pytest.approx([1, -1, 1], abs=1e-4)
    assert np.isnan(correlations[[0, 5]]).all()
    assert correlations[3] == pytest.approx(np.corrcoef(maps[1].ravel(), maps[3].ravel())[0, 1], abs=1e-6)
