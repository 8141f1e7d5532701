"""What axes mean and what is drawn of them: every cell against an index worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookviewer import arrays
from hookviewer.arrays import MAXIMUM, PARTS, Hints

SEED = np.random.default_rng

CHANNELS = {"channel", "head", "output channel"}
COLUMNS = {"column", "time", "key", "feature", "input"}
SLIDING = {"depth", "frame", "input channel"}


def slides(role):
    return role in SLIDING or role.startswith("axis")


def number_of(value, part):
    if not np.iscomplexobj(value):
        return float(value)
    found = {
        "magnitude": math.hypot(value.real, value.imag),
        "phase": math.atan2(value.imag, value.real),
        "real": value.real,
        "imaginary": value.imag,
    }
    return float(found[part])


def place_of(roles, reading, maps, spot, leading, width):
    """Return for each axis of the array where the cell (channel, row, column) of the maps comes from."""
    channel, row, column = spot
    blocks = {"slice", "input", "colour"} & set(roles) and len(roles) - sum(map(slides, roles)) > 3
    found = {}
    for role in roles:
        if role == "token in a grid":
            found[role] = leading + row * width + column
        elif "token in a grid" in roles and role == "feature":
            found[role] = channel
        elif role == "slice" or (role == "input" and blocks):
            found[role] = channel % maps.across
        elif blocks and role in ("channel", "output"):
            found[role] = channel // maps.across
        elif role in CHANNELS:
            found[role] = channel
        elif reading.endswith("time × feature") or reading == "time × sample × feature":
            found.update(time=column, feature=row)
        elif role in COLUMNS:
            found[role] = column
        elif role != "sample" and not slides(role):
            found[role] = row
    return found


def expected(array, reading, maps, spot, sample, places, part, leading=0):
    """Return the value that a cell of the maps has to have, by scalar indexing alone."""
    roles = reading.split(" × ")
    where = place_of(roles, reading, maps, spot, leading, maps.values.shape[2])
    where["sample"] = sample
    index = []
    for axis, role in enumerate(roles):
        if not slides(role):
            index.append([where[role]])
        elif places[role] == MAXIMUM:
            index.append(range(array.shape[axis]))
        else:
            index.append([places[role]])
    cells = array[np.ix_(*index)].reshape(-1)
    return max(np.float32(number_of(cell, part)) for cell in cells)


DTYPES = ["float32", "float64", "float16", "bool", "uint8", "int64", "complex64"]


def values_of(shape, dtype, seed):
    numbers = SEED(seed).normal(size=shape) * 3
    if dtype == "complex64":
        numbers = numbers + 1j * SEED(seed + 1).normal(size=shape)
    if dtype == "bool":
        return numbers > 0
    return (np.abs(numbers) * 40).astype(dtype) if dtype == "uint8" else numbers.astype(dtype)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_cell_of_every_reading_is_the_value_that_its_axes_name(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=7)))
    dtype = data.draw(st.sampled_from(DTYPES))
    hints = Hints(weight=data.draw(st.booleans()))
    array = values_of(shape, dtype, sum(shape))
    reading = data.draw(st.sampled_from(arrays.readings(shape, hints)[:-1]))
    roles, part = reading.split(" × "), data.draw(st.sampled_from(PARTS))
    sizes = dict(zip(roles, shape, strict=True))
    places = {role: data.draw(st.integers(MAXIMUM, sizes[role] - 1)) for role in roles if slides(role)}
    sample = data.draw(st.integers(0, sizes.get("sample", 1) - 1))
    maps = arrays.as_maps(array, sample=sample, reading=reading, hints=hints, places=places, part=part)
    assert maps.samples == sizes.get("sample", 1)
    assert {one.role: (one.size, one.place) for one in maps.sliders} == {
        role: (sizes[role], place) for role, place in places.items()
    }
    spot = tuple(data.draw(st.integers(0, size - 1)) for size in maps.values.shape)
    if maps.colours is not None:
        seen = maps.colours[spot]
        want = [array[spot[0], colour, spot[1], spot[2]] for colour in range(3)]
        want = [number_of(value, part) for value in want]
        np.testing.assert_allclose(seen, np.float32(want), rtol=1e-6)
        assert maps.values[spot] == pytest.approx(np.mean(want), rel=1e-5, abs=1e-5)
        return
    if maps.layout == "bars" and "token" in roles:
        spot = (0, 0, spot[2])
    if reading == "row":
        spot = (0, spot[1], 0)
    want = expected(array, reading, maps, spot, sample, places, part)
    assert maps.values[spot] == pytest.approx(want, rel=1e-6, abs=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 9), st.integers(2, 9), st.integers(0, 9), st.integers(1, 6), st.data())
def test_tokens_lie_at_their_places_in_a_grid_of_the_pictures_shape(rows, columns, leading, patch, data):
    if rows * columns < 16:
        return
    hints = Hints(leading=leading, pictures=((rows * patch, columns * patch),))
    tokens = SEED(rows).normal(size=(2, leading + rows * columns, 5)).astype(np.float32)
    maps = arrays.as_maps(tokens, sample=1, reading="sample × token in a grid × feature", hints=hints)
    assert maps.values.shape == (5, rows, columns)
    row, column = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    for feature in range(5):
        assert maps.values[feature, row, column] == tokens[1, leading + row * columns + column, feature]
    if leading:
        np.testing.assert_array_equal(maps.apart, tokens[1, :leading])
    else:
        assert maps.apart is None


VIT = Hints("EncoderBlock", pictures=((224, 224),), leading=1, rank=2)
TEXT = Hints("EncoderBlock", pictures=(), rank=0)
GUESSES = [
    ((2, 3, 4, 5), Hints(), "sample × channel × row × column"),
    ((3, 4, 5), Hints(), "channel × row × column"),
    ((1, 7, 5), Hints(), "sample × token × feature"),
    ((1, 197, 32), Hints(), "sample × token in a grid × feature"),
    ((8, 197, 197), VIT, "sample × token in a grid × feature"),
    ((1, 261, 384), Hints("NestedTensorBlock", pictures=((224, 224),)), "sample × token in a grid × feature"),
    ((1, 99, 64), Hints("Block", pictures=((112, 224),), leading=1), "sample × token in a grid × feature"),
    ((197, 1, 768), VIT, "token in a grid × sample × feature"),
    ((2, 64, 128), TEXT, "sample × token × feature"),
    ((2, 49, 24), Hints(), "sample × token in a grid × feature"),
    ((1, 12, 197, 197), VIT, "sample × head × query × key"),
    (
        (1, 24, 80, 80),
        Hints("InvertedResidual", pictures=((320, 480), (320, 320)), rank=2),
        "sample × channel × row × column",
    ),
    (
        (1, 24, 80, 80),
        Hints("InvertedResidual", pictures=((320, 480),), rank=2),
        "sample × channel × row × column",
    ),
    ((1, 8, 65, 65), Hints("Block", pictures=((64, 64),)), "sample × head × query × key"),
    ((1, 8, 64, 64), Hints("Block", pictures=((64, 64), (512, 512))), "sample × channel × row × column"),
    ((2, 4, 9, 9), Hints("Softmax", "dim=-1"), "sample × head × query × key"),
    ((2, 4, 9, 9), Hints("Softmax", "dim=1"), "sample × channel × row × column"),
    ((2, 4, 9, 9), Hints("softmax"), "sample × head × query × key"),
    ((2, 4, 7, 9), Hints("MultiheadAttention", leaf="[1]"), "sample × head × query × key"),
    ((2, 7, 9), Hints("MultiheadAttention", leaf="[1]"), "sample × query × key"),
    ((2, 1, 9, 9), Hints("SpatialAttention"), "sample × channel × row × column"),
    ((1, 14, 14, 96), Hints(), "sample × row × column × channel"),
    ((1, 14, 28, 96), Hints("SwinBlock", pictures=((224, 448),)), "sample × row × column × channel"),
    ((1, 96, 14, 28), Hints("Conv2d", pictures=((224, 448),)), "sample × channel × row × column"),
    ((1, 5, 7, 96), Hints("LayerNorm", "(96,)"), "sample × row × column × channel"),
    ((1, 96, 7, 7), Hints("LayerNorm2d", "(96,)"), "sample × channel × row × column"),
    ((1, 16, 100), Hints("Conv1d"), "sample × channel × time"),
    ((1, 16, 100), Hints("ReLU", rank=1), "sample × channel × time"),
    ((20, 2, 8), Hints("LSTM", "4, 8", "[0]"), "time × sample × feature"),
    ((2, 20, 8), Hints("GRU", "4, 8, batch_first=True", "[0]"), "sample × time × feature"),
    ((3, 2, 8), Hints("LSTM", "4, 8, num_layers=3", "[1][0]"), "layer × sample × feature"),
    ((20, 8), Hints("LSTM", "4, 8", "[0]"), "time × feature"),
    ((2, 8), Hints("LSTMCell", "4, 8"), "sample × feature"),
    ((1, 2, 3, 4, 5), Hints(), "sample × channel × depth × row × column"),
    ((1, 16, 3, 32, 32), Hints(), "sample × frame × channel × row × column"),
    ((1, 16, 3, 32, 32), Hints("Conv3d"), "sample × channel × depth × row × column"),
    ((2, 10), Hints(), "sample × feature"),
    ((10,), Hints(), "feature"),
    ((), Hints(), "number"),
    ((2, 1, 2, 3, 4, 5), Hints(), "sample × axis 1 × axis 2 × channel × row × column"),
    ((0, 3), Hints(), "table"),
    ((64, 3, 7, 7), Hints("Conv2d", weight=True), "output channel × colour × row × column"),
    ((64, 32, 3, 3), Hints("Conv2d", weight=True), "output channel × input channel × row × column"),
    ((64, 32, 3), Hints("Conv1d", weight=True), "output channel × input channel × time"),
    ((10, 64), Hints("Linear", weight=True), "output × input"),
    ((64,), Hints("BatchNorm2d", weight=True), "feature"),
    ((1, 197, 64), Hints("Encoder", weight=True), "sample × token in a grid × feature"),
]


@pytest.mark.parametrize(("shape", "hints", "reading"), GUESSES)
def test_the_guess_goes_by_shape_and_by_what_the_module_says(shape, hints, reading):
    assert arrays.readings(shape, hints)[0] == reading
    assert arrays.as_maps(np.zeros(shape, np.float32), hints=hints).reading == reading


@pytest.mark.parametrize(
    ("shape", "layout", "values", "axes"),
    [
        ((1, 197, 32), "maps", (32, 14, 14), "feature × row × column of the tokens' grid, 1 token before it"),
        ((1, 14, 14, 96), "maps", (96, 14, 14), "channel × row × column (stored channels last)"),
        ((1, 2, 3, 4, 5), "maps", (2, 4, 5), "channel × row × column"),
        ((2, 10), "bars", (1, 1, 10), "feature"),
        ((), "number", (1, 1, 1), "one number"),
        ((2, 1, 2, 3, 4, 5), "maps", (3, 4, 5), "channel × row × column"),
        ((0, 3), "table", (1, 0, 3), "table of 0×3, the last axis along the columns"),
    ],
)
def test_every_shape_has_a_layout_and_axes_in_words(shape, layout, values, axes):
    maps = arrays.as_maps(np.zeros(shape, np.float32))
    assert (maps.layout, maps.values.shape, maps.axes.removesuffix(" left out")) == (layout, values, axes)


def test_each_reading_stands_once_and_the_table_last():
    for axes in range(8):
        for hints in (Hints(), Hints(weight=True)):
            found = arrays.readings((4, 3, 4, 5, 2, 3, 2)[:axes], hints)
            assert len(found) == len(set(found))
            assert found[-1] == "table"


def test_signals_are_lines_and_a_class_token_alone_is_bars():
    maps = arrays.as_maps(np.zeros((2, 6, 50), np.float32), hints=Hints("Conv1d"))
    assert (maps.layout, maps.values.shape) == ("lines", (6, 1, 50))
    assert arrays.as_maps(np.zeros((1, 1, 32), np.float32)).layout == "bars"


def test_a_sample_is_chosen_from_a_batch_without_a_copy():
    array = SEED(0).normal(size=(3, 4, 5, 6)).astype(np.float32)
    maps = arrays.as_maps(array, sample=2)
    assert maps.samples == 3
    assert np.shares_memory(maps.values, array)
    np.testing.assert_array_equal(maps.values, array[2])


def test_the_slices_of_a_volume_are_named_and_stand_in_rows():
    volume = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(1, 2, 3, 4, 5)
    maps = arrays.as_maps(volume, reading="sample × channel × slice × row × column")
    assert (maps.titles[4], maps.across) == ("c1 z1", 3)
    np.testing.assert_array_equal(maps.values[4], volume[0, 1, 1])


def test_a_volume_starts_in_its_middle_and_a_place_beyond_the_end_is_the_last():
    volume = SEED(0).normal(size=(1, 2, 5, 4, 4)).astype(np.float32)
    assert arrays.as_maps(volume).sliders[0].place == 2
    maps = arrays.as_maps(volume, places={"depth": 99})
    assert maps.sliders[0].place == 4
    np.testing.assert_array_equal(maps.values, volume[0, :, 4])


def test_nan_is_not_lost_in_a_maximum():
    volume = np.zeros((1, 1, 3, 2, 2), np.float32)
    volume[0, 0, 1, 0, 0] = np.nan
    assert np.isnan(arrays.as_maps(volume, places={"depth": MAXIMUM}).values[0, 0, 0])


def test_what_was_padded_is_left_out_of_a_sequence():
    padded = SEED(0).normal(size=(4, 2, 3)).astype(np.float32)
    padded[2:, 1] = np.nan
    maps = arrays.as_maps(padded, sample=1, reading="time × sample × feature", lengths=(4, 2))
    assert maps.longest == 4
    np.testing.assert_array_equal(maps.values, padded[:2, 1].T[None])


def test_numbers_keep_their_digits():
    assert arrays.as_maps(np.array(2**53 - 1)).values.item() == 2**53 - 1
    assert arrays.as_maps(np.array([3 + 4j])).values.item() == 5


def test_a_reading_and_a_part_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="cannot be read"):
        arrays.as_maps(np.zeros((2, 2)), reading="channel × row × column")
    with pytest.raises(ValueError, match="unknown part"):
        arrays.as_maps(np.zeros((2, 2), np.complex64), part="angle")
