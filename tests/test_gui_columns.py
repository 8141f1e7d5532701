"""From recordings to the columns of the wall, with values computed by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from hookviewer.gui.columns import MOST_COLUMNS, resolve
from hookviewer.gui.state import Guess, InputItem, Look, Run, RunError, Selection, Settings, Shown
from hookviewer.inputs import Input
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record, Recording


def _record(kind: Kind, values: torch.Tensor) -> Record:
    return Record(Key("conv", kind), tuple(values.shape), values.dtype, kept=values.contiguous())


def _run(value: torch.Tensor, gradient: torch.Tensor | None = None, **changes: Any) -> Run:
    records = [_record(Kind.OUTPUT, value)]
    absent = {}
    if gradient is None:
        absent = {Key("conv", Kind.GRAD_OUTPUT): "No gradient reached it."}
    else:
        records.append(_record(Kind.GRAD_OUTPUT, gradient))
    recording = Recording({record.key: record for record in records}, absent)
    return Run(recording, Settings(), **{"summaries": {records[0].key: None}, **changes})  # type: ignore[dict-item]


def _items(count: int) -> tuple[InputItem, ...]:
    return tuple(
        InputItem(number, Input(f"input{number}", (torch.zeros(1),))) for number in range(1, count + 1)
    )


ONE = torch.arange(12.0).reshape(1, 3, 2, 2)
TWO = 2 * torch.arange(12.0).flip(0).reshape(1, 3, 2, 2)


def _state(runs: dict[int, Run], shown: Shown = Shown.OUTPUT, *, running: bool = False, **look: Any):
    return resolve(_items(len(runs) or 1), runs, Selection("conv", shown), Look(**look), running=running)


def test_ticked_inputs_become_lettered_columns_on_one_full_scale() -> None:
    wall = _state({1: _run(ONE), 2: _run(TWO)}, scale="full")
    assert [column.letter for column in wall.columns] == ["A", "B"]
    assert [column.title for column in wall.columns] == ["input1", "input2"]
    assert wall.levels == (0.0, 22.0)
    assert wall.scale == "full"
    np.testing.assert_array_equal(wall.columns[1].maps.values, TWO[0].numpy())


def test_one_column_needs_no_letter_and_tells_its_likeliest_class() -> None:
    wall = _state({1: _run(ONE, guesses=(Guess(285, "Egyptian cat", 0.494),))})
    assert wall.columns[0].letter == ""
    assert wall.columns[0].top == "Egyptian cat 0.49"


def test_the_difference_is_the_first_minus_the_second_around_zero() -> None:
    wall = _state({1: _run(ONE), 2: _run(TWO)}, difference=True)
    assert wall.difference is not None
    assert wall.difference.title == "A − B"
    np.testing.assert_array_equal(wall.difference.maps.values, (ONE - TWO)[0].numpy())
    low, high = wall.difference_levels
    assert low == -high


def test_a_difference_of_unlike_shapes_says_which() -> None:
    wall = _state({1: _run(ONE), 2: _run(torch.zeros(1, 3, 4, 4))}, difference=True)
    assert "3×2×2" in wall.difference.reason
    assert "3×4×4" in wall.difference.reason


def test_the_product_is_value_times_gradient_on_a_symmetric_scale() -> None:
    wall = _state({1: _run(ONE, -TWO)}, Shown.PRODUCT)
    np.testing.assert_array_equal(wall.columns[0].maps.values, (ONE * -TWO)[0].numpy())
    assert wall.scale == "symmetric"
    assert wall.colormap == "ember"


def test_grad_cam_is_the_rectified_sum_weighted_by_mean_gradients() -> None:
    gradient = torch.tensor([1.0, -2.0, 0.5]).reshape(1, 3, 1, 1).expand(1, 3, 2, 2)
    wall = _state({1: _run(ONE, gradient.contiguous())}, Shown.GRAD_CAM)
    expected = (1.0 * ONE[0, 0] - 2.0 * ONE[0, 1] + 0.5 * ONE[0, 2]).clamp(min=0)
    np.testing.assert_allclose(wall.columns[0].maps.values[0], expected.numpy())


def test_what_is_missing_says_why() -> None:
    wall = _state({1: _run(ONE)}, Shown.GRADIENT)
    assert wall.columns[0].maps is None
    assert wall.columns[0].reason == "No gradient reached it."
    failed = _state({1: _run(ONE, error=RunError("It raised.", "head"))}, Shown.GRADIENT)
    assert failed.columns[0].reason == "No gradient reached it. The run ended in head."


def test_an_input_that_was_not_run_says_so_or_waits() -> None:
    assert "F5" in _state({}).columns[0].reason
    assert _state({}, running=True).columns[0].waiting


@pytest.mark.parametrize(("sort", "order"), [("channel", [0, 1, 2]), ("mean", [2, 1, 0]), ("max", [2, 1, 0])])
def test_channels_are_sorted_by_the_first_column(sort: str, order: list[int]) -> None:
    wall = _state({1: _run(ONE), 2: _run(TWO)}, sort=sort)
    assert wall.order.tolist() == order


def test_sorting_by_difference_puts_what_differs_most_first() -> None:
    changed = ONE.clone()
    changed[0, 1] += 100
    changed[0, 0] += 1
    wall = _state({1: _run(ONE), 2: _run(changed)}, sort="difference", difference=True)
    assert wall.order.tolist() == [1, 0, 2]


def test_levels_set_by_hand_win() -> None:
    wall = _state({1: _run(ONE)}, levels=(-1.0, 1.0))
    assert wall.levels == (-1.0, 1.0)
    assert wall.scale == "set by hand"


def test_more_inputs_than_columns_are_counted() -> None:
    runs = {number: _run(ONE) for number in range(1, MOST_COLUMNS + 3)}
    wall = _state(runs)
    assert len(wall.columns) == MOST_COLUMNS
    assert wall.hidden_inputs == 2


def test_dead_channels_can_be_hidden_and_are_counted() -> None:
    values = ONE.clone()
    values[0, 1] = 0
    wall = _state({1: _run(values)}, hide_dead=True)
    assert wall.order.tolist() == [0, 2]
    assert wall.dead == 1
    alive = _state({1: _run(values), 2: _run(TWO)}, hide_dead=True)
    assert alive.order.tolist() == [0, 1, 2]
    assert alive.dead == 0


def test_where_every_channel_is_dead_none_is_hidden() -> None:
    wall = _state({1: _run(torch.zeros(1, 3, 2, 2))}, hide_dead=True)
    assert (wall.order.tolist(), wall.dead) == ([0, 1, 2], 0)


def test_pinned_channels_come_first_whatever_the_order() -> None:
    pins = Look().with_pin_turned("conv", 1)
    wall = _state({1: _run(ONE)}, sort="mean", pins=(("conv", 0), *pins, ("other", 2), ("conv", 7)))
    assert wall.order.tolist() == [0, 1, 2]
    assert wall.pinned == (0, 1)
    assert Look(pins=pins).with_pin_turned("conv", 1) == ()


def test_the_order_is_the_same_array_as_long_as_nothing_changes() -> None:
    runs = {1: _run(ONE)}
    assert _state(runs, hide_dead=True).order is _state(runs, hide_dead=True).order


def test_axes_are_read_as_chosen_where_that_is_possible() -> None:
    readings = {"conv": "sample × row × column × channel"}
    wall = _state({1: _run(ONE)}, readings=readings)
    np.testing.assert_array_equal(wall.columns[0].maps.values, np.moveaxis(ONE[0].numpy(), -1, 0))
    assert _state({1: _run(ONE)}, readings={"conv": "feature"}).columns[0].maps.values.shape == (3, 2, 2)
    assert _state({1: _run(ONE)}, readings={"other": readings["conv"]}).columns[0].maps.values.shape == (
        3,
        2,
        2,
    )


def test_a_sample_that_the_batch_does_not_have_is_said_to_be_missing() -> None:
    wall = _state({1: _run(torch.cat([ONE, TWO])), 2: _run(torch.cat([TWO, TWO, ONE]))}, sample=2)
    assert wall.columns[0].reason == "There is no sample 2 here, the batch has 2: choose another one."
    np.testing.assert_array_equal(wall.columns[1].maps.values, ONE[0].numpy())


def test_an_input_of_one_sample_shows_it_beside_another_sample_of_a_batch_and_says_so() -> None:
    wall = _state({1: _run(ONE), 2: _run(torch.cat([TWO, ONE]))}, sample=1)
    np.testing.assert_array_equal(wall.columns[0].maps.values, ONE[0].numpy())
    assert "its only sample" in wall.columns[0].top
    assert "its only sample" not in wall.columns[1].top
    assert "its only sample" not in _state({1: _run(ONE)}).columns[0].top


def test_grad_cam_goes_from_zero_to_its_peak_on_the_shared_scale() -> None:
    runs = {1: _run(ONE, torch.ones_like(ONE)), 2: _run(TWO, torch.ones_like(TWO))}
    wall = _state(runs, Shown.GRAD_CAM, difference=True)
    first, second = ONE[0].sum(0), TWO[0].sum(0)
    assert wall.levels == (0.0, float(max(first.max(), second.max())))
    assert wall.difference_levels == (
        -float((first - second).abs().max()),
        float((first - second).abs().max()),
    )
