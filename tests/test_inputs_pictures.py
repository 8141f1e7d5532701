"""Pictures as people bring them: every depth and colour, turned, transparent, moving, pasted, in folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from brought import animation, chunk, png_of_16_bits, sentence
from PIL import Image
from torch import nn

import hookviewer as hv
from hookviewer import inputs
from hookviewer.inputs import Preprocess, picture
from hookviewer.inputs.pixels import board, picture_of
from hookviewer.sources.cards import ModelCard, remember

PLAIN = Preprocess()


def model_for(preprocess: Preprocess) -> nn.Module:
    model = nn.Conv2d(preprocess.channels, 1, 1)
    remember(model, ModelCard(preprocess=preprocess))
    return model


def opened(path: object, preprocess: Preprocess = PLAIN) -> inputs.Input:
    return hv.open_input(path, model_for(preprocess))


def random_16_bit(channels: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 65536, (5, 7, channels)).astype(np.uint16)


# ------------------------------------------------------------------ more than 8 bits


@pytest.mark.parametrize("channels", [1, 3])
def test_16_bits_of_a_png_reach_the_network_all(tmp_path: Path, channels: int) -> None:
    pixels = random_16_bit(channels)
    (tmp_path / "deep.png").write_bytes(png_of_16_bits(pixels))
    given = opened(tmp_path / "deep.png")
    expected = np.broadcast_to(pixels.astype(np.float64) / 65535, (5, 7, 3)).transpose(2, 0, 1)
    np.testing.assert_allclose(given.args[0][0].numpy(), expected, atol=1e-7)
    assert any("65,535, and all their bits kept" in note for note in given.notes)
    assert given.image is not None
    shown = np.asarray(given.image, dtype=np.float64).reshape(5, 7, channels)
    assert np.abs(shown - pixels / 257.0).max() <= 0.5


def test_16_bits_behind_transparency_are_mixed_with_the_background(tmp_path: Path) -> None:
    pixels = random_16_bit(4)
    (tmp_path / "deep.png").write_bytes(png_of_16_bits(pixels))
    given = opened(f"{tmp_path / 'deep.png'}?background=black")
    colours = pixels[:, :, :3] / 65535 * (pixels[:, :, 3:] / 65535)
    np.testing.assert_allclose(given.args[0][0].numpy(), colours.transpose(2, 0, 1), atol=1e-6)


def test_a_turned_picture_of_16_bits_is_turned_with_all_its_bits(tmp_path: Path) -> None:
    pixels = random_16_bit(3)
    exif = Image.Exif()
    exif[0x0112] = 6
    whole = png_of_16_bits(pixels)
    extra = chunk(b"eXIf", exif.tobytes().removeprefix(b"Exif\x00\x00"))
    (tmp_path / "turned.png").write_bytes(whole[:33] + extra + whole[33:])
    given = opened(tmp_path / "turned.png")
    expected = np.rot90(pixels, -1).transpose(2, 0, 1) / 65535
    np.testing.assert_allclose(given.args[0][0].numpy(), expected, atol=1e-7)
    assert "It was turned as its camera says (EXIF)." in given.notes


def test_a_dark_picture_of_16_bits_is_not_taken_for_one_of_8(tmp_path: Path) -> None:
    (tmp_path / "dark.png").write_bytes(png_of_16_bits(np.full((2, 2, 1), 200, dtype=np.uint16)))
    assert opened(tmp_path / "dark.png").args[0].max().item() == pytest.approx(200 / 65535)


@pytest.mark.parametrize(("largest", "divisor"), [(0.5, 1), (200, 255), (60000, 65535), (1e6, 1e6)])
def test_floating_point_pictures_say_what_their_values_were_divided_by(
    tmp_path: Path, largest: float, divisor: float
) -> None:
    values = np.linspace(0, largest, 6, dtype=np.float32).reshape(2, 3)
    Image.fromarray(values).save(tmp_path / "float.tiff")
    given = opened(tmp_path / "float.tiff")
    np.testing.assert_allclose(given.args[0][0, 0].numpy(), values / divisor, rtol=1e-6)
    assert any(f"{divisor:,.0f}" in note or "as they are" in note for note in given.notes)


def test_values_that_no_picture_has_are_told() -> None:
    image = Image.fromarray(np.array([[-1.0, np.nan, 0.5]], dtype=np.float32))
    given = opened(image)
    assert given.args[0][0, 0].tolist() == [[0.0, 0.0, 0.5]]
    assert any("Warning: values below 0, NaN" in note for note in given.notes)


def test_a_scaled_picture_of_16_bits_is_scaled_in_16_bits() -> None:
    ramp = np.linspace(1000, 1200, 64).round().astype(np.uint16).reshape(1, 64).repeat(64, 0)
    given = opened(Image.fromarray(ramp), Preprocess(height=16, width=16))
    assert len(given.args[0].unique()) >= 16  # with 8 bits there would be one value, or two


# ------------------------------------------------------------------ colours


@pytest.mark.parametrize(("background", "value"), [("white", 255), ("black", 0)])
def test_transparent_places_show_the_chosen_background(tmp_path: Path, background: str, value: int) -> None:
    image = Image.new("RGBA", (2, 1), (10, 20, 30, 255))
    image.putpixel((1, 0), (10, 20, 30, 0))
    image.save(tmp_path / "clear.png")
    given = opened(f"{tmp_path / 'clear.png'}?background={background}")
    assert np.asarray(given.image).tolist() == [[[10, 20, 30], [value] * 3]]
    assert f"Its transparent places lie over {background}." in given.notes


def test_the_checker_board_has_squares_of_8() -> None:
    image = Image.new("RGBA", (20, 20), (0, 0, 0, 0))
    shown = np.asarray(opened(image, Preprocess(background="checker")).image)
    assert np.array_equal(shown[:, :, 0], board(20, 20, "checker"))
    assert shown[0, 0].tolist() == shown[7, 7].tolist() == shown[8, 8].tolist() == [204] * 3
    assert shown[0, 8].tolist() == shown[8, 0].tolist() == [153] * 3


@pytest.mark.parametrize("background", ["white", "black", "checker"])
def test_a_tall_picture_lies_over_its_background_everywhere(background: str) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (600, 21, 4), dtype=np.uint8)
    shown = np.asarray(opened(Image.fromarray(pixels), Preprocess(background=background)).image)
    share = pixels[:, :, 3:] / 255.0
    expected = pixels[:, :, :3] * share + board(600, 21, background)[:, :, None] * (1 - share)
    assert np.abs(shown - expected).max() <= 1


def test_a_very_large_picture_of_16_bits_is_cut_to_8_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from hookviewer.inputs import pixels

    monkeypatch.setattr(pixels, "DEEPEST", 10)
    values = np.array([[0, 255, 256, 65535]] * 3, dtype=np.uint16)
    cut = picture_of(Image.fromarray(values))
    assert np.asarray(cut.image).tolist() == [[0, 0, 1, 255]] * 3
    assert (cut.deep, cut.notes) == (None, (pixels.CUT,))
    with pytest.raises(hv.HookViewerError, match="scale it down first"):
        picture_of(Image.fromarray(values.astype(np.float32)))


def test_an_opaque_picture_with_transparency_says_nothing_of_a_background(tmp_path: Path) -> None:
    Image.new("RGBA", (2, 2), (1, 2, 3, 255)).save(tmp_path / "opaque.png")
    given = opened(tmp_path / "opaque.png")
    assert not any("transparent" in note for note in given.notes)


def test_a_palette_with_one_transparent_colour_is_resolved(tmp_path: Path) -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putdata([0, 1])
    image.save(tmp_path / "palette.gif", transparency=1)
    assert np.asarray(opened(tmp_path / "palette.gif").image).tolist() == [[[255, 0, 0], [255, 255, 255]]]


def test_inks_become_colours_and_that_is_said(tmp_path: Path) -> None:
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(tmp_path / "inks.jpg", quality=100)
    given = opened(tmp_path / "inks.jpg")
    assert np.asarray(given.image)[0, 0].tolist() == pytest.approx([255, 0, 0], abs=4)
    assert any("CMYK" in note for note in given.notes)


def test_a_gray_picture_has_three_equal_channels_of_itself() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (30, 40), dtype=np.uint8)
    given = opened(Image.fromarray(pixels), Preprocess(height=8, width=8))
    as_colour = opened(Image.fromarray(pixels).convert("RGB"), Preprocess(height=8, width=8))
    assert torch.equal(given.args[0], as_colour.args[0])


# ------------------------------------------------------------------ frames and pages


@pytest.mark.parametrize("ending", ["gif", "webp", "tiff", "png"])
def test_every_frame_can_be_chosen_and_is_counted(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"film.{ending}"
    animation(path)
    for number in range(4):
        given = opened(f"{path}?frame={number}")
        assert (given.frame, given.frames) == (number, 4)
        assert np.asarray(given.image)[0, 0].tolist() == [40 * number + 20] * 3
    assert opened(path).frame == 0
    assert inputs.with_frame(given, 1) == f"{path}?frame=1"
    assert inputs.with_frame(opened(f"{path}?size=4x4&frame=3"), 2) == f"{path}?size=4x4&frame=2"


def test_a_frame_that_is_not_there_is_told(tmp_path: Path) -> None:
    animation(tmp_path / "film.gif")
    Image.new("L", (2, 2)).save(tmp_path / "one.png")
    assert "has 4, counted from 0" in sentence(f"{tmp_path / 'film.gif'}?frame=4")
    assert "one picture only" in sentence(f"{tmp_path / 'one.png'}?frame=1")
    assert "write 0 for the first" in sentence(f"{tmp_path / 'one.png'}?frame=-1")
    assert "one picture only" in sentence("demo:digit?frame=1")


def test_pages_of_different_sizes_are_each_themselves(tmp_path: Path) -> None:
    pages = [Image.new("L", (4, 3), 10), Image.new("L", (6, 5), 20)]
    pages[0].save(tmp_path / "pages.tiff", save_all=True, append_images=pages[1:])
    assert opened(f"{tmp_path / 'pages.tiff'}?frame=1").args[0].shape == (1, 3, 5, 6)


# ------------------------------------------------------------------ pasted pictures


def test_a_pasted_picture_has_a_name_and_can_be_prepared_anew() -> None:
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8))
    given = inputs.picture_input("pasted 1", image, model_for(Preprocess(height=8, width=8)))
    assert (given.name, given.spec) == ("pasted 1", "")
    larger = inputs.again(given, model_for(Preprocess(height=16, width=16)))
    assert (larger.name, larger.args[0].shape) == ("pasted 1", (1, 3, 16, 16))
    expected = opened(image, Preprocess(height=16, width=16))
    assert torch.equal(larger.args[0], expected.args[0])


def test_what_was_opened_from_a_spec_is_prepared_anew_from_it_and_a_tensor_stays() -> None:
    model = model_for(Preprocess(height=8, width=8))
    given = hv.open_input("demo:coffee", model)
    inputs.used(Preprocess(height=16, width=24), model)
    assert inputs.again(given, model).args[0].shape == (1, 3, 16, 24)
    tensor = hv.open_input(torch.ones(2, 3))
    assert inputs.again(tensor, model) is tensor


def test_the_picture_behind_an_input_is_there_for_a_preview(tmp_path: Path) -> None:
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8))
    image.save(tmp_path / "a.png")
    model = model_for(Preprocess(height=8, width=8))
    for spec in (str(tmp_path / "a.png"), image):
        (brought,) = inputs.pictures_of(hv.open_input(spec, model))
        assert np.array_equal(np.asarray(brought.image), np.asarray(image))
    assert inputs.pictures_of(hv.open_input("demo:digit"))[0].image.size == (8, 8)
    assert (
        inputs.pictures_of(hv.open_input("demo:coffee"))[0].image.size
        == picture.read(Path(hv.__file__).parents[1] / "resources/demo/images/coffee.jpg").size
    )
    assert inputs.pictures_of(hv.open_input("ones:1x3")) == ()


def test_an_image_that_is_a_picture_already_is_used_as_it_is() -> None:
    brought = picture_of(Image.new("L", (3, 2), 51))
    torch.testing.assert_close(opened(brought).args[0], torch.full((1, 3, 2, 3), 0.2))


# ------------------------------------------------------------------ folders


def test_a_folder_gives_what_can_be_opened_in_the_order_of_people(tmp_path: Path) -> None:
    for name in ("img10.png", "img2.png", "IMG1.PNG", "b.jpeg", "x.npy", "y.npz", "z²3.gif"):
        (tmp_path / name).write_bytes(b"something")
    for name in ("notes.txt", ".hidden.png", "model.pt", "weights.safetensors", "drawing.eps"):
        (tmp_path / name).write_bytes(b"something")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "inside.png").mkdir()
    (tmp_path / "broken.png").symlink_to(tmp_path / "nowhere")
    names = [Path(one).name for one in inputs.in_folder(tmp_path)]
    assert names == ["b.jpeg", "IMG1.PNG", "img2.png", "img10.png", "x.npy", "y.npz", "z²3.gif"]


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "missing", tmp_path / "file", "a\0b"):
        with pytest.raises(hv.HookViewerError, match="cannot be read as a folder"):
            inputs.in_folder(place)
