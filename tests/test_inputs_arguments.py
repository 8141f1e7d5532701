"""Several arguments at once: by name, by place, from text and from a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from brought import sentence
from PIL import Image
from torch import nn

import hookviewer as hv
from hookviewer import inputs
from hookviewer.inputs import Argument, signature


class Masked(nn.Module):
    """Takes two tensors, a number, a switch and a word."""

    def forward(
        self,
        x: torch.Tensor,
        mask: torch.Tensor,
        scale: float = 1.0,
        *,
        flip: bool = False,
        how: str = "sum",
    ) -> torch.Tensor:
        made = x * mask * scale
        made = -made if flip else made
        return made.sum() if how == "sum" else made


class Open(nn.Module):
    def forward(self, *pictures: torch.Tensor, **more: Any) -> torch.Tensor:
        return sum(pictures) + sum(more.values())


class Matching(nn.Module):
    """Takes a picture and one number for each channel."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, picture: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        return self.conv(picture) * weights[:, :, None, None]


def run(model: nn.Module, given: hv.Input) -> torch.Tensor:
    return model(*given.args, **given.kwargs)


def test_the_signature_names_every_argument() -> None:
    assert signature(Masked()) == (
        Argument("x", "positional", "torch.Tensor"),
        Argument("mask", "positional", "torch.Tensor"),
        Argument("scale", "positional", "float", 1.0, required=False),
        Argument("flip", "keyword", "bool", False, required=False),
        Argument("how", "keyword", "str", "sum", required=False),
    )
    assert [(one.name, one.kind, one.required) for one in signature(Open())] == [
        ("pictures", "more positional", False),
        ("more", "more keyword", False),
    ]
    wrapped = nn.DataParallel(Masked())
    assert signature(wrapped) == signature(Masked())


def test_arguments_by_name_become_positional_where_they_can() -> None:
    spec = "args:x=constant:1x2?value=3;mask=ones:1x2;scale=0.5;flip=true;how='none'"
    given = hv.open_input(spec, Masked())
    assert given.name == "x, mask, scale, flip, how"
    assert len(given.args) == 3
    assert dict(given.kwargs) == {"flip": True, "how": "none"}
    assert run(Masked(), given).tolist() == [[-1.5, -1.5]]
    assert given.spec == spec


def test_arguments_by_place_come_first_and_a_gap_stays_a_name() -> None:
    given = hv.open_input("args:ones:1x2;mask=ones:1x2;how=none", Masked())
    assert (len(given.args), dict(given.kwargs)) == (2, {"how": None})
    gap = hv.open_input("args:mask=ones:1x2;x=ones:1x2", Masked())
    assert (len(gap.args), dict(gap.kwargs)) == (2, {})
    many = hv.open_input("args:ones:2;ones:2;ones:2;extra=values:[1., 2.]", Open())
    assert run(Open(), many).tolist() == [4.0, 5.0]


def test_a_mapping_of_names_takes_specs_and_values() -> None:
    mapping = {"x": "random:1x2?seed=3", "mask": torch.ones(1, 2), "scale": 2, "how": "'none'"}
    given = hv.open_input(mapping, Masked())
    assert given.args == ()
    expected = torch.randn(1, 2, generator=torch.Generator().manual_seed(3)) * 2
    assert torch.equal(run(Masked(), given), expected)
    array = hv.open_input({"x": np.ones((1, 2)), "mask": hv.open_input("ones:1x2")}, Masked())
    assert run(Masked(), array).item() == 2


def test_a_photograph_can_be_one_of_several_arguments(tmp_path: Path) -> None:
    given = hv.open_input("args:picture=demo:coffee;weights=random:1x4", Matching())
    assert given.args[0].shape == (1, 3, 224, 224)
    assert given.image is not None
    assert given.batch == 1
    assert any(note.startswith("picture: ") for note in given.notes)
    assert run(Matching(), given).shape == (1, 4, 222, 222)
    Image.new("RGB", (5, 4), (255, 0, 0)).save(tmp_path / "red.png")
    mapped = hv.open_input({"picture": tmp_path / "red.png", "weights": "ones:1x4"}, Matching())
    assert mapped.image is not None


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("args:", "names no input"),
        ("args:x=ones:2", "and mask is not given"),
        ("args:scale=2", "x, mask are not given"),
        ("args:ones:2;x=ones:2;mask=ones:2", "by place and by name"),
        ("args:x=ones:2;x=ones:2", "given twice"),
        ("args:x=ones:2;ones:2", "stands behind one"),
        ("args:x=ones:2;mask=ones:2;scal=2", "did you mean scale"),
        ("args:1;2;3;4", "takes 3 inputs, not 4"),
        ("args:x=missing.png;mask=ones:2", "There is no file"),
        ("args:x=args:1;mask=ones:2", "stands inside arguments"),
        ("random:1x2", "and mask is not given"),
    ],
)
def test_wrong_arguments_say_what_to_write(spec: str, word: str) -> None:
    assert word in sentence(spec, Masked())


def test_an_input_of_two_arguments_is_no_single_argument() -> None:
    assert "2 arguments itself" in sentence({"x": hv.Input("two", (1, 2)), "mask": 1}, Masked())


def test_the_recording_of_several_arguments_has_them_all() -> None:
    model = Matching()
    given = hv.open_input("args:picture=random:1x3x8x8;weights=ones:1x4", model)
    recording = hv.capture(
        model, given.args, hv.HookPlan.of(model, "*", kinds={hv.Kind.INPUT}), kwargs=given.kwargs
    )
    leaves = {key.leaf for key in recording if key.path == ""}
    assert leaves == {"[0]", "[1]"}


def test_values_of_a_script_may_lack_a_model() -> None:
    given = inputs.open_input({"x": 1.5, "flag": None})
    assert dict(given.kwargs) == {"x": 1.5, "flag": None}
