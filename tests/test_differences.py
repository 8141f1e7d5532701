"""Differences against formulas written out in plain numpy."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch

from hookviewer.differences import Difference, channel_differences, compare, difference, psnr, ssim, ulps
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


def bits_apart(a: float, b: float, dtype: torch.dtype) -> int:
    """Count the steps to the next number from `a` to `b`."""
    here, there = (torch.tensor(value, dtype=dtype) for value in (a, b))
    steps = 0
    while here != there:
        here = torch.nextafter(here, there)
        steps += 1
    return steps


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(("start", "steps"), [(1.0, 3), (-1.0, 5), (1.9999, 40), (0.0, 2), (-0.0, 7)])
def test_ulp_count_the_numbers_between(dtype, start, steps):
    a = torch.tensor(start, dtype=dtype)
    b = a.clone()
    for _ in range(steps):
        b = torch.nextafter(b, torch.tensor(9.0, dtype=dtype))
    found = compare(pair(a, a), pair(a, b))
    assert (found.max_ulp, found.mean_ulp) == (steps, steps / 2)
    assert bits_apart(float(a), float(b), dtype) == steps


def pair(a: torch.Tensor, b: torch.Tensor) -> Record:
    return Record(KEY, (2,), a.dtype, kept=torch.stack([a, b]))


def test_ulp_of_half_precision_and_across_zero_and_the_whole_range():
    half = np.array([1.0, 1.0, 6.0e-8, 65504.0], np.float16)
    other = np.array([1.0009765625, 2.0, -6.0e-8, np.inf], np.float16)
    assert ulps(half, other).tolist() == [1, 1024, 2, 1]
    ends = np.array([-np.finfo(np.float64).max, np.nan, 0.0]), np.array([np.finfo(np.float64).max, 1, -0.0])
    found = ulps(*ends)
    assert found[0] == float(2 * (0x7FF0000000000000 - 1))
    assert np.isnan(found[1])
    assert found[2] == 0
    assert ulps(np.arange(3), np.arange(3)) is None
    assert ulps(half, other.astype(np.float32)) is None


def test_ulp_of_bfloat16_shown_as_float32():
    a = torch.tensor([1.0, -3.0], dtype=torch.bfloat16)
    b = torch.tensor([1.0078125, -3.015625], dtype=torch.bfloat16)
    assert ulps(a.float().numpy(), b.float().numpy(), torch.bfloat16).tolist() == [1, 1]
    assert ulps(a.float().numpy(), b.float().numpy()).tolist() == [65536, 65536]


def test_tensors_of_different_types_have_no_ulp():
    assert math.isnan(compare(record(torch.ones(3)), record(torch.ones(3).double())).max_ulp)
    assert math.isnan(compare(record(torch.arange(3)), record(torch.arange(3))).mean_ulp)


def maps(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(5, 40, 30), (3, 300, 300), (700, 2, 2), (1, 7), (4, 0, 3), (0, 3, 3)])
def test_every_channel_has_the_numbers_of_its_own(shape):
    a, b = maps(0, *shape), maps(1, *shape)
    if a.size > 30:
        a.reshape(-1)[3], b.reshape(-1)[4], b.reshape(-1)[8] = np.nan, np.inf, -np.inf
        a.reshape(-1)[8], a[1] = np.inf, 0
        b[2] = a[2]
    found = channel_differences(a, b)
    assert len(found.cosine) == shape[0]
    for channel in range(min(shape[0], 6)):
        alone = compare(record(torch.from_numpy(a[channel])), record(torch.from_numpy(b[channel])))
        expected = dataclasses.asdict(alone)
        assert dataclasses.asdict(found.channel(channel)) == pytest.approx(expected, nan_ok=True)
        assert found.sign_share[channel] == pytest.approx(alone.sign_share, nan_ok=True)


def test_values_not_finite_in_the_same_way_are_not_unlike():
    a = record([math.nan, math.inf, math.inf, math.nan, 1.0, math.nan])
    b = record([math.nan, math.inf, -math.inf, math.inf, math.inf, 1.0])
    found = compare(a, b)
    assert (found.unlike, found.not_finite, found.count) == (4, 6, 0)


def test_channels_are_sorted_by_how_much_they_differ():
    a = np.ones((4, 2, 2), np.float32)
    b = a * np.array([1, 3, 1.5, np.nan], np.float32)[:, None, None]
    found = channel_differences(a, b)
    assert found.order().tolist() == [1, 2, 0, 3]
    assert found.order("max_abs").tolist() == [1, 2, 0, 3]
    ramp = np.tile(np.arange(4, dtype=np.float32).reshape(2, 2), (3, 1, 1))
    shifted = channel_differences(ramp, ramp + np.array([0, 2, 1], np.float32)[:, None, None])
    assert shifted.order("psnr").tolist() == [1, 2, 0]
    assert shifted.order("cosine")[-1] == 0


def test_psnr_is_its_formula():
    a, b = maps(2, 3, 9, 8), maps(3, 3, 9, 8)
    b[1] = a[1]
    reach = float(a.max()) - float(a.min())
    found = psnr(a, b)
    for channel in (0, 2):
        mean = float(np.mean((a[channel].astype(float) - b[channel]) ** 2))
        assert found[channel] == pytest.approx(10 * math.log10(reach**2 / mean))
    assert found[1] == math.inf
    assert psnr(a, b, data_range=255)[0] == pytest.approx(found[0] + 20 * math.log10(255 / reach))
    assert channel_differences(a, b).psnr == pytest.approx(found)


def windows_by_hand(a: np.ndarray, b: np.ndarray, size: int, reach: float) -> float:
    """SSIM of one map, window by window with numpy's own variance and covariance."""
    values = []
    for row in range(a.shape[0] - size + 1):
        for column in range(a.shape[1] - size + 1):
            x, y = (m[row : row + size, column : column + size].astype(float).ravel() for m in (a, b))
            (xx, xy), (_, yy) = np.cov(x, y)
            c1, c2 = (0.01 * reach) ** 2, (0.03 * reach) ** 2
            top = (2 * x.mean() * y.mean() + c1) * (2 * xy + c2)
            values.append(top / ((x.mean() ** 2 + y.mean() ** 2 + c1) * (xx + yy + c2)))
    return float(np.mean(values))


@pytest.mark.parametrize(("shape", "size"), [((12, 9), 7), ((7, 7), 7), ((6, 8), 5), ((4, 3), 3)])
def test_ssim_is_its_formula_window_by_window(shape, size):
    a, b = maps(4, 2, *shape), maps(5, 2, *shape)
    b[1] = a[1]
    reach = float(a.max()) - float(a.min())
    found = ssim(a, b)
    assert found[0] == pytest.approx(windows_by_hand(a[0], b[0], size, reach), abs=1e-9)
    assert found[1] == pytest.approx(1)


def test_ssim_keeps_its_digits_far_from_zero():
    a = maps(6, 1, 30, 30).astype(np.float64)
    b = a + 0.3 * maps(7, 1, 30, 30)
    high = ssim(a + 1e6, b + 1e6, data_range=4.0)
    assert high[0] == pytest.approx(windows_by_hand(a[0] + 1e6, b[0] + 1e6, 7, 4.0), abs=1e-6)


def test_ssim_is_that_of_scikit_image():
    metrics = pytest.importorskip("skimage.metrics")
    a, b = maps(8, 1, 40, 33), maps(9, 1, 40, 33)
    assert ssim(a, b, data_range=3.0)[0] == pytest.approx(
        metrics.structural_similarity(a[0].astype(float), b[0].astype(float), data_range=3.0)
    )


def test_constant_maps_nan_and_small_maps():
    constant, other = np.ones((2, 8, 8), np.float32), np.ones((2, 8, 8), np.float32)
    other[1] = 2
    assert np.isnan(ssim(constant, other)).all()
    assert psnr(constant, other)[0] == math.inf
    assert np.isnan(psnr(constant, other)[1])
    assert ssim(constant, other, data_range=1.0)[0] == pytest.approx(1)
    broken = maps(10, 2, 8, 8)
    broken[0, 3, 3] = np.nan
    found = ssim(broken, maps(11, 2, 8, 8))
    assert np.isnan(found).tolist() == [True, False]
    assert np.isnan(ssim(maps(12, 3, 2, 9), maps(13, 3, 2, 9))).all()


def test_one_channel_of_another_size_is_refused():
    with pytest.raises(HookViewerError, match="2×3×3 and B is 2×3×4"):
        channel_differences(np.zeros((2, 3, 3)), np.zeros((2, 3, 4)))


def test_values_whose_squares_are_infinite_have_their_ratios():
    a = torch.tensor([1e200, -3e200, 2e180], dtype=torch.float64)
    found = compare(record(a), record(a * 1.5))
    assert found.cosine == pytest.approx(1)
    assert found.relative_l2 == pytest.approx(0.5)
    assert found.max_abs == pytest.approx(1.5e200)
