"""Results live as long as what they were made from, and no longer."""

from __future__ import annotations

import gc
import weakref

from hookviewer.gui.remembered import remembered


class Owner:
    """Something that results are made from."""


class Result:
    """Something that takes memory."""


def test_a_result_is_made_once_for_equal_arguments() -> None:
    made: list[tuple[object, ...]] = []

    @remembered()
    def make(owner: Owner, *others: object) -> Result:
        made.append(others)
        return Result()

    first, second = Owner(), Owner()
    assert make(first, 1) is make(first, 1)
    assert make(first, 2) is not make(first, 1)
    assert make(second, 1) is not make(first, 1)
    assert made == [(1,), (2,), (1,)]


def test_a_result_goes_with_its_owner() -> None:
    @remembered()
    def make(owner: Owner, size: int) -> Result:
        return Result()

    owner = Owner()
    result = weakref.ref(make(owner, 1))
    gc.collect()
    assert result() is not None
    del owner
    gc.collect()
    assert result() is None


def test_only_so_many_results_are_kept_for_one_owner() -> None:
    @remembered(3)
    def make(owner: Owner, size: int) -> Result:
        return Result()

    owner = Owner()
    results = [weakref.ref(make(owner, size)) for size in range(50)]
    gc.collect()
    assert sum(result() is not None for result in results) <= 3
