"""Pictures read back pixel by pixel, and folders of them with a manifest."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest
import torch
from PIL import Image

from hookviewer import arrays, formats, render
from hookviewer.errors import HookViewerError
from hookviewer.formats import Caption, Entry, Figure, fonts
from hookviewer.formats.figure import _Page, drawn
from hookviewer.formats.lettering import broken, number
from hookviewer.formats.png import picture
from hookviewer.kinds import Key, Kind
from hookviewer.recording import Record


def entry(
    tensor: torch.Tensor, path: str = "features.2", *, colormap: str = "magma", levels=(-1.0, 1.0), **more
) -> Entry:
    record = Record(Key(path, Kind.OUTPUT), tuple(tensor.shape), tensor.dtype, kept=tensor)
    caption = Caption.of(
        record, model="MobileNetV2", input="chelsea", target="Egyptian cat", scale="one scale for the layer"
    )
    return Entry(record, caption, levels, colormap, **more)


MAPS = torch.randn(1, 6, 9, 11, generator=torch.Generator().manual_seed(1))


def written(one: Entry, figure: Figure | None, folder) -> Image.Image:
    path = folder / "picture.png"
    formats.record_formats()["png"].write(one, path, figure)
    with Image.open(path) as image:
        image.load()
        return image


@pytest.mark.parametrize("colormap", render.COLORMAPS)
def test_a_plain_picture_has_the_colours_of_every_value(colormap, tmp_path):
    image = written(entry(MAPS, colormap=colormap), None, tmp_path)
    assert image.mode == "P"
    pixels = np.asarray(image.convert("RGB"))
    columns = render.wall_columns(6, 9, 11)
    for channel in range(6):
        top, left = channel // columns * 11, channel % columns * 13
        expected = render.to_rgba(MAPS[0, channel].numpy(), (-1, 1), colormap)[..., :3]
        np.testing.assert_array_equal(pixels[top : top + 9, left : left + 11], expected)
    assert pixels[9, 0].tolist() == render.colour_table(colormap)[render.zero_index(colormap), :3].tolist()


def test_nan_keeps_its_colour_in_a_plain_picture(tmp_path):
    holed = MAPS.clone()
    holed[0, 0, 2, 3] = torch.nan
    pixels = np.asarray(written(entry(holed), None, tmp_path).convert("RGB"))
    assert pixels[2, 3].tolist() == list(render.NAN)
    assert pixels[2, 4].tolist() == render.to_rgba(MAPS[0, 0, 2, 4].numpy(), (-1, 1), "magma")[:3].tolist()


def test_one_channel_is_a_picture_of_its_own():
    image = picture(entry(MAPS, channel=4))
    assert image.size == (11, 9)
    np.testing.assert_array_equal(np.asarray(image), render.to_index(MAPS[0, 4].numpy(), (-1, 1)))


def test_the_picture_says_what_it_is(tmp_path):
    image = written(entry(MAPS, path="a\n<b>"), None, tmp_path)
    assert json.loads(image.text["Description"])["path"] == "a\n<b>"
    assert "MobileNetV2" in image.text["Title"]


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("page", ["white", "dark", "clear"])
def test_a_figure_shows_every_cell_on_its_page(page, size):
    one = entry(MAPS)
    pixels = np.asarray(drawn(one, Figure(page=page, size=size)).convert("RGBA"))
    ground = {"white": (255, 255, 255, 255), "dark": (0x17, 0x19, 0x1D, 255), "clear": (255, 255, 255, 0)}[
        page
    ]
    assert tuple(pixels[0, 0]) == tuple(pixels[-1, -1]) == ground
    assert pixels.shape[1] >= 408 * size
    first = render.to_rgba(MAPS[0, 0].numpy(), (-1, 1), "magma")
    left, top = 32 * size, 28 * size
    run = pixels[top, left:]
    times = int(np.argmax((run != first[0, 0]).any(axis=1)))
    assert times > size
    cells = pixels[top : top + 9 * times, left : left + 11 * times]
    np.testing.assert_array_equal(cells, first.repeat(times, 0).repeat(times, 1))


def test_caption_colour_bar_and_numbers_can_be_left_out():
    one = entry(MAPS)
    bare = drawn(one, Figure(caption=False, colour_bar=False))
    assert bare.height < drawn(one, Figure(caption=False)).height
    assert bare.tobytes() != drawn(one, Figure(caption=False, colour_bar=False, numbers=True)).tobytes()


def test_the_colour_bar_shows_the_whole_map():
    pixels = np.asarray(drawn(entry(MAPS, colormap="viridis"), Figure(size=4)))
    found = {tuple(colour) for colour in pixels.reshape(-1, 3).tolist()}
    assert {tuple(colour) for colour in render.colour_table("viridis")[:, :3].tolist()} <= found


@pytest.mark.parametrize(
    "shape", [(), (7,), (1, 1000), (2, 3, 4), (1, 2, 3, 4, 5), (2, 1, 2, 1, 2, 3), (1, 512, 1, 1)]
)
@pytest.mark.parametrize("figure", [None, Figure(size=1), Figure(numbers=True, page="clear")])
def test_every_shape_can_be_exported(shape, figure, tmp_path):
    assert written(entry(torch.randn(shape)), figure, tmp_path).size > (0, 0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int64, torch.bool, torch.complex64, torch.float16])
def test_every_dtype_can_be_drawn(dtype):
    tensor = (MAPS * 3).to(dtype)
    expected = arrays.as_maps(entry(tensor).record.array()).values[0]
    np.testing.assert_array_equal(
        np.asarray(picture(entry(tensor, channel=0))), render.to_index(expected, (-1, 1))
    )


def test_a_caption_names_everything_once():
    assert entry(MAPS).caption.lines() == (
        "MobileNetV2, features.2",
        "output, call 1 of 1, 1×6×9×11 float32",
        "input chelsea, target Egyptian cat, one scale for the layer",
    )
    assert Caption().lines() == ()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (-1.0971, "−1.097"),
        (123.456, "123.5"),
        (-3.14e-5, "−3.1e−5"),
        (2.5e6, "2.5e6"),
        (float("nan"), "NaN"),
        (0.0021347, "0.002135"),
        (-0.0123456, "−0.01235"),
    ],
)
def test_numbers_have_four_digits_and_a_true_minus(value, words):
    assert number(value) == words


def test_signs_that_the_last_font_lacks_are_spelled_otherwise(monkeypatch):
    monkeypatch.setattr(fonts, "FILES", dict.fromkeys(fonts.FILES, ()))
    fonts.font.cache_clear()
    try:
        face = fonts.font("text", 11)
        assert fonts.spelled("−1.5, 3×4", face) == "-1.5, 3x4"
        assert drawn(entry(MAPS), Figure(numbers=True)).size > (0, 0)
    finally:
        fonts.font.cache_clear()


class Fixed:
    """A font in which every letter is one pixel wide."""

    def getlength(self, words: str) -> float:
        return len(words)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("one two three", ["one two", "three"]),
        ("abcdefghijklmnop", ["abcdefgh", "ijklmnop"]),
        ("ab abcdefghijk", ["ab", "abcdefgh", "ijk"]),
        ("short", ["short"]),
        ("", []),
    ],
)
def test_long_lines_are_broken_never_cut(line, parts):
    assert broken(line, Fixed(), 8) == parts


def test_a_page_that_does_not_exist_is_refused():
    with pytest.raises(HookViewerError, match="white, dark, clear"):
        Figure(page="pink")


def several() -> list[Entry]:
    return [
        entry(MAPS * (i + 1), path=name) for i, name in enumerate(["../../x", "a/b", "a:b", "CON", "x" * 300])
    ]


def test_an_export_writes_every_file_and_a_manifest_that_says_what_it_is(tmp_path):
    seen: list[str] = []
    manifest = formats.export(several(), tmp_path / "new" / "folder", on_file=seen.append)
    names = {path.name for path in manifest.folder.iterdir()}
    assert names == {*manifest.files, "manifest.json"}
    assert len(manifest.files) == 10
    assert seen == list(manifest.files)
    document = json.loads(manifest.path.read_text())
    assert [what["path"] for what in document["files"].values()][::2] == [
        "../../x",
        "a/b",
        "a:b",
        "CON",
        "x" * 300,
    ]
    assert not document["cancelled"]
    for index, name in enumerate(name for name in manifest.files if name.endswith(".npz")):
        with np.load(manifest.folder / name, allow_pickle=False) as file:
            np.testing.assert_array_equal(file["values"], MAPS.numpy() * (index + 1))
            assert json.loads(file["identity.json"]) == document["files"][name]


def test_the_plan_names_what_the_export_writes(tmp_path):
    figure = Figure(size=1)
    plan = formats.planned(several(), tmp_path, figure=figure)
    assert plan.existing == ()
    assert list(tmp_path.iterdir()) == []
    manifest = formats.export(several(), tmp_path, figure=figure)
    assert plan.names == (*manifest.files, "manifest.json")
    written = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert written / 3 < plan.bytes < written * 3
    assert formats.planned(several(), tmp_path).existing == tuple(manifest.files)


def test_nothing_is_overwritten_without_a_yes(tmp_path):
    first = formats.export(several()[:2], tmp_path, formats=("png",))
    before = {name: (tmp_path / name).read_bytes() for name in first.files}
    with pytest.raises(HookViewerError, match="and 1 more exist already"):
        formats.export(
            [entry(MAPS * 0, path=one.record.key.path) for one in several()], tmp_path, formats=("png",)
        )
    assert {path.name for path in tmp_path.iterdir()} == {*before, "manifest.json"}
    assert before == {name: (tmp_path / name).read_bytes() for name in before}
    formats.export([entry(MAPS * 0, path="../../x")], tmp_path, formats=("png",), overwrite=True)
    assert (tmp_path / next(iter(before))).read_bytes() != before[next(iter(before))]


def test_a_second_export_into_the_folder_keeps_the_first_in_the_manifest(tmp_path):
    first = formats.export(several()[:1], tmp_path, formats=("png",))
    second = formats.export([entry(MAPS, path="other")], tmp_path, formats=("npz",))
    assert set(json.loads(second.path.read_text())["files"]) == {*first.files, *second.files}


def test_a_manifest_of_another_program_is_left_alone(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(HookViewerError, match="another program"):
        formats.export(several(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_cancelling_leaves_whole_files_and_a_manifest_of_them(tmp_path):
    seen: list[str] = []
    manifest = formats.export(several(), tmp_path, on_file=seen.append, cancelled=lambda: len(seen) >= 2)
    assert manifest.cancelled
    assert 2 <= len(manifest.files) < 10
    assert {path.name for path in tmp_path.iterdir()} == {*manifest.files, "manifest.json"}
    assert json.loads(manifest.path.read_text())["cancelled"]
    for name in manifest.files:
        if name.endswith(".png"):
            with Image.open(tmp_path / name) as image:
                image.load()


def test_what_has_no_values_is_left_out_with_its_reason(tmp_path):
    lost = Record(Key("lost", Kind.OUTPUT), (3,), torch.float32, missing="Over the budget of 2 GB.")
    entries = [
        Entry(lost, Caption.of(lost), (0, 1), "magma"),
        entry(torch.zeros(0, 3), path="empty"),
        entry(MAPS),
    ]
    manifest = formats.export(entries, tmp_path)
    assert len(manifest.files) == 3
    assert sorted(manifest.left_out.values())[:2] == ["Over the budget of 2 GB."] * 2
    assert any("export it as npz" in why for why in manifest.left_out.values())
    assert formats.planned(entries, tmp_path).bytes > 0


def test_a_file_that_cannot_be_written_ends_with_a_sentence_and_a_list_of_the_others(tmp_path, monkeypatch):
    png = type(formats.record_formats()["png"])
    write, lock, count = png.write, threading.Lock(), [0]

    def full_disk(self, one, path, figure):
        with lock:
            count[0] += 1
            if count[0] == 3:
                raise OSError(28, "No space left on device")
        write(self, one, path, figure)

    monkeypatch.setattr(png, "write", full_disk)
    with pytest.raises(HookViewerError, match="No space left on device"):
        formats.export(several(), tmp_path, formats=("png",))
    listed = json.loads((tmp_path / "manifest.json").read_text())["files"]
    assert {path.name for path in tmp_path.iterdir()} == {*listed, "manifest.json"}
    assert 2 <= len(listed) < 5


def test_an_unknown_format_names_those_there_are(tmp_path):
    with pytest.raises(HookViewerError, match="npz, png"):
        formats.export(several(), tmp_path, formats=("gif",))


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HookViewerError, match="cannot be made a folder"):
        formats.export(several(), tmp_path / "file")


def test_what_is_no_number_is_counted_beside_the_caption_and_never_over_it():
    holed = MAPS.clone()
    holed[0, 0], holed[0, 1, 0], holed[0, 2, 1] = torch.nan, torch.inf, -torch.inf
    one = entry(holed)
    whole, bare = (np.asarray(drawn(one, Figure(caption=words))) for words in (True, False))
    left = 64 + 2 * 180  # what is right of the bar: only the caption
    below = whole.shape[0] - np.flatnonzero((whole != 255).any(axis=(1, 2)))[-1]
    assert below >= 50
    under = bare[-140:, left + 20 :]
    assert (under == 255).all()


def test_a_number_and_its_percent_stay_together():
    face = fonts.font("text", 11)
    line = "one scale for the layer, 0 to 99.5 %"
    for width in range(int(face.getlength("99.5 %")) + 1, int(face.getlength(line)), 3):
        parts = broken(line, face, width)
        assert " ".join(parts) == line
        assert not any(part.startswith("%") for part in parts)


def test_the_scale_of_integers_is_written_as_integers():
    labels = (MAPS * 9).to(torch.int32)
    with_point, without = entry(labels, levels=(-20.5, 40.0)), entry(labels, levels=(-20.0, 40.0))
    assert _Page(without, Figure())._ends == ("−20", "40")
    assert _Page(with_point, Figure())._ends == ("−20.500", "40")
