"""Inputs: pictures as a network wants them, arrays, generated numbers, and what is said when it fails."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import hookviewer as hv
from hookviewer.inputs import guess
from hookviewer.sources.cards import ModelCard, Preprocess, remember


def known(preprocess: Preprocess) -> nn.Module:
    """Return a model with a card that states `preprocess`."""
    model = nn.Conv2d(preprocess.channels, 1, 1)
    remember(model, ModelCard(preprocess=preprocess))
    return model


def sentence(spec: Any, model: nn.Module | None = None) -> str:
    with pytest.raises(hv.HookViewerError) as caught:
        hv.open_input(spec, model)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def picture(width: int = 7, height: int = 5) -> Image.Image:
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8))


# ------------------------------------------------------------------ pictures


def test_the_demo_network_sees_the_whole_photograph() -> None:
    model = hv.open_model("demo:mobilenet_v2")
    given = hv.open_input("demo:chelsea", model)
    assert given.name == "chelsea"
    assert given.args[0].shape == (1, 3, 320, 480)
    assert given.image is not None
    assert given.image.size == (480, 320)


def test_the_image_is_exactly_what_the_network_saw_before_normalisation() -> None:
    given = hv.open_input("demo:coffee", hv.open_model("demo:mobilenet_v2"))
    pixels = np.asarray(given.image).astype(np.float64) / 255
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    expected = ((pixels - mean) / std).transpose(2, 0, 1)[None]
    np.testing.assert_allclose(given.args[0].numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("photograph", ["chelsea", "hubble_deep_field", "rocket"])
def test_a_torchvision_classifier_gets_what_torchvision_itself_prepares(photograph: str) -> None:
    from torchvision.models import EfficientNet_B0_Weights

    from hookviewer.resources import resource

    model = hv.open_model("torchvision.models:efficientnet_b0")
    given = hv.open_input(f"demo:{photograph}", model)
    with Image.open(resource(f"demo/images/{photograph}.jpg")) as image:
        expected = EfficientNet_B0_Weights.IMAGENET1K_V1.transforms()(image)[None]
    torch.testing.assert_close(given.args[0], expected)
    assert any("guess" in note for note in given.notes)


def test_a_detector_gets_a_list_of_pictures() -> None:
    model = known(Preprocess(batch=False))
    given = hv.open_input(picture(), model)
    assert isinstance(given.args[0], list)
    assert [tensor.shape for tensor in given.args[0]] == [(3, 5, 7)]


def test_transparent_places_become_white(tmp_path: Path) -> None:
    image = Image.new("RGBA", (2, 1), (10, 20, 30, 255))
    image.putpixel((1, 0), (10, 20, 30, 0))
    image.save(tmp_path / "clear.png")
    given = hv.open_input(str(tmp_path / "clear.png"), known(Preprocess()))
    assert np.asarray(given.image).tolist() == [[[10, 20, 30], [255, 255, 255]]]


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "CMYK", "RGBA", "I", "F", "I;16"])
def test_every_kind_of_picture_becomes_three_channels_or_one(tmp_path: Path, mode: str) -> None:
    if mode == "I;16":
        image = Image.fromarray(np.array([[0, 32768, 65535]], dtype=np.uint16))
    else:
        image = Image.new("L", (3, 1))
        image.putdata([0, 128, 255])
        image = image.convert(mode)
    for channels in (1, 3):
        given = hv.open_input(image, known(Preprocess(channels=channels)))
        assert given.args[0].shape == (1, channels, 1, 3)
        assert given.args[0][0, 0, 0, 0] == 0
        assert given.args[0][0, 0, 0, 2] == 1
        if mode != "1":
            assert given.args[0][0, 0, 0, 1].item() == pytest.approx(0.5, abs=0.01)


def test_a_photograph_is_turned_as_its_camera_says(tmp_path: Path) -> None:
    image = picture(7, 5)
    exif = image.getexif()
    exif[0x0112] = 6  # to be turned clockwise by a quarter
    image.save(tmp_path / "turned.png", exif=exif)
    given = hv.open_input(tmp_path / "turned.png", known(Preprocess()))
    assert np.array_equal(np.asarray(given.image), np.rot90(np.asarray(image), -1))


def test_options_change_what_is_known_or_guessed(tmp_path: Path) -> None:
    picture(40, 30).save(tmp_path / "a.png")
    model = known(Preprocess(height=8, width=8, short_side=8, mean=(0.5,) * 3, std=(0.5,) * 3))
    place = str(tmp_path / "a.png")
    assert hv.open_input(f"{place}?size=20x24", model).args[0].shape == (1, 3, 20, 24)
    covered = hv.open_input(f"{place}?size=15x40", model).image
    assert covered is not None
    assert np.array_equal(np.asarray(covered), np.asarray(picture(40, 30).crop((0, 8, 40, 23))))
    assert hv.open_input(f"{place}?short_side=15", model).args[0].shape == (1, 3, 15, 20)
    plain = hv.open_input(f"{place}?normalise=none", model)
    assert plain.args[0].min() >= 0
    assert any(note.startswith("Warning: this network expects normalised input") for note in plain.notes)
    normal = hv.open_input(f"{place}?normalise=none&", model).args[0]
    by_hand = hv.open_input(f"{place}?mean=0.25&std=(0.5,0.5,0.25)", model).args[0]
    expected = (normal - 0.25) / torch.tensor([0.5, 0.5, 0.25]).reshape(3, 1, 1)
    torch.testing.assert_close(by_hand, expected)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("colour=red", "choose one of size"),
        ("size=20x10x3", "has 3 numbers where 2"),
        ("size=axb", "is no shape"),
        ("short_side=0", "no number of pixels"),
        ("normalise=somehow", "imagenet, half or none"),
        ("mean=(1,2)", "one number for each of 3"),
        ("size=20x0", "no pixels at all"),
        ("std=(1,0,1)", "must not be 0"),
    ],
)
def test_a_wrong_option_says_what_to_write(options: str, word: str) -> None:
    assert word in sentence(f"demo:chelsea?{options}", known(Preprocess()))


def test_files_that_are_no_pictures_are_told(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("hello")
    (tmp_path / "empty.jpg").write_bytes(b"")
    picture(64, 64).save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:3000])
    assert "is text, not a picture" in sentence(tmp_path / "text.png")
    assert "is empty" in sentence(tmp_path / "empty.jpg")
    assert "cut off" in sentence(tmp_path / "cut.png")
    assert "There is no file" in sentence("missing.jpg")
    assert "is a folder" in sentence(tmp_path)


@pytest.mark.filterwarnings("ignore")  # the libraries may warn of what they repair
@pytest.mark.parametrize("ending", ["png", "jpg", "gif", "bmp", "tiff", "webp", "npy"])
def test_a_damaged_file_is_read_or_told_and_never_crashes(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"whole.{ending}"
    if ending == "npy":
        np.save(file, np.arange(12.0))
    else:
        picture(30, 20).save(file)
    whole, random = file.read_bytes(), np.random.default_rng(0)
    ends = {"read": 0, "told": 0}
    for _ in range(60):
        damaged = bytearray(whole[: random.integers(8, len(whole))] if random.random() < 0.3 else whole)
        for place in random.integers(0, min(len(damaged), 100), 3):
            damaged[place] = random.integers(256)
        file.write_bytes(damaged)
        try:
            hv.open_input(file, known(Preprocess(height=8, width=8)))
            ends["read"] += 1
        except hv.HookViewerError:
            ends["told"] += 1
    assert ends["told"] > 0


def test_a_picture_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    Image.new("1", (12_000, 12_000)).save(tmp_path / "bomb.png")
    assert "megapixels" in sentence(tmp_path / "bomb.png")


def test_a_question_mark_may_stand_in_a_file_name(tmp_path: Path) -> None:
    picture().save(tmp_path / "what?.png")
    assert hv.open_input(str(tmp_path / "what?.png"), known(Preprocess())).args[0].shape == (1, 3, 5, 7)


def test_a_live_network_of_unknown_training_gets_a_guess_that_says_so() -> None:
    given = hv.open_input("demo:chelsea", nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()))
    assert given.args[0].shape == (1, 3, 224, 224)
    assert "Warning: a network that expects normalised input" in " ".join(given.notes)
    assert hv.open_input("demo:chelsea", nn.Conv2d(1, 4, 3)).args[0].shape == (1, 1, 224, 224)


def test_a_network_that_takes_no_pictures_says_what_it_takes() -> None:
    assert "random:1x5" in sentence("demo:chelsea", nn.Linear(5, 2))


def test_an_unknown_demo_input_names_what_is_near() -> None:
    assert "chelsea" in sentence("demo:chelsey")


# ------------------------------------------------------------------ arrays


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", "i8", "u1", "?", "c8"])
def test_an_array_file_is_given_as_it_is(tmp_path: Path, dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    np.save(tmp_path / "a.npy", array)
    given = hv.open_input(str(tmp_path / "a.npy"))
    assert given.name == "a"
    assert given.args[0].tolist() == array.tolist()
    assert (given.args[0].dtype == torch.float32) == (dtype in ("f4", "f8", ">f4"))


def test_array_files_with_objects_or_a_lying_header_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert "Python objects" in sentence(tmp_path / "objects.npy")
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000)}"
    header += b" " * (117 - len(header)) + b"\n"
    lying = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"\0" * 64
    (tmp_path / "lying.npy").write_bytes(lying)
    assert "no plain array" in sentence(tmp_path / "lying.npy")
    (tmp_path / "text.npy").write_text("hello")
    assert "no plain array" in sentence(tmp_path / "text.npy")


# ------------------------------------------------------------------ generated


def test_random_input_is_that_of_its_seed_and_leaves_the_random_state_alone() -> None:
    torch.manual_seed(7)
    expected = torch.randn(2, 3, 4)
    before = torch.get_rng_state()
    assert torch.equal(hv.open_input("random:2x3x4?seed=7").args[0], expected)
    assert torch.equal(torch.get_rng_state(), before)


def test_constants_ones_and_typed_values() -> None:
    assert hv.open_input("constant:1x2?value=0.5").args[0].tolist() == [[0.5, 0.5]]
    assert hv.open_input("constant:2").args[0].tolist() == [0.0, 0.0]
    assert hv.open_input("ones:scalar").args[0].tolist() == 1.0
    assert hv.open_input("values:[[1, 2], [3, 4]]").args[0].dtype == torch.int64
    assert hv.open_input("values:[1.5]").args[0].tolist() == [1.5]


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("random:1x3xq", "no shape"),
        ("random:100000x100000", "choose a smaller shape"),
        ("random:2?value=3", "random:1x3x224x224?seed=0"),
        ("ones:2?seed=3", "write ones:1x3"),
        ("values:[[1], [2, 3]]", "list of numbers"),
        ("values:hello", "list of numbers"),
        ("demo:ones", "ones:1x3x224x224"),
    ],
)
def test_wrong_numbers_say_what_to_write(spec: str, word: str) -> None:
    assert word in sentence(spec)


def test_demo_ones_have_the_shape_that_a_teaching_model_takes() -> None:
    for name, shape in (("fc_relu_fc", (1, 3)), ("simple_cnn", (1, 3, 32, 32)), ("three_layers", (10,))):
        given = hv.open_input("demo:ones", hv.open_model(f"demo:{name}"))
        assert torch.equal(given.args[0], torch.ones(shape))
        assert given.notes == ()


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (nn.Sequential(nn.BatchNorm2d(5), nn.Conv2d(5, 2, 3)), (1, 5, 224, 224)),
        (nn.Sequential(nn.Flatten(), nn.Linear(12, 2)), (1, 12)),
        (nn.Conv1d(2, 3, 5), (1, 2, 128)),
        (nn.LSTM(6, 7), (1, 16, 6)),
        (nn.Embedding(9, 4), (1, 16)),
    ],
)
def test_a_shape_that_nothing_states_is_guessed_from_the_first_layer(
    model: nn.Module, shape: tuple[int, ...]
) -> None:
    given = guess(model)
    assert given.args[0].shape == shape
    assert "guess" in given.notes[0]
    model(*given.args)


def test_a_guess_for_a_detector_is_a_list_and_for_a_lazy_layer_has_three_channels() -> None:
    detector = known(Preprocess(batch=False))
    assert [tensor.shape for tensor in guess(detector).args[0]] == [(3, 224, 224)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that lazy modules are new
        lazy = nn.Sequential(nn.LazyConv2d(2, 3), nn.Flatten(), nn.LazyLinear(2))
    assert guess(lazy).args[0].shape == (1, 3, 224, 224)
    lazy(*guess(lazy).args)


def test_a_model_that_gives_nothing_to_go_by_says_so() -> None:
    with pytest.raises(hv.HookViewerError, match="random:1x3x224x224"):
        guess(nn.ReLU())
    with pytest.raises(hv.HookViewerError, match="needs 2 inputs"):
        guess(nn.Bilinear(2, 3, 4))


# ------------------------------------------------------------------ values from a script


def test_values_of_a_script_become_inputs() -> None:
    tensor = torch.ones(1, 2)
    assert hv.open_input(tensor).args[0] is tensor
    assert hv.open_input((tensor, 3)).args == (tensor, 3)
    assert hv.open_input({"x": tensor}).kwargs == {"x": tensor}
    given = hv.Input("mine", (tensor,))
    assert hv.open_input(given) is given
    assert hv.open_input(np.ones((2, 3))).args[0].dtype == torch.float32
    shown = hv.open_input(np.zeros((5, 7, 3), dtype=np.uint8), known(Preprocess()))
    assert shown.image is not None
    assert shown.image.size == (7, 5)
    assert "is no input" in sentence(3)


def test_a_model_that_begins_with_an_embedding_gets_whole_numbers_that_it_knows() -> None:
    model = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 2))
    given = hv.open_input("random:2x50?seed=3", model)
    tokens = given.args[0]
    assert tokens.dtype == torch.int64
    assert tokens.shape == (2, 50)
    assert 0 <= int(tokens.min()) <= int(tokens.max()) <= 6
    assert model(tokens).shape == (2, 50, 2)
    assert "embedding" in given.notes[0]
    assert hv.open_input("ones:1x3", model).args[0].tolist() == [[1, 1, 1]]
    assert hv.open_input("random:1x3", nn.Linear(3, 1)).args[0].dtype == torch.float32
