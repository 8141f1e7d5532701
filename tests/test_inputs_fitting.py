"""Tensors from files get the axes that a network takes, and say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import hookviewer as hv
from hookviewer.inputs import ArgumentsLacking, EntryNeeded, Input, again, open_input, pictures_of

COLOUR = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
GREY = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4))
FLAT = nn.Linear(7, 2)


def saved(folder: Path, shape: tuple[int, ...], dtype: type = np.float32) -> tuple[str, torch.Tensor]:
    values: np.ndarray[Any, Any] = (np.random.default_rng(0).random(shape) * 255).astype(dtype)
    np.save(folder / "x.npy", values)
    return str(folder / "x.npy"), torch.from_numpy(values)


def tensor(given: Input) -> torch.Tensor:
    found = given.args[0]
    assert isinstance(found, torch.Tensor)
    return found


@pytest.mark.parametrize(
    ("model", "shape", "axes", "said"),
    [
        (COLOUR, (3, 8, 9), (None, 0, 1, 2), "batch of one"),
        (COLOUR, (8, 9, 3), (None, 2, 0, 1), "channels came last"),
        (COLOUR, (2, 8, 9, 3), (0, 3, 1, 2), "channels came last"),
        (COLOUR, (2, 3, 8, 9), (0, 1, 2, 3), ""),
        (COLOUR, (3, 8, 3), (None, 0, 1, 2), "batch of one"),
        (GREY, (8, 9), (None, None, 0, 1), "one channel was added"),
        (GREY, (5, 8, 9), (0, None, 1, 2), "one channel was added"),
        (GREY, (1, 8, 9), (None, 0, 1, 2), "batch of one"),
        (FLAT, (7,), (None, 0), "batch of one"),
        (FLAT, (4, 7), (0, 1), ""),
    ],
)
def test_the_axes_are_those_that_the_network_takes(
    tmp_path: Path, model: nn.Module, shape: tuple[int, ...], axes: tuple[int | None, ...], said: str
) -> None:
    file, values = saved(tmp_path, shape)
    given = open_input(file, model)
    expected = values.permute([one for one in axes if one is not None])
    assert tensor(given).shape == tuple(1 if one is None else shape[one] for one in axes)
    assert torch.equal(tensor(given).reshape(expected.shape), expected)
    assert said in " ".join(given.notes)
    assert bool(given.notes) is bool(said)
    assert given.batch == tensor(given).shape[0]
    hv.capture(model, given.args, hv.HookPlan.of(model, "*"))
    kept = open_input(f"{file}?layout=keep", model)
    assert tensor(kept).shape == shape
    assert kept.notes == ()


@pytest.mark.parametrize("shape", [(8, 9, 3), (3, 8, 9)])
def test_bytes_are_a_picture(tmp_path: Path, shape: tuple[int, ...]) -> None:
    file, values = saved(tmp_path, shape, np.uint8)
    given = open_input(file, COLOUR)
    assert given.image is not None
    assert "prepared as a picture" in given.notes[0]
    rows = values if shape[2] == 3 else values.permute(1, 2, 0)
    (picture,) = pictures_of(given)
    assert np.array_equal(np.asarray(picture.image), rows.numpy())
    assert again(given, COLOUR).args[0].equal(given.args[0])
    assert tensor(open_input(f"{file}?dtype=float32", COLOUR)).shape == shape


def test_an_argument_among_several_stays_as_it_is(tmp_path: Path) -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3)

        def forward(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.conv(x) * weight[0]
            return found

    file, _ = saved(tmp_path, (3, 8, 9))
    given = open_input(f"args:x=random:1x3x8x8;weight={file}", Two())
    assert given.args[1].shape == (3, 8, 9)
    with pytest.raises(ArgumentsLacking, match="needs 2 inputs"):
        open_input(file, Two())


def test_a_file_of_several_names_what_opens_each(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"a": np.zeros((1, 7), np.float32), "b c": np.ones((7,), np.float32)}
    np.savez(tmp_path / "two.npz", **arrays)
    with pytest.raises(EntryNeeded, match="holds 2 tensors") as caught:
        open_input(str(tmp_path / "two.npz"), FLAT)
    found = {name: tensor(open_input(spec, FLAT)) for name, spec in caught.value.specs.items()}
    assert {name: float(one.sum()) for name, one in found.items()} == {"a": 0, "b c": 7}
    assert all(one.shape == (1, 7) for one in found.values())


def test_a_detector_gets_a_list_of_pictures(tmp_path: Path) -> None:
    class Detector(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3)

        def forward(self, images: list[torch.Tensor]) -> list[torch.Tensor]:
            return [self.conv(one[None]) for one in images]

    model = Detector()
    from hookviewer.inputs.from_picture import used
    from hookviewer.inputs.preprocess import Preprocess

    used(Preprocess(batch=False), model)
    file, values = saved(tmp_path, (3, 8, 9))
    given = open_input(file, model)
    (pictures,) = given.args
    assert len(pictures) == 1
    assert torch.equal(pictures[0], values)
    assert "list of pictures" in given.notes[0]
