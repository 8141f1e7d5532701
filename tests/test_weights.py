"""Weights as people bring them: places, prefixes, differences, and what a person may allow."""

from __future__ import annotations

import argparse
import collections
import json
import time
from pathlib import Path, PosixPath

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import hookviewer as hv
from hookviewer.sources import WeightsMismatch, WeightsOnly, architectures, card, match, open_model
from hookviewer.sources.weights import load_weights

LINEAR = "torch.nn:Linear?in_features=2&out_features=2"


def state(value: float = 1.0) -> dict[str, torch.Tensor]:
    return {"weight": torch.full((2, 2), value), "bias": torch.full((2,), value)}


def bias(model: nn.Module) -> list[float]:
    return model.get_parameter("bias").tolist()


def mismatch(file: Path, **options: object) -> WeightsMismatch:
    with pytest.raises(WeightsMismatch) as caught:
        open_model(LINEAR, weights=file, **options)  # type: ignore[arg-type]
    return caught.value


# ------------------------------------------------------------------ where in the file


@pytest.mark.parametrize(
    "place", ["state_dict", "model", "model_state_dict", "net", "ema", "a.b.model", "model.state_dict"]
)
@pytest.mark.parametrize("ending", ["pt", "pth", "ckpt", "bin"])
def test_the_state_dict_inside_a_checkpoint_is_found(tmp_path: Path, place: str, ending: str) -> None:
    content: object = state(7)
    for name in reversed(place.split(".")):
        content = {"epoch": 3, name: content, "optimizer": {"state": {0: {"step": torch.ones(1)}}}}
    torch.save(content, tmp_path / f"w.{ending}")
    assert bias(open_model(LINEAR, weights=tmp_path / f"w.{ending}")) == [7.0, 7.0]


def test_of_several_state_dicts_one_can_be_chosen_and_the_others_are_named(tmp_path: Path) -> None:
    torch.save({"model": state(1), "ema": state(2)}, tmp_path / "w.pt")
    first, second = (
        open_model(LINEAR, weights=tmp_path / "w.pt"),
        open_model(LINEAR, weights=f"{tmp_path}/w.pt?key=ema"),
    )
    assert (bias(first), bias(second)) == ([1.0, 1.0], [2.0, 2.0])
    assert "ema" in card(first).notes[1]
    with pytest.raises(hv.HookViewerError, match="choose from model, ema"):
        open_model(LINEAR, weights=f"{tmp_path}/w.pt?key=avg")
    torch.save(state(), tmp_path / "plain.pt")
    with pytest.raises(hv.HookViewerError, match=r"no state dict 'ema': .* leave \?key= out\.$"):
        open_model(LINEAR, weights=f"{tmp_path}/plain.pt?key=ema")


def test_weights_in_several_safetensors_files_are_put_together(tmp_path: Path) -> None:
    save_file({"weight": torch.ones(2, 2)}, tmp_path / "a.safetensors")
    save_file({"bias": torch.ones(2)}, tmp_path / "b.safetensors")
    index = {"metadata": {}, "weight_map": {"weight": "a.safetensors", "bias": "b.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert bias(open_model(LINEAR, weights=tmp_path / "model.safetensors.index.json")) == [1.0, 1.0]
    index["weight_map"]["more"] = "b.safetensors"
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(hv.HookViewerError, match=r"names more, which b\.safetensors does not hold"):
        open_model(LINEAR, weights=tmp_path / "model.safetensors.index.json")


def test_plain_values_of_a_checkpoint_need_no_trust(tmp_path: Path) -> None:
    beside = {
        "options": argparse.Namespace(width=3),
        "best": np.float64(0.5),
        "history": np.arange(3.0),
        "paths": Path("runs"),
        "counts": collections.defaultdict(list, {"a": [1]}),
    }
    torch.save({"state_dict": state(4), **beside}, tmp_path / "w.ckpt")
    assert bias(open_model(LINEAR, weights=tmp_path / "w.ckpt")) == [4.0, 4.0]
    ours = {argparse.Namespace, collections.defaultdict, np.ndarray, PosixPath}
    assert ours.isdisjoint(torch.serialization.get_safe_globals())  # the list is torch's own again


def test_half_precision_is_loaded_and_said(tmp_path: Path) -> None:
    torch.save({name: one.half() for name, one in state(0.5).items()}, tmp_path / "w.pt")
    model = open_model(LINEAR, weights=tmp_path / "w.pt")
    assert model.get_parameter("bias").dtype is torch.float32
    assert "float16" in card(model).notes[-1]


# ------------------------------------------------------------------ names and shapes


@pytest.mark.parametrize(
    "prefix",
    ["module.", "_orig_mod.", "model.", "net.", "module._orig_mod.", "model.module.", "model._orig_mod."],
)
def test_prefixes_are_taken_off_and_told(prefix: str) -> None:
    found = match(nn.Linear(2, 2), {f"{prefix}{name}": one for name, one in state().items()})
    assert found.exact
    assert found.renamed == {f"{prefix}weight": "weight", f"{prefix}bias": "bias"}


def test_a_prefix_that_the_model_itself_has_stays() -> None:
    model = nn.Module()
    model.model = nn.Linear(2, 2)
    found = match(model, {f"model.{name}": one for name, one in state().items()})
    assert found.exact
    assert not found.renamed


def test_wrappers_inside_a_path_are_taken_off() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    assert match(model, {f"0._orig_mod.{name}": one for name, one in state().items()}).exact


def test_what_stands_beside_a_prefixed_network_is_unexpected() -> None:
    given = {f"model.{name}": one for name, one in state().items()} | {"loss.weight": torch.ones(3)}
    assert match(nn.Linear(2, 2), given).unexpected == ("loss.weight",)


def test_a_match_lists_every_difference_and_loads_nothing() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 3))
    before = {name: one.clone() for name, one in model.state_dict().items()}
    found = match(model, {"0.weight": torch.ones(2, 2), "0.bias": torch.ones(9), "extra": torch.ones(1)})
    assert found.missing == ("1.weight", "1.bias")
    assert found.unexpected == ("extra",)
    assert found.mismatched == (("0.bias", (9,), (2,)),)
    assert found.fitting == ("0.weight",)
    assert found.in_model == {"1.weight": (3, 2), "1.bias": (3,)}
    assert found.in_file == {"extra": (1,)}
    assert not found.exact
    assert all(torch.equal(one, before[name]) for name, one in model.state_dict().items())


def test_lazy_modules_take_the_shapes_of_the_file() -> None:
    model = nn.LazyLinear(2)
    assert match(model, state()).exact
    assert match(model, {}).in_model == {}  # its shapes are not known yet


def test_files_from_before_batches_were_counted_fit() -> None:
    norm = nn.BatchNorm1d(3)
    old = {name: one for name, one in norm.state_dict().items() if name != "num_batches_tracked"}
    assert match(norm, old).exact


# ------------------------------------------------------------------ what a person may decide


def test_nothing_is_left_out_without_a_decision(tmp_path: Path) -> None:
    torch.save({"weight": torch.ones(2, 2), "head": torch.ones(1)}, tmp_path / "w.pt")
    error = mismatch(tmp_path / "w.pt")
    assert error.match.missing == ("bias",)
    assert error.path == tmp_path / "w.pt"
    assert "?allow=missing,unexpected" in str(error)
    assert mismatch(tmp_path / "w.pt", weights_allow=["missing"]).match.unexpected == ("head",)


def test_what_was_allowed_is_left_out_and_the_card_says_so(tmp_path: Path) -> None:
    torch.save({"weight": torch.ones(2, 2), "bias": torch.ones(5), "head": torch.ones(1)}, tmp_path / "w.pt")
    torch.manual_seed(3)
    fresh = nn.Linear(2, 2)
    for options in (
        {"weights": tmp_path / "w.pt", "weights_allow": ("mismatched", "unexpected")},
        {"weights": f"{tmp_path}/w.pt?allow=mismatched,unexpected"},
    ):
        torch.manual_seed(3)
        model = open_model(LINEAR, **options)  # type: ignore[arg-type]
        assert model.get_parameter("weight").tolist() == [[1.0, 1.0], [1.0, 1.0]]
        assert bias(model) == fresh.bias.tolist()
        assert any(note.startswith("Warning: 1 tensor was loaded") for note in card(model).notes)


def test_a_file_of_which_nothing_fits_is_refused_whatever_was_allowed(tmp_path: Path) -> None:
    torch.save({"x": torch.ones(1)}, tmp_path / "w.pt")
    error = mismatch(tmp_path / "w.pt", weights_allow=("missing", "unexpected"))
    assert "Nothing in it fits" in str(error)


def test_a_wrong_word_names_the_right_ones(tmp_path: Path) -> None:
    torch.save(state(), tmp_path / "w.pt")
    with pytest.raises(hv.HookViewerError, match="missing"):
        load_weights(nn.Linear(2, 2), tmp_path / "w.pt", allow=["mising"])


# ------------------------------------------------------------------ files that hold only weights


def weights_only(file: Path) -> WeightsOnly:
    with pytest.raises(WeightsOnly) as caught:
        open_model(str(file))
    return caught.value


@pytest.mark.parametrize(
    ("name", "options", "spec"),
    [
        ("resnet18", {}, "torchvision.models:resnet18"),
        ("mobilenet_v3_small", {"num_classes": 7}, "torchvision.models:mobilenet_v3_small?num_classes=7"),
        ("squeezenet1_1", {}, "torchvision.models:squeezenet1_1"),
        ("shufflenet_v2_x0_5", {}, "torchvision.models:shufflenet_v2_x0_5"),
        ("r3d_18", {}, "torchvision.models.video:r3d_18"),
        ("raft_small", {}, "torchvision.models.optical_flow:raft_small"),
    ],
)
@pytest.mark.parametrize("ending", ["safetensors", "pt"])
def test_a_network_of_torchvision_is_recognised_by_its_weights(
    tmp_path: Path, name: str, options: dict[str, int], spec: str, ending: str
) -> None:
    from torchvision import models

    network = models.get_model(name, weights=None, **options)
    content = {f"module.{name}": one for name, one in network.state_dict().items()}
    file = tmp_path / f"w.{ending}"
    save_file(content, file) if ending == "safetensors" else torch.save({"state_dict": content}, file)
    error = weights_only(file)
    assert error.architectures[0].spec == spec
    assert error.tensors == len(content)
    assert error.numbers == sum(one.numel() for one in content.values())
    assert f"{error.tensors:,} tensors" in str(error)
    assert f"--weights {file}" in str(error)
    model = open_model(spec, weights=file)
    assert all(torch.equal(one, content[f"module.{n}"]) for n, one in model.state_dict().items())


def test_other_weights_are_described_without_a_guess(tmp_path: Path) -> None:
    torch.save(state(), tmp_path / "w.pt")
    error = weights_only(tmp_path / "w.pt")
    assert (error.tensors, error.numbers, error.architectures) == (2, 6, ())
    assert "name the network they belong to" in str(error)


def test_a_body_with_another_head_is_recognised_as_such() -> None:
    from torchvision import models

    network = models.resnet18()
    network.fc = nn.Sequential(nn.Linear(512, 9), nn.ReLU(), nn.Linear(9, 2))
    shapes = {name: tuple(one.shape) for name, one in network.state_dict().items()}
    (found,) = architectures.recognised(shapes)
    assert found == architectures.Architecture("torchvision.models:resnet18", False)


def test_describing_a_file_reads_no_numbers_and_is_quick(tmp_path: Path) -> None:
    torch.save({f"layer{k}.weight": torch.zeros(100, 1000) for k in range(200)}, tmp_path / "w.pt")
    began = time.perf_counter()
    assert weights_only(tmp_path / "w.pt").numbers == 20_000_000
    assert time.perf_counter() - began < 5
