"""The recipe: every step against torchvision or arithmetic, in words, and there and back as text."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import hypothesis
import numpy as np
import pytest
import torch
from brought import sentence
from hypothesis import strategies as st
from PIL import Image
from torch import nn

import hookviewer as hv
from hookviewer.errors import HookViewerError
from hookviewer.inputs import Preprocess, from_options, in_words, prepare
from hookviewer.inputs.preprocess import BACKGROUNDS, FITS, INTERPOLATIONS, ORDERS, PRESETS, RANGES
from hookviewer.sources.source import split_arguments

IMAGENET: dict[str, Any] = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}


def photograph(width: int = 61, height: int = 47) -> Image.Image:
    return Image.fromarray(np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8))


def tensor(preprocess: Preprocess, image: Image.Image | None = None) -> torch.Tensor:
    return prepare(image or photograph(), preprocess).args[0]


# ------------------------------------------------------------------ against torchvision


@pytest.mark.parametrize("size", [(61, 47), (47, 61), (33, 90), (40, 40)])
@pytest.mark.parametrize("way", ["bilinear", "bicubic", "nearest"])
def test_scale_and_crop_are_those_of_torchvision(size: tuple[int, int], way: str) -> None:
    from torchvision import transforms

    oracle = transforms.Compose(
        [
            transforms.Resize(32, transforms.InterpolationMode(way)),
            transforms.CenterCrop((24, 28)),
            transforms.ToTensor(),
            transforms.Normalize(**IMAGENET),
        ]
    )
    recipe = Preprocess(height=24, width=28, short_side=32, interpolation=way, **IMAGENET)
    torch.testing.assert_close(tensor(recipe, photograph(*size)), oracle(photograph(*size))[None])


def test_the_whole_picture_is_scaled_as_torchvision_does_for_segmentation() -> None:
    from torchvision.transforms._presets import SemanticSegmentation

    for size in ((61, 47), (47, 61)):
        oracle = SemanticSegmentation(resize_size=30)(photograph(*size))
        torch.testing.assert_close(
            tensor(Preprocess(short_side=30, **IMAGENET), photograph(*size)), oracle[None]
        )


def test_a_stretched_picture_is_that_of_torchvision() -> None:
    from torchvision import transforms

    oracle = transforms.Compose(
        [transforms.Resize((30, 20)), transforms.CenterCrop((16, 18)), transforms.ToTensor()]
    )
    recipe = Preprocess(height=16, width=18, fit="stretch", resize=(30, 20))
    torch.testing.assert_close(tensor(recipe), oracle(photograph())[None])
    whole = transforms.Compose([transforms.Resize((30, 20)), transforms.ToTensor()])
    torch.testing.assert_close(
        tensor(Preprocess(height=30, width=20, fit="stretch")), whole(photograph())[None]
    )


def test_a_gray_picture_for_three_channels_is_that_of_torchvision() -> None:
    from torchvision import transforms

    oracle = transforms.Compose([transforms.Grayscale(3), transforms.ToTensor()])(photograph())
    torch.testing.assert_close(tensor(Preprocess(grey=True)), oracle[None])
    assert tensor(Preprocess(channels=1)).shape == (1, 1, 47, 61)


# ------------------------------------------------------------------ by arithmetic


def test_black_is_put_around_a_picture_that_is_fitted_in() -> None:
    image = Image.new("RGB", (40, 20), (255, 255, 255))
    made = tensor(Preprocess(height=10, width=10, fit="pad"), image)[0, 0]
    assert made[:2].max() == made[8:].max() == 0
    assert made[3:7].min() == 1


@pytest.mark.parametrize(("name", "low", "high"), [("0..1", 0, 1), ("0..255", 0, 255), ("-1..1", -1, 1)])
def test_a_range_says_what_black_and_white_become(name: str, low: float, high: float) -> None:
    image = Image.fromarray(np.array([[0, 51, 255]], dtype=np.uint8))
    made = tensor(Preprocess(channels=1, value_range=name), image)
    expected = [low, low + (high - low) * 0.2, high]
    assert made.flatten().tolist() == pytest.approx(expected, abs=1e-5)


def test_the_recipe_of_caffe_networks_is_exact() -> None:
    mean = (103.939, 116.779, 123.68)
    recipe = Preprocess(value_range="0..255", order="bgr", mean=mean, std=(1.0,) * 3)
    pixels = np.asarray(photograph()).astype(np.float64)[:, :, ::-1] - np.array(mean)
    np.testing.assert_allclose(tensor(recipe)[0].numpy(), pixels.transpose(2, 0, 1), atol=1e-4)
    given = prepare(photograph(), recipe)
    assert np.array_equal(np.asarray(given.image), np.asarray(photograph()))  # the picture is no bluer for it


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("value_range", RANGES)
def test_a_preset_gives_the_same_numbers_in_every_range(name: str, order: str, value_range: str) -> None:
    plain = Preprocess().normalised(name)
    other = Preprocess(value_range=value_range, order=order).normalised(name)
    assert plain.preset == other.preset == name
    expected = tensor(plain).flip(1) if order == "bgr" else tensor(plain)
    if name != "none":
        torch.testing.assert_close(tensor(other), expected, atol=1e-4, rtol=1e-4)


def test_numbers_of_ones_own_have_the_preset_custom() -> None:
    assert Preprocess(mean=(0.1,) * 3, std=(1.0,) * 3).preset == "custom"
    assert Preprocess(channels=1).normalised("imagenet").mean == (0.449,)


def test_one_picture_stands_for_each_frame_of_a_clip_and_several_for_theirs() -> None:
    from hookviewer.inputs.pixels import picture_of

    recipe = Preprocess(height=8, width=8, frames=4)
    still = prepare(photograph(), recipe)
    assert still.args[0].shape == (1, 3, 4, 8, 8)
    assert torch.equal(still.args[0][:, :, 0], still.args[0][:, :, 3])
    assert any("same picture stands for each" in note for note in still.notes)
    frames = [picture_of(Image.new("L", (8, 8), value)) for value in (0, 255)]
    assert prepare(frames, recipe).args[0][0, 0, :, 0, 0].tolist() == [0, 1, 1, 1]


def test_a_pair_is_two_arguments() -> None:
    given = prepare(photograph(), Preprocess(pair=True, value_range="-1..1"))
    assert [one.shape for one in given.args] == [(1, 3, 47, 61)] * 2
    assert any("no motion" in note for note in given.notes)


# ------------------------------------------------------------------ there and back


def numbers(low: float = -300, high: float = 300) -> st.SearchStrategy[tuple[float, ...]]:
    one = st.floats(low, high, allow_nan=False, width=32)
    return st.tuples(one, one, one)


RECIPES = st.builds(
    Preprocess,
    height=st.just(24) | st.none(),
    width=st.just(40),
    short_side=st.none() | st.integers(1, 500),
    mean=numbers(),
    std=numbers(1 / 64),
    interpolation=st.sampled_from(INTERPOLATIONS),
    multiple=st.integers(1, 32),
    batch=st.booleans(),
    fit=st.sampled_from(FITS),
    resize=st.none() | st.just((30, 50)),
    value_range=st.sampled_from(sorted(RANGES)),
    order=st.sampled_from(ORDERS),
    grey=st.booleans(),
    background=st.sampled_from(BACKGROUNDS),
    frames=st.integers(0, 32),
    pair=st.booleans(),
)


@hypothesis.given(RECIPES, st.booleans())
@hypothesis.settings(max_examples=50)
def test_a_recipe_comes_back_from_its_text_and_from_json(recipe: Preprocess, plain: bool) -> None:
    if recipe.height is None:
        recipe = dataclasses.replace(recipe, width=None)
    if plain:
        recipe = dataclasses.replace(recipe, mean=None, std=None)
    other = Preprocess(height=3, width=5, **IMAGENET, value_range="0..255", frames=7)
    assert other.changed(split_arguments(f"a.png?{recipe.query()}")[1]) == recipe
    assert from_options(json.loads(json.dumps(recipe.options()))) == recipe


def test_the_text_of_a_recipe_makes_the_same_input_for_any_model() -> None:
    recipe = Preprocess(height=20, width=24, short_side=30, order="bgr", value_range="-1..1", **IMAGENET)
    given = hv.open_input(f"demo:coffee?{recipe.query()}", nn.Conv2d(3, 1, 3))
    from hookviewer.inputs import pictures_of

    assert torch.equal(given.args[0], prepare(pictures_of(given), recipe).args[0])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("fit=zoom", "write crop, pad or stretch"),
        ("range=0..2", "write 0..1, 0..255 or -1..1"),
        ("order=gbr", "write rgb or bgr"),
        ("grey=maybe", "write true or false"),
        ("background=pink", "write white, black or checker"),
        ("interpolation=best", "write nearest"),
        ("channels=7", "whole number, 1 to 4"),
        ("frames=-1", "whole number, 0 to 1024"),
        ("resize=axb", "is no shape"),
        ("size=100000x1", "is too large"),
        ("mean=1e99", "no number for each channel"),
        ("mean='x'", "no number for each channel"),
        ("frame=first", "no number of a frame"),
    ],
)
def test_a_wrong_step_says_what_to_write(options: str, word: str) -> None:
    assert word in sentence(f"demo:digit?{options}")


@pytest.mark.parametrize("options", [{"size": "3x"}, {"mean": [1, 2]}, {"colour": 1}, {"std": [0, 1, 1]}])
def test_a_saved_recipe_that_is_none_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(HookViewerError):
        from_options(options)


def test_a_recipe_says_its_steps_in_words() -> None:
    usual = Preprocess(height=224, width=224, short_side=256, **IMAGENET)
    assert in_words(usual) == (
        "Short side scaled to 256, then the middle 224 × 224 cut out.",
        "Values from 0 to 1, then minus 0.485, 0.456, 0.406, divided by 0.229, 0.224, 0.225.",
    )
    other = Preprocess(fit="pad", height=64, width=32, grey=True, order="bgr", value_range="-1..1", frames=8)
    assert in_words(other) == (
        "Gray.",
        "Scaled to fit into 32 × 64, black around it.",
        "Channels: blue, green, red.",
        "Values from −1 to 1.",
        "A clip of 8 frames.",
    )


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("size", [(1, 1), (1, 500), (500, 1), (3, 2)])
def test_pictures_of_awkward_sizes_get_the_size_asked_for(fit: str, size: tuple[int, int]) -> None:
    recipe = Preprocess(height=16, width=16, fit=fit)
    assert tensor(recipe, Image.new("RGB", size)).shape == (1, 3, 16, 16)
    assert min(tensor(Preprocess(short_side=4), Image.new("RGB", size)).shape[2:]) >= 1
