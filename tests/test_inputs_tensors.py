"""Tensors from files: which entry, every type, and headers that are not believed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from brought import npy, sentence, zipped
from safetensors.torch import save_file
from torch import nn

import hookviewer as hv
from hookviewer import inputs

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.uint8, torch.bool, torch.complex64]


def values(dtype: torch.dtype) -> torch.Tensor:
    return torch.tensor([[0, 1, 2], [3, 0, 1]]).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ending", ["pt", "safetensors"])
def test_a_tensor_keeps_its_type(tmp_path: Path, dtype: torch.dtype, ending: str) -> None:
    path = tmp_path / f"x.{ending}"
    if ending == "pt":
        torch.save(values(dtype), path)
    else:
        save_file({"x": values(dtype)}, path)
    given = hv.open_input(path)
    assert given.args[0].dtype == dtype
    assert torch.equal(given.args[0], values(dtype))
    assert given.batch == 2
    (entry,) = inputs.entries(path)
    assert entry.shape == (2, 3)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_entry_of_several_is_chosen_by_name(tmp_path: Path, save: object) -> None:
    arrays = {"x": np.arange(6.0).reshape(2, 3), "mask": np.array([True, False])}
    assert callable(save)
    save(tmp_path / "two.npz", **arrays)
    given = hv.open_input(f"{tmp_path / 'two.npz'}?entry=mask")
    assert given.name == "two mask"
    assert given.args[0].tolist() == [True, False]
    told = sentence(tmp_path / "two.npz")
    assert "holds 2 tensors (x, mask): choose one with ?entry=x." in told
    assert "did you mean mask" in sentence(f"{tmp_path / 'two.npz'}?entry=mas")
    assert inputs.entries(tmp_path / "two.npz") == (
        inputs.Entry("x", (2, 3), "float64"),
        inputs.Entry("mask", (2,), "bool"),
    )


def test_the_only_entry_needs_no_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", np.ones((1, 3)))
    assert hv.open_input(tmp_path / "one.npz").args[0].shape == (1, 3)
    torch.save({"x": torch.ones(2, 2)}, tmp_path / "one.pt")
    assert hv.open_input(tmp_path / "one.pt").args[0].shape == (2, 2)


def test_tensors_inside_dictionaries_and_lists_have_names(tmp_path: Path) -> None:
    torch.save({"step": 3, "batch": [torch.zeros(1), {"x": torch.ones(2, 2)}]}, tmp_path / "deep.pt")
    assert [entry.name for entry in inputs.entries(tmp_path / "deep.pt")] == ["batch.0", "batch.1.x"]
    assert hv.open_input(f"{tmp_path / 'deep.pt'}?entry=batch.1.x").args[0].shape == (2, 2)
    torch.save({"step": 3}, tmp_path / "none.pt")
    assert "holds no tensor" in sentence(tmp_path / "none.pt")


def test_a_type_can_be_asked_for(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(6, dtype=np.uint8).reshape(2, 3))
    given = hv.open_input(f"{tmp_path / 'a.npy'}?dtype=bfloat16")
    assert given.args[0].dtype == torch.bfloat16
    assert "write float32" in sentence(f"{tmp_path / 'a.npy'}?dtype=float7")
    assert "choose one of entry, dtype" in sentence(f"{tmp_path / 'a.npy'}?size=3x3")


def test_bfloat16_saved_by_numpy_is_read_as_such(tmp_path: Path) -> None:
    bits = torch.tensor([[1.5, -2.0]]).bfloat16().view(torch.int16).numpy().astype("<i2")
    (tmp_path / "b.npy").write_bytes(npy("|V2", (1, 2), bits.tobytes()))
    assert hv.open_input(tmp_path / "b.npy").args[0].tolist() == [[1.5, -2.0]]


def test_an_array_in_columns_keeps_its_values(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))
    np.save(tmp_path / "f.npy", array)
    assert np.array_equal(hv.open_input(tmp_path / "f.npy").args[0].numpy(), array)
    np.save(tmp_path / "number.npy", np.float32(3))
    assert hv.open_input(tmp_path / "number.npy").args[0].item() == 3
    np.save(tmp_path / "empty.npy", np.zeros((0, 3)))
    assert hv.open_input(tmp_path / "empty.npy").args[0].shape == (0, 3)


def test_a_batch_stays_a_batch_and_says_how_many(tmp_path: Path) -> None:
    np.save(tmp_path / "batch.npy", np.zeros((5, 3, 8, 8), dtype=np.float32))
    np.save(tmp_path / "one.npy", np.zeros((3, 8, 8), dtype=np.float32))
    model = nn.Conv2d(3, 2, 3)
    assert hv.open_input(tmp_path / "batch.npy", model).batch == 5
    assert hv.open_input(tmp_path / "one.npy", model).batch == 1  # the model takes one axis more
    assert hv.open_input(torch.zeros(4, 3, 8, 8)).batch == 4
    assert hv.Input("mine", (torch.zeros(6, 2),)).batch == 6
    assert hv.Input("list", ([torch.zeros(3, 4, 4)] * 2,)).batch == 2
    assert hv.open_input("demo:chelsea", model).batch == 1


@pytest.mark.parametrize(
    ("shape", "descr", "content"),
    [
        ((1000000, 1000000), "<f4", b"\0" * 64),
        ((2**62, 2**62), "<f8", b"\0" * 64),
        ((-1, 3), "<f4", b"\0" * 64),
        ((4, 4), "<f4", b"\0" * 60),
        ((4,), "|O", b"\0" * 64),
        ((4,), "<M8[s]", b"\0" * 64),
        ((4,), "<U5", b"\0" * 100),
        (("a",), "<f4", b"\0" * 64),
        ((4,), "nonsense", b"\0" * 64),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_header_that_lies_or_says_no_numbers_is_refused(
    tmp_path: Path, shape: tuple[int, ...], descr: str, content: bytes, packed: bool
) -> None:
    whole = npy(descr, shape, content)
    path = tmp_path / "a.npy"
    if packed:
        path = zipped(tmp_path / "a.npz", {"a.npy": whole})
    else:
        path.write_bytes(whole)
    told = sentence(path)
    assert "plain array" in told or "which torch does not know" in told


def test_a_tensor_that_repeats_its_storage_to_fill_the_memory_is_refused(tmp_path: Path) -> None:
    torch.save({"x": torch.ones(1).expand(10**9), "y": torch.ones(3, 1).expand(3, 4)}, tmp_path / "big.pt")
    assert (tmp_path / "big.pt").stat().st_size < 10_000
    assert "repeats 4 bytes" in sentence(f"{tmp_path / 'big.pt'}?entry=x")
    assert torch.equal(hv.open_input(f"{tmp_path / 'big.pt'}?entry=y").args[0], torch.ones(3, 4))


def test_sparse_tensors_and_objects_say_what_to_save(tmp_path: Path) -> None:
    torch.save(torch.eye(3).to_sparse(), tmp_path / "sparse.pt")
    assert ".to_dense()" in sentence(tmp_path / "sparse.pt")
    torch.save(nn.Linear(2, 2), tmp_path / "module.pt")
    assert "could run code" in sentence(tmp_path / "module.pt")


def test_parameters_lose_their_gradient_and_numpy_arrays_are_taken(tmp_path: Path) -> None:
    torch.save({"w": nn.Parameter(torch.ones(2, 2)), "n": np.arange(3)}, tmp_path / "both.pt")
    given = hv.open_input(f"{tmp_path / 'both.pt'}?entry=w")
    assert not given.args[0].requires_grad
    assert hv.open_input(f"{tmp_path / 'both.pt'}?entry=n").args[0].tolist() == [0, 1, 2]


def test_other_files_have_no_entries(tmp_path: Path) -> None:
    assert inputs.entries(tmp_path / "photo.jpg") == ()
