"""Statistics, axis roles, levels and likeness, each against plain numpy in float64."""

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
        np.testing.assert_allclose(found(together)[0], found(alone)[0], rtol=1e-6, atol=1e-9)
    assert channels.zero_share[0] == 1
    assert np.isnan(channels.mean[5])


def test_channels_without_cells_are_empty_not_wrong():
    channels = arrays.channel_statistics(np.empty((3, 0, 4)))
    assert channels.count.tolist() == [0, 0, 0]
    assert np.isnan(channels.max).all()
    assert len(arrays.channel_statistics(np.empty((0, 2, 2))).mean) == 0


@pytest.mark.parametrize(
    ("shape", "layout", "values", "axes"),
    [
        ((2, 3, 4, 5), "maps", (3, 4, 5), "channel × row × column"),
        ((3, 4, 5), "maps", (3, 4, 5), "channel × row × column"),
        ((1, 7, 5), "maps", (1, 7, 5), "token × feature"),
        (
            (1, 197, 32),
            "maps",
            (32, 14, 14),
            "feature × row × column of the tokens' grid, the class token left out",
        ),
        ((2, 49, 24), "maps", (24, 7, 7), "feature × row × column of the tokens' grid"),
        ((1, 14, 14, 96), "maps", (96, 14, 14), "channel × row × column (stored channels last)"),
        ((1, 2, 3, 4, 5), "maps", (6, 4, 5), "channel and depth × row × column"),
        ((2, 10), "bars", (1, 1, 10), "feature"),
        ((10,), "bars", (1, 1, 10), "feature"),
        ((), "number", (1, 1, 1), "one number"),
        ((2, 1, 2, 3, 4, 5), "table", (1, 48, 5), "table of 2×1×2×3×4×5, the last axis along the columns"),
        ((0, 3), "table", (1, 0, 3), "table of 0×3, the last axis along the columns"),
    ],
)
def test_every_shape_has_a_layout_and_axes_in_words(shape, layout, values, axes):
    maps = arrays.as_maps(np.zeros(shape, np.float32))
    assert (maps.layout, maps.values.shape, maps.axes) == (layout, values, axes)


@pytest.mark.parametrize("axes", range(7))
def test_every_reading_of_every_number_of_axes_can_be_drawn(axes):
    array = SEED(axes).normal(size=(2, 4, 3, 5, 2, 2)[:axes]).astype(np.float32)
    for reading in arrays.readings(array):
        maps = arrays.as_maps(array, reading=reading)
        assert maps.layout in arrays.LAYOUTS
        assert maps.reading == reading
        assert maps.values.ndim == 3
        assert maps.values.size * maps.samples == array.size


def test_a_sample_is_chosen_from_a_batch_without_a_copy():
    array = SEED(0).normal(size=(3, 4, 5, 6)).astype(np.float32)
    maps = arrays.as_maps(array, sample=2)
    assert maps.samples == 3
    assert np.shares_memory(maps.values, array)
    np.testing.assert_array_equal(maps.values, array[2])


def test_a_token_lies_at_its_place_in_the_grid():
    tokens = np.zeros((1, 17, 16), np.float32)
    tokens[0, 1 + 4 * 2 + 3, 5] = 9
    assert arrays.as_maps(tokens).values[5, 2, 3] == 9


def test_the_slices_of_a_volume_are_named():
    volume = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(1, 2, 3, 4, 5)
    maps = arrays.as_maps(volume)
    assert maps.titles[4] == "c1 z1"
    np.testing.assert_array_equal(maps.values[4], volume[0, 1, 1])


def test_numbers_keep_their_digits():
    assert arrays.as_maps(np.array(2**53 - 1)).values.item() == 2**53 - 1
    assert arrays.as_maps(np.array([3 + 4j])).values.item() == 5


def test_a_reading_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="cannot be read"):
        arrays.as_maps(np.zeros((2, 2)), reading="channel × row × column")


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
