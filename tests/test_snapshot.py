from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import hookviewer as hv
from hookviewer import HookViewerError, Key, Kind
from hookviewer.snapshot import Budget, snapshot

KEY = Key("m", Kind.OUTPUT)


def shot(tensor: torch.Tensor, budget: int = 1 << 20) -> hv.Record:
    return snapshot(KEY, tensor, Budget(budget))


def test_a_snapshot_is_own_memory_in_c_order() -> None:
    tensor = torch.arange(12.0).reshape(3, 4).t()
    record = shot(tensor)
    tensor.zero_()
    assert record.array().tolist() == np.arange(12.0).reshape(3, 4).T.tolist()
    assert record.array().flags.c_contiguous
    assert not record.array().flags.writeable


def test_nobody_can_change_a_record() -> None:
    record = shot(torch.ones(2))
    record.tensor().zero_()
    with pytest.raises(ValueError, match="read-only"):
        record.array()[0] = 5
    assert record.array().tolist() == [1.0, 1.0]


def special() -> dict[str, tuple[torch.Tensor, Any]]:
    ones = torch.tensor([1.0, 2.0])
    return {
        "bfloat16": (ones.bfloat16(), [1.0, 2.0]),
        "fp8": (ones.to(torch.float8_e4m3fn), [1.0, 2.0]),
        "bool": (ones > 1, [False, True]),
        "int64": (torch.tensor([2**40]), [2**40]),
        "uint16": (torch.tensor([3], dtype=torch.uint16), [3]),
        "complex": (torch.tensor([1 + 2j]).conj(), [1 - 2j]),
        "complex32": (torch.tensor([1 + 2j], dtype=torch.complex32), [1 + 2j]),
        "negative view": (torch.tensor([1 + 2j]).conj().imag, [-2.0]),
        "sparse": (torch.tensor([[0.0, 3.0]]).to_sparse(), [[0.0, 3.0]]),
        "expanded": (torch.ones(1).expand(2, 3), [[1.0] * 3] * 2),
        "0-d": (torch.tensor(5.0), 5.0),
        "empty": (torch.empty(0, 3), []),
        "requires grad": (torch.ones(1, requires_grad=True) * 2, [2.0]),
        "quantized": (torch.quantize_per_tensor(ones, 0.5, 0, torch.quint8), [1.0, 2.0]),
    }


NAMES = [
    "bfloat16",
    "fp8",
    "bool",
    "int64",
    "uint16",
    "complex",
    "complex32",
    "negative view",
    "sparse",
    "expanded",
    "0-d",
    "empty",
    "requires grad",
    "quantized",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_any_kind_of_tensor_can_be_read(name: str) -> None:
    tensor, expected = special()[name]
    record = shot(tensor)
    assert record.array().tolist() == expected
    assert record.dtype == tensor.dtype
    assert record.shape == tuple(tensor.shape)


def test_nested_tensors_are_padded_with_empty_cells() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nested = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])
    record = shot(nested)
    assert np.isnan(record.array()).tolist() == [[False, True], [False, False]]
    assert "padded" in record.notes[0]


def test_a_tensor_on_meta_has_a_shape_and_a_reason() -> None:
    record = shot(torch.empty(2, 3, device="meta"))
    assert record.shape == (2, 3)
    with pytest.raises(HookViewerError, match="no values"):
        record.array()


def test_inside_vmap_there_is_a_reason() -> None:
    seen: list[hv.Record] = []

    def look(t: torch.Tensor) -> torch.Tensor:
        seen.append(shot(t))
        return t

    torch.vmap(look)(torch.ones(2, 3))
    assert "vmap" in seen[0].missing


def test_over_budget_the_statistics_are_kept_and_are_exact() -> None:
    tensor = torch.tensor([[1.0, -2.0, 0.0, torch.nan]])
    record = shot(tensor, budget=8)
    with pytest.raises(HookViewerError, match="budget"):
        record.array()
    numbers = hv.statistics(record)
    assert (numbers.count, numbers.zeros, numbers.nan, numbers.min, numbers.max) == (4, 1, 1, -2.0, 1.0)
    assert record.nbytes == 0


def test_a_huge_expanded_tensor_costs_neither_time_nor_memory() -> None:
    record = shot(torch.tensor([[1.0], [3.0]]).expand(2, 10**12))
    numbers = hv.statistics(record)
    assert (numbers.count, numbers.mean, numbers.max) == (2 * 10**12, 2.0, 3.0)
    assert numbers.l2 == pytest.approx((10 * 10**12) ** 0.5)


def test_the_budget_is_for_all_tensors_together() -> None:
    budget = Budget(20)
    kept = [snapshot(KEY, torch.ones(2), budget).kept is not None for _ in range(3)]
    assert kept == [True, True, False]
